// Package rollout turns the feature gates that need every kubelet of a cluster
// to be new enough on and off, by a minimum kubelet version, and keeps the
// order in which that is safe: the minimum that is enforced is at least what
// any enabled gate needs, at every moment.
//
// Decide says what should be. Next says the one write that may be made now to
// get there. File carries the outcome to the next start of a device.
package rollout

import (
	"cmp"
	"slices"
)

// Standing says what the Kubernetes of a device lets one do with a gate. The
// zero value is Unknown, for which nothing is ever set.
//
// It says nothing about the set of a generation, which is for all devices, also
// while they run different Kubernetes versions: each leaves alone what is not
// Settable in its own, see File.Apply.
type Standing int

// A device sets only what is Settable. Setting a locked gate to the other value
// stops kube-apiserver.
const (
	Unknown Standing = iota
	Settable
	LockedOn
	LockedOff
)

// Guard is a gate that is only safe when every kubelet is at least Requires.
type Guard struct {
	Gate     string
	Requires Version  // at most 8 characters; none: any kubelet whose version can be read
	Standing Standing // in this device's Kubernetes; the zero value is Unknown
}

// Node is what the rollout looks at of a Node object.
type Node struct {
	Name         string
	Kubelet      string // status.nodeInfo.kubeletVersion, as reported
	Acknowledged int64  // generation in the annotation, see ParseGeneration; 0: none, or not readable
	Conflict     int64  // generation of which it has another set, see ParseConflict; 0: none
}

// Reason says in one word why a gate is on or off, or why the status can or
// can't follow. The zero value is invalid.
type Reason string

// Satisfied and Kept are the reasons for on; all others for off.
const (
	Satisfied       Reason = "Satisfied"       // every kubelet is new enough
	Kept            Reason = "Kept"            // was on, and only the nodes speak against it (Next only)
	NoMinimum       Reason = "NoMinimum"       // none is configured
	MinimumTooLow   Reason = "MinimumTooLow"   // the configured minimum is below what the gate requires
	StatusPending   Reason = "StatusPending"   // the configured minimum would do; it is not written back yet
	NoNodes         Reason = "NoNodes"         // no node at all
	KubeletOutdated Reason = "KubeletOutdated" // a kubelet is too old
	KubeletUnknown  Reason = "KubeletUnknown"  // none is too old, but a version can't be read
)

// Verdict is what was decided about one guarded gate.
type Verdict struct {
	Gate     string
	Requires Version
	Reason   Reason
	Nodes    []string // sorted; those too old or unreadable, for KubeletOutdated, KubeletUnknown and Kept
}

// On tells whether the gate is to be on.
func (v Verdict) On() bool { return v.Reason == Satisfied || v.Reason == Kept }

// Decision is what should be, leaving aside what is.
type Decision struct {
	Enabled, Disabled []string  // guarded gates to turn on and off; sorted
	NextStatus        Version   // the minimum to be written back: spec, or status while nodes keep it from rising
	Reason            Reason    // how the nodes stand to spec
	Nodes             []string  // those below spec or unreadable; sorted
	Verdicts          []Verdict // one per guarded gate, sorted by gate
}

// Decide says which guarded gates should be on. A gate is on iff a minimum is
// set, what the gate requires is at most the effective minimum, and every
// kubelet is at least what the gate requires. The effective minimum is the
// lower of spec, which is configured, and status, which is written back; none
// stands for not set. No node at all satisfies nothing, nor does a kubelet
// whose version can't be read. Of a gate that is guarded twice the stricter
// row counts. How a gate stands in the Kubernetes of the device that decides
// does not count: the next one to decide may run another. Decide knows no order:
// a NextStatus below status has to wait until every node has the gates off,
// which is the work of Next.
func Decide(spec, status Version, guarded []Guard, nodes []Node) Decision {
	kubelets := survey(nodes)
	d := Decision{NextStatus: spec, Reason: NoMinimum}
	if !spec.IsZero() {
		d.Reason, d.Nodes = short(kubelets, spec)
	}
	if d.Reason != Satisfied && status.Less(spec) {
		d.NextStatus = status
	}
	for _, g := range strictest(guarded) {
		v := judge(g, spec, status, kubelets)
		d.Verdicts = append(d.Verdicts, v)
		if v.On() {
			d.Enabled = append(d.Enabled, v.Gate)
		} else {
			d.Disabled = append(d.Disabled, v.Gate)
		}
	}
	return d
}

// strictest sorts by gate, and leaves of each its strictest row.
func strictest(guarded []Guard) []Guard {
	guarded = slices.SortedFunc(slices.Values(guarded), func(a, b Guard) int {
		return cmp.Or(cmp.Compare(a.Gate, b.Gate), b.Requires.Compare(a.Requires))
	})
	return slices.CompactFunc(guarded, func(a, b Guard) bool { return a.Gate == b.Gate })
}

// outside names the gates that this device has to leave alone; sorted.
func outside(guarded []Guard) []string {
	var names []string
	for _, g := range strictest(guarded) {
		if g.Standing != Settable {
			names = append(names, g.Gate)
		}
	}
	return names
}

// judge decides about one guarded gate.
func judge(g Guard, spec, status Version, kubelets []kubelet) Verdict {
	v := Verdict{Gate: g.Gate, Requires: g.Requires}
	switch {
	case spec.IsZero():
		v.Reason = NoMinimum
	case spec.Less(g.Requires):
		v.Reason = MinimumTooLow
	case status.IsZero() || status.Less(g.Requires):
		v.Reason = StatusPending
	default:
		v.Reason, v.Nodes = short(kubelets, g.Requires)
	}
	return v
}

// kubelet is a node's name and the version of its kubelet, none if unreadable.
type kubelet struct {
	node    string
	version Version
}

// survey reads the versions of all nodes and sorts by name.
func survey(nodes []Node) []kubelet {
	kubelets := make([]kubelet, len(nodes))
	for i, n := range nodes {
		kubelets[i] = kubelet{n.Name, ParseKubelet(n.Kubelet)}
	}
	slices.SortFunc(kubelets, func(a, b kubelet) int { return cmp.Compare(a.node, b.node) })
	return kubelets
}

// short names the nodes that keep a minimum from being satisfied.
func short(kubelets []kubelet, minimum Version) (Reason, []string) {
	if len(kubelets) == 0 {
		return NoNodes, nil
	}
	reason, names := Satisfied, []string(nil)
	for _, k := range kubelets {
		switch {
		case k.version.IsZero() && reason == Satisfied:
			reason = KubeletUnknown
		case k.version.IsZero():
		case k.version.Less(minimum):
			reason = KubeletOutdated
		default:
			continue
		}
		names = append(names, k.node)
	}
	return reason, names
}
