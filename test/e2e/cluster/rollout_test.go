//go:build e2e

package cluster

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/microshift-io/microshift-feature-gates/pkg/controller"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// size is how many Nodes the large cluster has, the real one included.
const size = 500

// guarded is the set that a minimum carries, also where devices lack or lock
// some of it.
var guarded = []string{"ProcMountType", "UserNamespacesPodSecurityStandards", "UserNamespacesSupport"}

// raised is a state with the minimum enforced and the gates on, lowered one
// with neither.
func raised(minimum rollout.Version) func(rollout.State) error {
	return func(s rollout.State) error {
		if s.Spec != minimum || s.Status != minimum || !slices.Equal(s.Enabled, guarded) {
			return errors.New("not raised")
		}
		return nil
	}
}

func lowered(s rollout.State) error {
	if s.Generation == 0 || !s.Spec.IsZero() || !s.Status.IsZero() || len(s.Enabled) > 0 {
		return errors.New("not lowered")
	}
	return nil
}

// off is a state on the way to lowered: the gates are off, and still enforced
// is what nodes need that have not taken that.
func off(s rollout.State) error {
	if !s.Spec.IsZero() || s.Status.IsZero() || len(s.Enabled) > 0 {
		return fmt.Errorf("not off: %+v", s)
	}
	return nil
}

// TestRollout goes through raise, lower, remove and rollback with 500 Nodes of
// mixed versions, one of them registered by a real kubelet.
func TestRollout(t *testing.T) {
	s := newServer(t)
	s.installCRDs(t)
	w := s.watch(t)
	real := startKubelet(t, s)
	f := newFleet(t, s, w, size-1)
	d := newDevice(t, s, real)
	d.restart(t)
	stop := d.keepRestarting(t)
	defer stop()

	begin := time.Now()
	d.configure(t, "1.30.0", "")
	d.start(t)
	w.settled("the first raise", raised(rollout.V(1, 30, 0)))
	d.settledConditions(t)
	d.renewals(t, 6) // for conditions that might still be written
	// Three: the minimum, the gates, and in the end the conditions.
	d.wroteLittle(t, "the first raise", begin, d.server.written(t), 3, f)

	d.reconfigure(t, "1.29.0")
	w.settled("lower to 1.29.0", func(s rollout.State) error {
		if s.Status != rollout.V(1, 29, 0) || len(s.Enabled) > 0 {
			return errors.New("not lowered")
		}
		return nil
	})
	d.settledConditions(t)
	d.renewals(t, 6)
	before := d.server.written(t)
	f.acknowledgements()
	begin = time.Now()
	d.reconfigure(t, "1.30.0")
	w.settled("raise to 1.30.0", raised(rollout.V(1, 30, 0)))
	d.renewals(t, 6)
	d.settledConditions(t)
	d.wroteLittle(t, "a raise", begin, d.server.written(t).since(before), 2, f)

	d.idle(t)
	highest, anonymous := d.running.memory(t)
	note("controller at %d Nodes: %.1f MiB resident at most, %.1f MiB of them its own memory now", size, highest, anonymous)
	if highest >= 60 {
		t.Errorf("the controller took %.1f MiB", highest)
	}

	// With one node that has not restarted, removing waits.
	f.setLate("node-007", true)
	d.reconfigure(t, "")
	eventually(t, "gates off", func() error { return off(w.state()) })
	eventually(t, "condition that names node-007 alone", func() error { return d.condition("RestartNeeded", "True", ": node-007") })
	if err := off(w.state()); err != nil {
		t.Errorf("relaxed although node-007 has the gates on: %v", err)
	}
	f.setLate("node-007", false)
	w.settled("remove", lowered)

	// A rollback is a new generation: an old ConfigMap put back is gone over.
	d.reconfigure(t, "1.30.0")
	w.settled("raise a third time", raised(rollout.V(1, 30, 0)))
	high := w.state().Generation
	old := w.history()[0]
	text, err := old.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	w.Lock()
	w.lost = true
	w.Unlock()
	s.setMap(t, string(text))
	w.settled("recover from an old ConfigMap", func(s rollout.State) error {
		if s.Generation < high+rollout.RecoveryGap {
			return errors.New("not recovered")
		}
		return raised(rollout.V(1, 30, 0))(s)
	})
	note("generations %d to %d; %d put back was gone over", w.history()[0].Generation, w.state().Generation, old.Generation)
	d.kill(syscall.SIGTERM)
}

// wroteLittle holds a raise to two writes of each Node and object, and to so many
// of the ConfigMap.
func (d *device) wroteLittle(t *testing.T, what string, begin time.Time, written writes, configMap int, f *fleet) {
	t.Helper()
	acks, most := f.acknowledgements()
	note("%s over %d Nodes took %s, conditions included; the controller wrote %s; the other devices acknowledged %d times, at most %d per node",
		what, size, time.Since(begin).Round(time.Second), written, acks, most)
	for name, n := range written {
		limit := 2
		switch name {
		case lease, "events": // of which each is an object of its own
			continue
		case "configmaps/microshift-feature-gates":
			limit = configMap
		}
		if n > limit {
			t.Errorf("%s wrote %s %d times", what, name, n)
		}
	}
	if most > 2 {
		t.Errorf("%s wrote a Node %d times", what, most)
	}
}

