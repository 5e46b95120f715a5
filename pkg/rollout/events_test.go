package rollout

import (
	"slices"
	"testing"
)

// The event table of the design page. Each row is tested here, and on a real API
// server in test/e2e/cluster:
//
//	nodes can't be listed, cache not synced    "not listed", "from a cache"; TestRightsTaken
//	unparsable kubelet version                 "unparsable"; TestNodesThatDoNotFit
//	rollout file missing or corrupt            TestReadFileRefuses, TestApply, TestAdvance, TestRecovery; TestLostFile
//	                                           (a start: rollout_damaged.txtar, flags_openshift_config_damaged.txtar)
//	write fails                                TestModel; TestRightsTaken
//	conflict                                   TestModel; TestSecondWriter
//	API server restarts                        TestModel; TestRestartsOfAPIServer
//	two controllers at once                    TestModel; TestTwoControllers
func TestEvents(t *testing.T) {
	raised := func(t *testing.T) *cluster {
		c := newCluster(t, "1.36.0", "1.36.0")
		c.obs.Spec = V(1, 30, 0)
		c.step(Raise, "1 1.30.0/1.30.0 on=[] off=[X Y]")
		c.step(Raise, "2 1.30.0/1.30.0 on=[Y] off=[X]")
		c.take("a", "b")
		c.same(Settled)
		return c
	}
	t.Run("not listed", func(t *testing.T) {
		c := raised(t)
		c.obs.Synced, c.obs.Nodes = false, nil
		for _, spec := range []Version{{}, V(1, 30, 0), V(1, 36, 0)} {
			c.obs.Spec = spec
			c.same(Hold)
			c.condition(Progressing, "Hold", "can't be listed")
		}
	})
	t.Run("unparsable", func(t *testing.T) {
		c := raised(t)
		c.obs.Nodes[0].Kubelet = "bogus"
		c.same(Settled) // what is on stays on
		c.condition(Degraded, "KubeletVersionUnknown", "a")
		c.obs.Spec = V(1, 31, 0)
		c.step(Raise, "2 1.31.0/1.30.0 on=[Y] off=[X]") // nothing new
		c.same(Raise)
		c.obs.Spec = Version{}
		c.step(Lower, "3 none/1.30.0 on=[] off=[X Y]") // going down is always possible
	})
	t.Run("old node joins", func(t *testing.T) {
		c := raised(t)
		c.obs.Nodes = append(c.obs.Nodes, Node{Name: "old", Kubelet: "v1.29.8-20+15d27f9ba1c119"})
		c.same(Deliver)
		c.condition(KubeletsOutdated, "OlderThanMinimum", "1.30.0: old")
		if v := c.last.Verdicts[1]; v.Reason != Kept || !v.On() || !slices.Equal(v.Nodes, []string{"old"}) {
			t.Errorf("%+v", v)
		}
		c.obs.Spec = V(1, 29, 0)
		c.step(Lower, "3 1.29.0/1.30.0 on=[] off=[X Y]")
		c.take("a", "b")
		c.same(Lower) // every node means every node
	})
	t.Run("all nodes gone", func(t *testing.T) {
		c := raised(t)
		c.obs.Nodes = nil
		c.same(Settled)
		c.obs.Spec = Version{}
		c.step(Lower, "3 none/1.30.0 on=[] off=[X Y]")
		c.same(Lower) // nobody there is not everybody
	})
	t.Run("from a cache", func(t *testing.T) {
		c := raised(t)
		c.obs.Live = false
		c.same(Settled)
		if c.last.Relist {
			t.Error("there is nothing to do")
		}
		c.obs.Spec = Version{}
		c.same(Lower)
		if !c.last.Relist {
			t.Error("a change was neither made nor announced")
		}
	})
	t.Run("before the first node", func(t *testing.T) {
		c := newCluster(t)
		c.obs.Spec = V(1, 30, 0)
		c.same(Hold)
		c.condition(Progressing, "Hold", "first node")
		c.quiet(Degraded)
	})
	t.Run("gate becomes locked", func(t *testing.T) {
		c := raised(t)
		c.obs.Guarded[1].Standing = LockedOn
		c.same(Settled) // there; other devices may still need it
		c.condition(GatesOutside, "UnknownOrLocked", "leader, whose Kubernetes lacks or locks them: X, Y")
	})
	t.Run("leaders of different Kubernetes versions alternate", func(t *testing.T) {
		c := raised(t)
		lead := func(i int) {
			c.obs.Device = []string{"a", "b"}[i%2]
			for g := range c.obs.Guarded {
				c.obs.Guarded[g].Standing = []Standing{Settable, LockedOn, Settable, Unknown, LockedOff}[i%5]
			}
		}
		for i := range 20 {
			lead(i)
			c.same(Settled)
			if i%5 == 1 {
				c.condition(GatesOutside, "UnknownOrLocked", "left alone on "+c.obs.Device)
			} else if i%5 == 2 {
				c.quiet(GatesOutside)
			}
		}
		c.obs.Nodes = append(c.obs.Nodes, Node{Name: "old", Kubelet: "v1.29.8"})
		for i := range 20 {
			lead(i)
			c.same(Deliver) // nothing was turned off, so nothing stays off for a node that came since
		}
		c.obs.Spec = Version{}
		lead(1)
		c.step(Lower, "3 none/1.30.0 on=[] off=[X Y]")
		lead(2)
		c.same(Lower)
	})
	t.Run("a gate needs more than before", func(t *testing.T) {
		c := raised(t)
		c.obs.Guarded[1].Requires = V(1, 33, 0)
		c.step(Lower, "3 1.30.0/1.30.0 on=[] off=[X Y]")
	})
	t.Run("another set under the generation", func(t *testing.T) {
		c := raised(t)
		c.obs.Nodes[1].Acknowledged, c.obs.Nodes[1].Conflict = 0, 2
		c.same(Deliver)
		c.condition(Degraded, "TwoSets", ": b")
		c.obs.Spec = Version{}
		c.step(Lower, "3 none/1.30.0 on=[] off=[X Y]")
		c.take("a")
		c.same(Lower) // nobody knows what b runs
		c.obs.Nodes[1].Conflict = 0
		c.take("b")
		c.step(Lower, "3 none/none on=[] off=[X Y]")
		c.quiet(Degraded)
		c.state, c.obs.Nodes[0].Acknowledged, c.obs.Nodes[1].Acknowledged, c.obs.Nodes[1].Conflict = State{}, 0, 0, 3
		c.step(Rollback, "1003 none/1.31.0 on=[] off=[X Y]") // it tells of a generation all the same
	})
	t.Run("node back from the past", func(t *testing.T) {
		c := raised(t)
		back := c.obs.Nodes[1]
		c.obs.Nodes = c.obs.Nodes[:1]
		c.obs.Spec = Version{}
		c.step(Lower, "3 none/1.30.0 on=[] off=[X Y]")
		c.take("a")
		c.step(Lower, "3 none/none on=[] off=[X Y]")
		c.obs.Nodes = append(c.obs.Nodes, back)
		c.same(Deliver)
		c.condition(Degraded, "StaleNodes", "b")
	})
}
