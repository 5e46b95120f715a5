package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// cluster is a small world without faults: what Next returns is written at
// once, and nodes take what they are told to.
type cluster struct {
	t     *testing.T
	state State
	obs   Observation
	last  Report
}

func newCluster(t *testing.T, versions ...string) *cluster {
	guards := []Guard{{"X", V(1, 31, 0), LockedOn}, {"Y", V(1, 30, 0), Settable}}
	return &cluster{t: t, obs: Observation{Synced: true, Live: true, Device: "leader", Guarded: guards, Nodes: kubelets(versions...)}}
}

// step makes one step and compares where it led.
func (c *cluster) step(phase Phase, want string) {
	c.t.Helper()
	c.state, c.last = Next(c.state, c.obs)
	got := fmt.Sprintf("%d %v/%v on=%v off=%v", c.state.Generation, c.state.Spec, c.state.Status, c.state.Enabled, c.state.Disabled)
	if got != want || c.last.Phase != phase {
		c.t.Fatalf("%s: %s\nwant %s: %s", c.last.Phase, got, phase, want)
	}
}

// same expects a step that changes nothing.
func (c *cluster) same(phase Phase) {
	c.t.Helper()
	before := c.state
	c.state, c.last = Next(c.state, c.obs)
	if !c.state.Equal(before) || c.last.Phase != phase || c.last.Event != (Event{}) {
		c.t.Fatalf("%s: %+v became %+v, want no change in %s", c.last.Phase, before, c.state, phase)
	}
}

// take lets the named nodes take the present generation.
func (c *cluster) take(names ...string) {
	for i := range c.obs.Nodes {
		if slices.Contains(names, c.obs.Nodes[i].Name) {
			c.obs.Nodes[i].Acknowledged = c.state.Generation
		}
	}
}

// condition expects a condition that holds and says something.
func (c *cluster) condition(kind, reason, text string) {
	c.t.Helper()
	for _, got := range c.last.Conditions {
		if got.Type == kind {
			if !got.Status || got.Reason != reason || !strings.Contains(got.Message, text) {
				c.t.Fatalf("%+v, want %s: …%s…", got, reason, text)
			}
			return
		}
	}
	c.t.Fatalf("no condition %s", kind)
}

// quiet expects that the conditions of these types do not hold.
func (c *cluster) quiet(kinds ...string) {
	c.t.Helper()
	for _, got := range c.last.Conditions {
		if got.Status && slices.Contains(kinds, got.Type) {
			c.t.Fatalf("unexpected %+v", got)
		}
	}
}

func TestRaiseLowerRemove(t *testing.T) {
	c := newCluster(t, "1.36.0", "v1.31.4")
	c.same(Settled) // nothing configured: no ConfigMap at all
	c.quiet(Progressing, Degraded)

	c.obs.Spec = V(1, 31, 0)
	c.step(Raise, "1 1.31.0/1.31.0 on=[] off=[X Y]")
	c.step(Raise, "2 1.31.0/1.31.0 on=[X Y] off=[]")
	if c.last.Event.Reason != "NewGeneration" || !strings.Contains(c.last.Event.Message, "generation 2, on: X, Y") {
		t.Error(c.last.Event)
	}
	c.condition(RestartNeeded, "GenerationNotTaken", "generation 2: a, b")
	c.condition(GatesOutside, "UnknownOrLocked", "left alone on leader, whose Kubernetes lacks or locks them: X")
	c.same(Deliver)
	c.condition(Progressing, "Deliver", "0 of 2 nodes have generation 2")
	c.take("a")
	c.same(Deliver)
	c.condition(RestartNeeded, "GenerationNotTaken", "generation 2: b")
	c.take("b")
	c.same(Settled)
	c.quiet(Progressing, Degraded, RestartNeeded, KubeletsOutdated)

	c.obs.Spec = V(1, 30, 0)
	c.step(Lower, "3 1.30.0/1.31.0 on=[Y] off=[X]")
	c.same(Lower)
	c.take("b")
	c.same(Lower)
	c.condition(Progressing, "Lower", "1 of 2 nodes have generation 3")
	c.take("a")
	c.step(Lower, "3 1.30.0/1.30.0 on=[Y] off=[X]")
	if c.last.Event.Reason != "MinimumRelaxed" || c.state.Floor != 3 {
		t.Error(c.last.Event, c.state.Floor)
	}
	c.same(Settled)

	c.obs.Spec = Version{}
	c.step(Lower, "4 none/1.30.0 on=[] off=[X Y]")
	c.same(Lower)
	c.take("a", "b")
	c.step(Lower, "4 none/none on=[] off=[X Y]")
	c.same(Settled)
}

// A set that was there before comes back as a new generation.
func TestRollbackIsNewGeneration(t *testing.T) {
	c := newCluster(t, "1.36.0", "1.36.0")
	c.obs.Spec = V(1, 31, 0)
	c.step(Raise, "1 1.31.0/1.31.0 on=[] off=[X Y]")
	c.step(Raise, "2 1.31.0/1.31.0 on=[X Y] off=[]")
	c.take("a")
	c.obs.Spec = V(1, 30, 0)
	c.step(Lower, "3 1.30.0/1.31.0 on=[Y] off=[X]")
	c.obs.Spec = V(1, 31, 0)
	c.step(Raise, "4 1.31.0/1.31.0 on=[X Y] off=[]")
	c.obs.Spec = V(1, 30, 0)
	c.step(Lower, "5 1.30.0/1.31.0 on=[Y] off=[X]")
	c.take("a")
	c.same(Lower) // b may still start generation 2
}