// lease is what the controller writes when nothing changes.
const lease = "leases.coordination.k8s.io/microshift-feature-gates"

// renewals waits until the controller has renewed its Lease so many times, every
// second here.
func (d *device) renewals(t *testing.T, times int) {
	t.Helper()
	before := d.server.written(t)[lease]
	eventually(t, "renewals of the Lease", func() error {
		if n := d.server.written(t)[lease] - before; n < times {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
}

// idle holds the controller to write nothing but its Lease.
func (d *device) idle(t *testing.T) {
	t.Helper()
	const times = 15
	d.renewals(t, 5) // Events are sent after the fact
	before, counted := d.server.written(t), d.server.counted(t)
	d.renewals(t, times)
	after, recounted := d.server.written(t).since(before), d.server.counted(t).since(counted)
	delete(after, lease)
	delete(recounted, "leases") // of which the API server has its own
	note("idle while it renewed its Lease %d times, every second here and every %s as installed: the controller wrote %d times besides; the API server counted: %s",
		times, controller.RetryPeriod, len(after), recounted)
	if len(after) > 0 {
		t.Errorf("when nothing changes, the controller writes %s", after)
	}
	for _, resource := range []string{"configmaps", "featuregates", "events"} {
		if recounted[resource] > 0 {
			t.Errorf("when nothing changes, %d writes of %s", recounted[resource], resource)
		}
	}
}

// TestRestartsOfAPIServer kills the API server in the middle of raising and
// lowering, when the generation is there and one node has yet to take it.
func TestRestartsOfAPIServer(t *testing.T) {
	s := newServer(t)
	w := s.watch(t)
	f := newFleet(t, s, w, 49)
	s.addNode(t, "real", "v1.35.4")
	d := newDevice(t, s, "real")
	d.restart(t)
	defer d.keepRestarting(t)()
	for _, round := range []struct {
		minimum    string
		begun, end func(rollout.State) error
	}{
		{"1.30.0", raised(rollout.V(1, 30, 0)), raised(rollout.V(1, 30, 0))},
		{"", off, lowered},
		{"1.30.0", raised(rollout.V(1, 30, 0)), raised(rollout.V(1, 30, 0))},
	} {
		f.setLate("node-007", true)
		d.reconfigure(t, round.minimum)
		eventually(t, "the rollout is under way", func() error { return round.begun(w.state()) })
		s.process.end(syscall.SIGKILL)
		s.up(t)
		f.setLate("node-007", false)
		w.settled("after the API server was killed", round.end)
	}
	note("the API server was killed 3 times in mid-rollout, over 50 Nodes; each rollout went on")
}

// TestTwoControllers runs two that both believe to lead, and then two that
// hold elections of which the leader is killed. One of the devices locks gates
// that the other can set, which makes no generation.
func TestTwoControllers(t *testing.T) {
	s := newServer(t)
	w := s.watch(t)
	newFleet(t, s, w, 10)
	var devices []*device
	for _, name := range []string{"one", "two"} {
		s.addNode(t, name, "v1.35.4")
		d := newDevice(t, s, name)
		d.restart(t)
		defer d.keepRestarting(t)()
		devices = append(devices, d)
	}
	s.setKubelet(t, "two", "v1.36.2")
	devices[1].write(t, "var/lib/microshift/version", `{"version":"5.0.0"}`)
	const rounds = 6
	for i := range rounds {
		minimum, want := "1.30.0", raised(rollout.V(1, 30, 0))
		if i%2 == 1 {
			minimum, want = "", lowered
		}
		for _, d := range devices {
			d.kill(syscall.SIGTERM)
			d.configure(t, minimum, "")
		}
		for _, d := range devices {
			d.start(t, "--leader-elect=false")
		}
		w.settled("with two leaders", want)
	}
	if got := w.state().Generation; got > 1+rounds {
		t.Errorf("%d generations for %d changes of the minimum: %+v", got, rounds, w.history())
	}
	note("two controllers without election went %d times through raise and lower: %d states", rounds, len(w.history()))

	for _, d := range devices {
		d.reconfigure(t, "1.30.0")
	}
	w.settled("with an election", raised(rollout.V(1, 30, 0)))
	leader, other := devices[0], devices[1]
	eventually(t, "a leader", func() error {
		if leader.logged("this controller leads") == nil {
			return nil
		}
		leader, other = other, leader
		return errors.New("no leader")
	})
	leader.kill(syscall.SIGKILL)
	begin := time.Now()
	eventually(t, "the other leads", func() error { return other.logged("this controller leads") })
	note("the other controller led %s after the leader was killed, with a lease of 6 s", time.Since(begin).Round(time.Second))
	other.configure(t, "", "")
	other.kill(syscall.SIGTERM)
	other.start(t)
	leader.start(t) // its device must take the generation as well
	eventually(t, "one of the two configurations counts", func() error {
		if s := w.state(); lowered(s) != nil && raised(rollout.V(1, 30, 0))(s) != nil {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
}
