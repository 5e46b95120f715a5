package rollout

import (
	"fmt"
	"maps"
	"slices"
)

// The invariants of the model test, in its own words: what a gate needs and
// what satisfies it is not asked of the code under test.

// fail keeps the first violation.
func (w *world) fail(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

// need is the minimum that a set needs.
func need(enabled []string) Version {
	var v Version
	for _, g := range modelGuards {
		if slices.Contains(enabled, g.Gate) && v.Less(g.Requires) {
			v = g.Requires
		}
	}
	return v
}

// satisfied tells whether all nodes have at least minimum. The versions that
// the model uses are listed; none that can't be read is.
func satisfied(nodes []Node, minimum Version) bool {
	known := map[string]Version{
		"v1.36.2": V(1, 36, 2), "1.33.0": V(1, 33, 0), "v1.33.1+a": V(1, 33, 1), "1.36.0-rc.0": V(1, 36, 0), "1.32.5-ec.1": V(1, 32, 5),
		"1.32.4": V(1, 32, 4), "1.31.0": V(1, 31, 0), "v1.29.8-20+15d27f9ba1c119": V(1, 29, 8),
	}
	for _, n := range nodes {
		if v, ok := known[n.Kubelet]; !ok || v.Less(minimum) {
			return false
		}
	}
	return len(nodes) > 0
}

// one checks that a generation has one set for all time.
func (w *world) one(generation int64, enabled, disabled []string) {
	set := fmt.Sprint(enabled, disabled)
	if old, ok := w.sets[generation]; ok && old != set {
		w.fail("ONE SET: generation %d is %s and %s", generation, old, set)
	}
	w.sets[generation] = set
}

// check is what holds after every event: what is enforced is at least what
// the written set and every set that a node of the cluster runs need, and
// nothing older than what was acknowledged is offered.
func (w *world) check() {
	s := w.state()
	if n := need(s.Enabled); !w.lost && w.enforced.Less(n) {
		w.fail("MINIMUM: generation %d needs %v, %v is enforced", s.Generation, n, w.enforced)
	}
	if !w.lost && s.Generation < w.taken {
		w.fail("OLDER: generation %d is offered, %d was taken", s.Generation, w.taken)
	}
	for name, d := range w.devices {
		n := need(d.served.Enabled)
		if d.served.Minimum.Less(n) {
			w.fail("MINIMUM: %s runs %v with minimum %v", name, d.served.Enabled, d.served.Minimum)
		}
		if w.enforced.Less(n) && !(d.wasAway && d.served.Generation < w.floor) {
			w.fail("MINIMUM: %s runs generation %d, %v, and %v is enforced", name, d.served.Generation, d.served.Enabled, w.enforced)
		}
	}
}

// checkServed is what holds when a device starts.
func (w *world) checkServed(d *device) {
	f := d.served
	if f.Generation == 0 {
		if len(f.Enabled) > 0 {
			w.fail("ONE SET: %s runs %v of no generation", d.name, f.Enabled)
		}
		return
	}
	w.seen["served"]++
	if f.Generation < d.highest {
		w.fail("OLDER: %s runs generation %d after %d", d.name, f.Generation, d.highest)
	}
	d.highest = f.Generation
	w.one(f.Generation, f.Enabled, f.Disabled)
	guards := slices.Clone(modelGuards)
	if d.locked {
		guards[2].Standing = LockedOn
	}
	for _, gate := range f.Apply(guards).Enabled {
		if !slices.Contains(f.Enabled, gate) || gate == "Z" && d.locked {
			w.fail("ONE SET: %s sets %s, the file enables %v", d.name, gate, f.Enabled)
		}
	}
}

// checkWrite is what holds when s becomes p.state.
func (w *world) checkWrite(s State, p *write) {
	next, o := p.state, p.obs
	recovery := p.phase == Rollback
	w.one(next.Generation, next.Enabled, next.Disabled)
	if next.Generation < s.Generation || next.Generation < w.taken {
		w.fail("OLDER: generation %d is written after %d, %d was taken", next.Generation, s.Generation, w.taken)
	}
	if next.Generation > s.Generation && s.Generation > 0 && !recovery && s.sameSet(next.Enabled, next.Disabled) {
		w.fail("PROGRESS: generation %d for nothing", next.Generation)
	}
	if w.lost && !recovery {
		w.fail("OLDER: the lost state was taken for the present one")
	}
	switch {
	case recovery:
		w.seen["recovered"]++
		for _, v := range []Version{s.Status, o.Spec, o.Enforced, need([]string{"X", "Y", "Z"})} {
			if next.Status.Less(v) {
				w.fail("MINIMUM: %v is enforced after a recovery, %v may have been", next.Status, v)
			}
		}
	case s.Status.Less(next.Status):
		w.seen["raised"]++
		if !satisfied(o.Nodes, next.Status) || len(next.Enabled) > len(s.Enabled) {
			w.fail("ORDER: status raised to %v over %+v", next.Status, o.Nodes)
		}
	case next.Status.Less(s.Status):
		w.seen["relaxed"]++
		if fmt.Sprint(s.Enabled, s.Disabled) != fmt.Sprint(next.Enabled, next.Disabled) {
			w.fail("ORDER: set and status fall in one step")
		}
		if len(o.Nodes) == 0 {
			w.fail("ORDER: relaxed to %v with no node to ask", next.Status)
		}
		for _, n := range o.Nodes {
			if n.Acknowledged != s.Generation {
				w.fail("ORDER: relaxed to %v, %s has generation %d", next.Status, n.Name, n.Acknowledged)
			}
		}
	}
	for _, g := range o.Guarded {
		if slices.Contains(next.Enabled, g.Gate) == slices.Contains(next.Disabled, g.Gate) {
			w.fail("ONE SET: %s is on and off, or neither: %+v", g.Gate, next)
		}
		before, after := slices.Contains(s.Enabled, g.Gate), slices.Contains(next.Enabled, g.Gate)
		if after && !before {
			w.seen["enabled"]++
			if s.Status.Less(g.Requires) || o.Spec.Less(g.Requires) || !satisfied(o.Nodes, g.Requires) {
				w.fail("ORDER: %s enabled at status %v, minimum %v, over %+v", g.Gate, s.Status, o.Spec, o.Nodes)
			}
		}
		if before && !after {
			w.seen["disabled"]++
			if !recovery && !o.Spec.Less(g.Requires) {
				w.fail("FLIP: %s disabled at minimum %v, over %+v", g.Gate, o.Spec, o.Nodes)
			}
		}
	}
}

// checkReport is what people must be told.
func (w *world) checkReport(s State, o Observation, next State, r Report) {
	if (!o.Synced || !o.Live) && !next.Equal(s) {
		w.fail("ORDER: a write from a cache: %+v", next)
	}
	if !o.Synced {
		return
	}
	if locked := o.Guarded[2].Standing == LockedOn; locked != r.Conditions[4].Status {
		w.fail("REPORT: Z is locked: %v, and the report is %+v", locked, r.Conditions[4])
	}
	for _, v := range r.Verdicts {
		if v.Reason == Kept {
			w.seen["kept"]++
		}
	}
	for _, n := range o.Nodes {
		if lacks := n.Acknowledged < next.Generation; lacks != slices.Contains(r.Waiting, n.Name) {
			w.fail("REPORT: waiting for %v of %+v in generation %d", r.Waiting, o.Nodes, next.Generation)
		}
		if stale := n.Acknowledged > 0 && n.Acknowledged < next.Floor; stale {
			w.seen["stale node"]++
			if !slices.Contains(r.Stale, n.Name) || !r.Conditions[1].Status {
				w.fail("REPORT: stale node %+v not reported: %+v", n, r)
			}
		}
		if !satisfied([]Node{n}, o.Spec) && !slices.Contains(r.Outdated, n.Name) && !slices.Contains(r.Unreadable, n.Name) {
			w.fail("REPORT: nobody is told about %+v at minimum %v", n, o.Spec)
		}
	}
}

// calm ends all faults and checks progress: within a few rounds everything
// has come to where the decision is, in a few writes, and nothing moves after.
func (w *world) calm() {
	const maxRounds, maxWrites = 8, 5
	if len(w.devices) == 0 {
		w.lost = false
		w.join()
	}
	spec := pick(w, specs)
	for _, c := range w.ctrls {
		c.spec, c.pending = spec, nil // and who locks Z does so
	}
	w.note("calm, minimum %v", spec)
	last := len(w.history)
	for round := 0; w.round(); round++ {
		if w.check(); w.broken != "" {
			return
		}
		if round == maxRounds {
			w.fail("PROGRESS: still moving after %d rounds", round)
		}
	}
	if n := len(w.history) - last; n > maxWrites {
		w.fail("PROGRESS: %d writes after the faults stopped", n)
	}
	w.checkSettled(spec)
}

// round lets everyone do what is to do once, and tells whether anything was.
func (w *world) round() (moved bool) {
	for _, c := range w.ctrls {
		w.syncState(c)
		c.nodes = maps.Clone(w.nodes)
		w.plan(c)
		w.plan(c) // with the live list, if there is something to do
		if p := c.pending; p != nil {
			moved, c.pending = true, nil
			w.write(p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.devices)) {
		d := w.devices[name]
		have, _ := ParseFile(d.disk)
		f, changed, err := have.Advance(w.state(), w.acknowledged(), have.Time)
		if err != nil {
			w.fail("%s: %v", name, err)
		}
		if changed {
			d.disk, _ = f.Marshal()
		}
		if d.served.Generation != f.Generation || d.served.Minimum != f.Minimum {
			w.restart(d)
			moved = true
		}
		if w.nodes[name].Acknowledged != d.served.Generation {
			w.acknowledge(d)
			moved = true
		}
	}
	return moved
}

// checkSettled compares the end with the decision, made here anew.
func (w *world) checkSettled(spec Version) {
	s := w.state()
	nodes := slices.Collect(maps.Values(w.nodes))
	if s.Generation == 0 {
		if !spec.IsZero() {
			w.fail("PROGRESS: minimum %v, and nothing was written", spec)
		}
		return
	}
	if s.Spec != spec || s.Status != spec && (s.Status.Less(spec) == satisfied(nodes, spec)) {
		w.fail("PROGRESS: minimum %v, settled at %v, enforced %v, over %+v", spec, s.Spec, s.Status, nodes)
	}
	for _, g := range modelGuards {
		carried := !spec.Less(g.Requires) && !s.Status.Less(g.Requires)
		on := slices.Contains(s.Enabled, g.Gate)
		if on && !carried || !on && carried && satisfied(nodes, g.Requires) {
			w.fail("PROGRESS: %s on: %v at minimum %v, enforced %v, over %+v", g.Gate, on, spec, s.Status, nodes)
		}
		if on == slices.Contains(s.Disabled, g.Gate) {
			w.fail("PROGRESS: %s is on and off, or neither: %+v", g.Gate, s)
		}
	}
	for name, d := range w.devices {
		if d.served.Generation != s.Generation || d.served.Minimum != s.Status || w.nodes[name].Acknowledged != s.Generation {
			w.fail("PROGRESS: %s runs generation %d, minimum %v, acknowledged %d", name, d.served.Generation, d.served.Minimum, w.nodes[name].Acknowledged)
		}
	}
	w.seen["settled"]++
	if len(s.Enabled) > 0 {
		w.seen["settled with gates on"]++
	}
}
