package rollout

import (
	"slices"
	"strconv"
	"strings"
)

// Annotation is where a node acknowledges, on its Node object: the generation
// that its running MicroShift was started with, as FormatGeneration writes it,
// or as FormatConflict does that it has another set of the cluster's generation.
const Annotation = "microshift.io/feature-gates-generation"

// MaxGeneration is the highest generation, the largest integer that every JSON
// reader keeps exact. Next stops before it (Hold) and never wraps around.
const MaxGeneration = 1<<53 - 1

// lastGeneration is the highest one that Next goes on from.
const lastGeneration = MaxGeneration - RecoveryGap

// RecoveryGap is how far above the highest known generation the rollout goes
// on when its state was lost or put back: devices may hold files of newer
// generations that no Node acknowledged yet, and no generation may have two sets.
const RecoveryGap = 1000

// State is what the cluster agrees on; it is stored in one ConfigMap, which is
// replaced as a whole and only if it has not changed since it was read. The
// zero value stands for no ConfigMap: nothing has been rolled out yet.
//
// Acknowledgements are not in it. They stay on the Nodes, so that a
// generation costs one write per node and none here.
type State struct {
	Generation        int64    // from 1; every change of Enabled or Disabled is a new one
	Spec              Version  // the minimum that is configured
	Status            Version  // the minimum that is enforced, written back
	Enabled, Disabled []string // the set of this generation; sorted
	Floor             int64    // generation that all nodes had when Status last fell; 0: never
}

// Equal tells whether s and t are the same; nil and empty sets are.
func (s State) Equal(t State) bool {
	return s.Generation == t.Generation && s.Spec == t.Spec && s.Status == t.Status && s.Floor == t.Floor && s.sameSet(t.Enabled, t.Disabled)
}

func (s State) sameSet(enabled, disabled []string) bool {
	return slices.Equal(s.Enabled, enabled) && slices.Equal(s.Disabled, disabled)
}

// Observation is what a controller sees when it asks for the next step. The
// zero value sees nothing, and nothing happens on it.
type Observation struct {
	Synced  bool    // the state could be read and the nodes listed
	Live    bool    // Nodes was listed from the API server itself after the state was in hand, not from a cache
	Spec    Version // the configured minimum; where the configuration can't be read, pass State.Spec
	Device  string  // name of this device's Node, for the report; the Standings of Guarded are those in its Kubernetes
	Guarded []Guard
	Nodes   []Node
	Known   int64 // highest generation known from elsewhere, such as this device's file; 0: none
	// Enforced is the highest minimum known from there; it matters only when the
	// state was lost.
	Enforced Version
}

// Phase says where a rollout stands. It is derived each time and never stored,
// so that a crash between two steps leaves nothing to clean up.
type Phase string

// The phases; the zero value is invalid.
const (
	Hold     Phase = "Hold"     // nothing may change: nodes not listed, none at all to start or recover with, or MaxGeneration
	Rollback Phase = "Rollback" // the state is older than a generation known to be taken: go on above it
	Raise    Phase = "Raise"    // the minimum goes up, then gates on; or waiting for nodes to satisfy it
	Lower    Phase = "Lower"    // gates off, every node has taken that, then the minimum goes down
	Deliver  Phase = "Deliver"  // all is decided and written; nodes have yet to take the generation
	Settled  Phase = "Settled"  // nothing to do
)

// Next returns the state that should replace s, and a report. If the two states
// are equal there is nothing to write. Otherwise the one write may be made if
// the ConfigMap is still as it was when s was read; whatever becomes of it
// (done, failed, conflict, answer lost, crash), read again and call Next again.
//
// Only a Live observation leads to a write: on any other Next returns s, with
// Report.Relist set if there is something to do. A cache may lack a node
// that has joined since and taken this generation, which lowering must wait
// for, or an acknowledgement above s, which a new generation must exceed.
//
// A gate that is on stays on while the minimum carries it: a node that joins
// with an old kubelet or reports nonsense is reported and flips nothing.
func Next(s State, o Observation) (State, Report) {
	p := plan{s: s, o: o, Decision: Decide(o.Spec, s.Status, o.Guarded, o.Nodes)}
	p.keep()
	next, phase := p.step()
	relist := !o.Live && !next.Equal(s)
	if relist {
		next = s
	}
	return next, p.report(next, phase, relist)
}

// plan is what one call of Next works with.
type plan struct {
	s State
	o Observation
	Decision
}

// keep leaves gates on that are on, if only the nodes speak against them.
func (p *plan) keep() {
	p.Enabled, p.Disabled = nil, nil
	for i, v := range p.Verdicts {
		if slices.Contains(p.s.Enabled, v.Gate) && (v.Reason == NoNodes || v.Reason == KubeletOutdated || v.Reason == KubeletUnknown) {
			p.Verdicts[i].Reason = Kept
		}
		if p.Verdicts[i].On() {
			p.Enabled = append(p.Enabled, v.Gate)
		} else {
			p.Disabled = append(p.Disabled, v.Gate)
		}
	}
}

