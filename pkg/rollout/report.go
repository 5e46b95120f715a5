package rollout

import (
	"fmt"
	"slices"
	"strings"
)

// Report tells people and the controller about a step. Its words are the same
// for the same state and observation, so that it can be compared with the last.
// It can't know better than they do: with Relist set, they may be behind, and
// the report of the next call is the one to publish.
type Report struct {
	Phase      Phase
	Relist     bool        // there is something to do: read state, then nodes, from the API server, and call Next again
	Waiting    []string    // nodes without the generation of the returned state; sorted
	Outdated   []string    // nodes below the higher of the configured and the enforced minimum; sorted
	Unreadable []string    // nodes whose kubelet version can't be read; sorted
	Stale      []string    // nodes that were away when the minimum fell, and run an older set; sorted
	TwoSets    []string    // nodes that have another set under a generation than the cluster; sorted
	Verdicts   []Verdict   // one per guarded gate, sorted
	Conditions []Condition // always all of them, in the order of the constants
	Event      Event       // about the write; for when it has succeeded
}

// Condition is one statement about the rollout.
type Condition struct {
	Type    string `json:"type"`
	Status  bool   `json:"status"`
	Reason  string `json:"reason"`  // one CamelCase word
	Message string `json:"message"` // may be empty if Status is false
}

// The types of conditions.
const (
	Progressing      = "Progressing"      // something is to be written or waited for; not an error
	Degraded         = "Degraded"         // someone has to look at it
	KubeletsOutdated = "KubeletsOutdated" // nodes that the minimum leaves out
	RestartNeeded    = "RestartNeeded"    // nodes that have not taken the generation
	GatesOutside     = "GatesOutside"     // guarded gates that the Kubernetes of the device that reports lacks or locks
)

// Event is one thing that was done. The zero value is none.
type Event struct {
	Reason  string // MinimumConfigured, MinimumEnforced, MinimumRelaxed, NewGeneration or Recovered
	Message string
}

// report describes the step from p.s to next. Of an observation that is not
// synced it says nothing about nodes.
func (p *plan) report(next State, phase Phase, relist bool) Report {
	r := Report{Phase: phase, Relist: relist, Verdicts: p.Verdicts, Event: event(p.s, next, phase)}
	if p.o.Synced {
		r.Waiting = p.waiting(next.Generation)
		top := higher(p.o.Spec, next.Status)
		for _, k := range survey(p.o.Nodes) {
			switch {
			case k.version.IsZero():
				r.Unreadable = append(r.Unreadable, k.node)
			case k.version.Less(top):
				r.Outdated = append(r.Outdated, k.node)
			}
		}
		for _, n := range p.o.Nodes {
			if g := acknowledged(n); g > 0 && g < next.Floor {
				r.Stale = append(r.Stale, n.Name)
			}
			if n.Conflict > 0 {
				r.TwoSets = append(r.TwoSets, n.Name)
			}
		}
		slices.Sort(r.Stale)
		slices.Sort(r.TwoSets)
	}
	r.Conditions = []Condition{
		p.progressing(r, next), p.degraded(r),
		named(KubeletsOutdated, "OlderThanMinimum", "kubelet older than "+higher(p.o.Spec, next.Status).String(), r.Outdated),
		named(RestartNeeded, "GenerationNotTaken", fmt.Sprintf("restart MicroShift to take generation %d", next.Generation), r.Waiting),
		named(GatesOutside, "UnknownOrLocked", "left alone on "+p.o.Device+", whose Kubernetes lacks or locks them", outside(p.o.Guarded)),
	}
	return r
}

// progressing tells what is waited for.
func (p *plan) progressing(r Report, next State) Condition {
	c := Condition{Type: Progressing, Status: r.Phase != Settled, Reason: string(r.Phase)}
	switch {
	case !p.o.Synced:
		c.Message = "the nodes can't be listed or the state can't be read; all stays as it is"
	case r.Phase == Rollback:
		c.Message = fmt.Sprintf("generation %d was taken, the state has generation %d: going on with a new one", p.newest(), p.s.Generation)
	case r.Phase == Hold && max(p.newest(), p.s.Generation) > lastGeneration:
		c.Message = fmt.Sprintf("a node or a file claims generation %d; no generation can follow", max(p.newest(), p.s.Generation))
	case r.Phase == Hold:
		c.Message = "waiting for the first node to register"
	case r.Phase == Raise && next.Status.Less(p.o.Spec) && p.Reason == NoNodes:
		c.Message = fmt.Sprintf("minimum %s waits for the first node to register", p.o.Spec)
	case r.Phase == Raise && next.Status.Less(p.o.Spec) && p.Reason != Satisfied:
		c.Message = fmt.Sprintf("minimum %s waits for newer kubelets: %s", p.o.Spec, list(p.Nodes))
	case len(r.Waiting) > 0:
		c.Message = fmt.Sprintf("%d of %d nodes have generation %d", len(p.o.Nodes)-len(r.Waiting), len(p.o.Nodes), next.Generation)
	case r.Phase != Settled:
		c.Message = fmt.Sprintf("minimum %s is configured, %s is enforced", p.o.Spec, next.Status)
	}
	return c
}

// degraded names the worst thing; a set that is on stays on in spite of it.
func (p *plan) degraded(r Report) Condition {
	switch {
	case len(r.TwoSets) > 0:
		return named(Degraded, "TwoSets", "has another set under a generation than the ConfigMap, which someone has edited or which is another cluster's; "+
			"empty the state in the ConfigMap, and a new generation follows", r.TwoSets)
	case len(r.Stale) > 0:
		return named(Degraded, "StaleNodes", "was away when the minimum fell and runs gates that it no longer covers, restart MicroShift", r.Stale)
	case len(r.Unreadable) > 0:
		return named(Degraded, "KubeletVersionUnknown", "kubelet version can't be read, nothing new is enabled", r.Unreadable)
	case r.Phase == Rollback, r.Phase == Hold && p.o.Synced && max(p.newest(), p.s.Generation) > 0:
		return Condition{Degraded, true, "StateLost", p.progressing(r, p.s).Message}
	}
	return named(Degraded, "", "", nil)
}

// named is a condition that holds for the names, and does not for none.
func named(kind, reason, message string, names []string) Condition {
	if len(names) == 0 {
		return Condition{Type: kind, Reason: "AsExpected"}
	}
	return Condition{kind, true, reason, message + ": " + list(names)}
}

// event tells what becomes different from s to next.
func event(s, next State, phase Phase) Event {
	minimum := fmt.Sprintf("minimum kubelet version %s, enforced %s", next.Spec, next.Status)
	set := fmt.Sprintf("generation %d, on: %s, off: %s; ", next.Generation, list(next.Enabled), list(next.Disabled))
	switch {
	case next.Equal(s):
		return Event{}
	case phase == Rollback:
		return Event{"Recovered", set + minimum}
	case next.Generation != s.Generation:
		return Event{"NewGeneration", set + minimum}
	case s.Status.Less(next.Status):
		return Event{"MinimumEnforced", minimum}
	case next.Status.Less(s.Status):
		return Event{"MinimumRelaxed", minimum}
	}
	return Event{"MinimumConfigured", minimum}
}

// maxNames is how many names a message shows; reports have them all.
const maxNames = 10

// list joins names for people.
func list(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > maxNames:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), n-maxNames)
	}
	return strings.Join(names, ", ")
}
