package rollout

import (
	"maps"
	"slices"
)

// The controllers of the model: two caches that lag, each by itself; a plan
// made from them; and a write that comes later, if at all.

func (w *world) syncState(c *controller) {
	c.state, c.rev, c.synced = w.state(), w.rev, true
	c.live = false // a list from before does not count for this state
}

// syncNodes brings a node cache up to date, or a part of it.
func (w *world) syncNodes(c *controller) {
	if w.chance(70) {
		c.nodes = maps.Clone(w.nodes)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		if w.chance(50) {
			c.nodes[name] = w.nodes[name]
		}
	}
}

func (w *world) observe(c *controller, live bool) Observation {
	o := Observation{Synced: c.synced, Live: live, Spec: c.spec, Guarded: slices.Clone(modelGuards)}
	if c.locked {
		o.Guarded[2].Standing = LockedOn
	}
	if d := w.devices[c.host]; d != nil {
		if f, err := ParseFile(d.disk); err == nil {
			o.Known, o.Enforced = f.Generation, f.Minimum
		}
	}
	nodes := c.nodes
	if live {
		nodes = w.nodes
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		o.Nodes = append(o.Nodes, nodes[name])
	}
	return o
}

// plan asks for the next step. What comes of it is written later, when
// the world has moved on.
func (w *world) plan(c *controller) {
	if c.pending != nil {
		return
	}
	if d := w.device(); d != nil && c.host == "" {
		c.host = d.name
	}
	o := w.observe(c, c.live)
	c.live = false
	next, report := Next(c.state, o)
	w.checkReport(c.state, o, next, report)
	if report.Relist {
		c.live = true
		w.seen["relist"]++
		return
	}
	if !next.Equal(c.state) {
		c.pending = &write{next, c.rev, o, report.Phase}
		w.note("plan %s: %+v", report.Phase, next)
	}
}

// commit makes the write that was planned, if the ConfigMap is still the same.
func (w *world) commit(c *controller) {
	p := c.pending
	if p == nil {
		return
	}
	c.pending = nil
	if w.chance(15) {
		w.seen["write failed"]++
		return
	}
	if p.rev != w.rev {
		w.seen["conflict"]++
		return
	}
	w.write(p)
	if w.chance(15) {
		w.seen["answer lost"]++
		c.pending = p // and tries once more
		return
	}
	c.state, c.rev = p.state, w.rev
}

// write replaces the ConfigMap by a new state.
func (w *world) write(p *write) {
	data, err := p.state.Marshal()
	if err != nil {
		w.fail("%+v: %v", p.state, err)
		return
	}
	w.checkWrite(w.state(), p)
	w.store(data)
	w.enforced, w.floor, w.lost = p.state.Status, max(w.floor, p.state.Floor), false
	w.history = append(w.history, data)
	w.note("written: %+v", p.state)
}