// step returns the next state. Its order is the order that keeps Status at
// least as high as what any set that a node may still run needs:
//   - Status rises before a gate can count on it, since Decide looks at the
//     status that has been written;
//   - Status falls last, when nothing else is to change and every node has
//     taken the present generation, hence can never again start an older set.
func (p *plan) step() (State, Phase) {
	s, o := p.s, p.o
	next := s
	next.Spec = o.Spec
	newest := p.newest()
	switch {
	case !o.Synced, max(newest, s.Generation) > lastGeneration:
		return s, Hold
	case newest == 0 && s.Generation == 0 && o.Spec.IsZero():
		return s, Settled
	case max(newest, 1) > s.Generation && len(o.Nodes) == 0:
		return s, Hold
	case newest > s.Generation:
		return p.recovered(newest), Rollback
	case s.Generation == 0:
		next.Generation, next.Enabled, next.Disabled = 1, p.Enabled, p.Disabled
		next.Status = p.NextStatus
		return next, Raise
	case s.Status.Less(p.NextStatus):
		next.Status = p.NextStatus
		return next, Raise
	case !s.sameSet(p.Enabled, p.Disabled):
		next.Generation++
		next.Enabled, next.Disabled = p.Enabled, p.Disabled
		return next, p.direction()
	case o.Spec.Less(s.Status):
		if len(o.Nodes) > 0 && len(p.waiting(s.Generation)) == 0 {
			next.Status, next.Floor = o.Spec, s.Generation
		}
		return next, Lower
	case s.Status.Less(o.Spec):
		return next, Raise
	case len(p.waiting(s.Generation)) > 0:
		return next, Deliver
	}
	return next, Settled
}

// recovered is a state above every known generation. What the lost generations
// held is not known, so that no gate is on until every node has taken the new
// one, and the minimum is at least what any guarded gate needs. Nor is it known
// what was enforced: that must not be relaxed, so that it is also at least what
// is configured and what this device has, whatever the nodes say to it.
func (p *plan) recovered(newest int64) State {
	next := p.s
	next.Generation = newest + RecoveryGap
	next.Spec = p.o.Spec
	next.Enabled = nil
	next.Disabled = slices.Sorted(slices.Values(append(slices.Clone(p.Enabled), p.Disabled...)))
	next.Status = higher(next.Status, higher(p.o.Spec, p.o.Enforced))
	for _, g := range p.o.Guarded {
		next.Status = higher(next.Status, g.Requires)
	}
	return next
}

// direction is the phase of a new set: Raise if it turns a gate on.
func (p *plan) direction() Phase {
	for _, gate := range p.Enabled {
		if !slices.Contains(p.s.Enabled, gate) {
			return Raise
		}
	}
	return Lower
}

// newest returns the highest generation known to exist apart from the state.
func (p *plan) newest() int64 {
	newest := p.o.Known
	for _, n := range p.o.Nodes {
		newest = max(newest, acknowledged(n), n.Conflict)
	}
	return newest
}

// waiting names the nodes that have not taken generation, sorted.
func (p *plan) waiting(generation int64) []string {
	var names []string
	for _, n := range p.o.Nodes {
		if acknowledged(n) < generation {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// acknowledged is n.Acknowledged, or 0 where that can't be a generation.
func acknowledged(n Node) int64 {
	if n.Acknowledged < 0 || n.Acknowledged > MaxGeneration {
		return 0
	}
	return n.Acknowledged
}

// FormatGeneration writes a generation as the annotation has it; 0 says that
// the node runs, and runs no generation.
func FormatGeneration(generation int64) string { return strconv.FormatInt(generation, 10) }

// conflict precedes the generation in what FormatConflict writes.
const conflict = "conflict-"

// FormatConflict writes that the node has another set under a generation than
// the cluster has. To ParseGeneration that acknowledges nothing.
func FormatConflict(generation int64) string { return conflict + FormatGeneration(generation) }

// ParseConflict reads what FormatConflict writes; it returns 0, none, for
// everything else.
func ParseConflict(s string) int64 {
	if generation, ok := strings.CutPrefix(s, conflict); ok {
		return ParseGeneration(generation)
	}
	return 0
}

// ParseGeneration reads the annotation of a Node. It returns 0, nothing
// acknowledged, for what FormatGeneration does not write for 0 to MaxGeneration.
func ParseGeneration(s string) int64 {
	g, err := strconv.ParseInt(s, 10, 64)
	if err != nil || g < 0 || g > MaxGeneration || FormatGeneration(g) != s {
		return 0
	}
	return g
}