func TestRaiseWaitsForNodes(t *testing.T) {
	c := newCluster(t, "1.36.0", "1.30.2")
	c.obs.Spec = V(1, 31, 0)
	c.step(Raise, "1 1.31.0/none on=[] off=[X Y]")
	c.same(Raise)
	c.condition(Progressing, "Raise", "waits for newer kubelets: b")
	c.condition(KubeletsOutdated, "OlderThanMinimum", "1.31.0: b")

	c.obs.Spec = V(1, 30, 0) // what all satisfy
	c.step(Raise, "1 1.30.0/1.30.0 on=[] off=[X Y]")
	c.step(Raise, "2 1.30.0/1.30.0 on=[Y] off=[X]")

	c.obs.Spec = V(1, 32, 0) // the higher one is not there yet: Y stays
	c.step(Raise, "2 1.32.0/1.30.0 on=[Y] off=[X]")
	c.obs.Nodes[1].Kubelet = "1.32.0"
	c.step(Raise, "2 1.32.0/1.32.0 on=[Y] off=[X]")
	c.step(Raise, "3 1.32.0/1.32.0 on=[X Y] off=[]")
}

// The ConfigMap is gone, or an older one was put back.
func TestRecovery(t *testing.T) {
	c := newCluster(t, "1.36.0", "1.36.0")
	c.obs.Spec = V(1, 30, 0)
	c.obs.Nodes[1].Acknowledged = 7
	for _, s := range []State{{}, {Generation: 5, Spec: V(1, 30, 0), Status: V(1, 30, 0), Enabled: []string{"Y"}}} {
		c.state = s
		c.step(Rollback, "1007 1.30.0/1.31.0 on=[] off=[X Y]")
		c.condition(Degraded, "StateLost", "generation 7 was taken")
		c.step(Raise, "1008 1.30.0/1.31.0 on=[Y] off=[X]")
		c.same(Lower)
	}
	c.state, c.obs.Known, c.obs.Nodes[1].Acknowledged = State{}, 9, 0
	c.obs.Spec = Version{}
	c.step(Rollback, "1009 none/1.31.0 on=[] off=[X Y]")

	// What was enforced is not relaxed for a node that came since.
	c.obs.Nodes = append(c.obs.Nodes, Node{Name: "old", Kubelet: "v1.34.0"})
	c.state, c.obs.Spec = State{}, V(1, 36, 0)
	c.step(Rollback, "1009 1.36.0/1.36.0 on=[] off=[X Y]")
	c.condition(KubeletsOutdated, "OlderThanMinimum", "1.36.0: old")
	c.step(Raise, "1010 1.36.0/1.36.0 on=[X Y] off=[]")
	c.same(Deliver)
	for _, spec := range []Version{{}, V(1, 31, 0)} {
		c.state, c.obs.Spec, c.obs.Enforced = State{}, spec, V(1, 35, 0)
		c.step(Rollback, "1009 "+spec.String()+"/1.35.0 on=[] off=[X Y]")
	}

	c.state, c.obs.Nodes = State{}, nil
	c.same(Hold)
	c.condition(Degraded, "StateLost", "first node")
	c.obs.Known = MaxGeneration
	c.same(Hold)
	c.condition(Degraded, "StateLost", "no generation can follow")
}

func TestGeneration(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1": 1, "9007199254740991": MaxGeneration,
		"": 0, "-1": 0, "+1": 0, "01": 0, " 1": 0, "1 ": 0, "0x1": 0, "1e3": 0,
		"9007199254740992": 0, "99999999999999999999": 0,
	} {
		if got := ParseGeneration(s); got != want {
			t.Errorf("ParseGeneration(%q) = %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]int64{FormatConflict(7): 7, "conflict-0": 0, "conflict-": 0, "conflict-07": 0, "7": 0, "": 0, "xconflict-7": 0} {
		if got := ParseConflict(s); got != want {
			t.Errorf("ParseConflict(%q) = %d, want %d", s, got, want)
		}
		if got := ParseGeneration(s); got != 0 && s != "7" {
			t.Errorf("%q acknowledges %d", s, got)
		}
	}
	for _, n := range []int64{-5, MaxGeneration + 1} {
		_, r := Next(State{}, Observation{Synced: true, Nodes: []Node{{Acknowledged: n}}})
		if r.Phase != Settled {
			t.Errorf("acknowledgement %d counts: %s", n, r.Phase)
		}
	}
}

// Messages stay short however many nodes there are; the report has them all.
func TestManyNodes(t *testing.T) {
	o := Observation{Synced: true, Live: true, Spec: V(1, 30, 0)}
	for i := range 500 {
		o.Nodes = append(o.Nodes, Node{Name: fmt.Sprintf("node-%03d", i), Kubelet: "1.29.0"})
	}
	_, r := Next(State{}, o)
	if len(r.Outdated) != 500 || len(r.Waiting) != 500 {
		t.Errorf("%d outdated, %d waiting", len(r.Outdated), len(r.Waiting))
	}
	for _, c := range r.Conditions {
		if len(c.Message) > 300 {
			t.Errorf("%s: %d bytes", c.Type, len(c.Message))
		}
	}
}
