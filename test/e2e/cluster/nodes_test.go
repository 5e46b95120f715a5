//go:build e2e

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// keepRestarting restarts MicroShift on the device whenever its file differs
// from what runs, as an administrator does who is told to. It returns how to
// stop that.
func (d *device) keepRestarting(t testing.TB) (stop func()) {
	ended := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
			if d.running == nil {
				continue
			}
			f := d.file()
			runs, err := rollout.ReadStarted(filepath.Join(d.root, rollout.StartedPath))
			if err != nil || f.Generation != runs.Generation || f.Minimum != runs.Minimum {
				d.restart(t)
				d.nudge(t)
			}
		}
	})
	return func() { close(ended); group.Wait() }
}

// file is the rollout file; zero where it can't be used.
func (d *device) file() rollout.File {
	f, err := rollout.ReadFile(d.root + rollout.FilePath)
	if err != nil {
		return rollout.File{}
	}
	return f
}

// nudge is what the restart of the controller along with MicroShift amounts to:
// it looks at its device again. A label of the Node that it does not look at
// would not do.
func (d *device) nudge(t testing.TB) {
	eventually(t, "nudge the controller", func() error {
		m, err := d.client.CoreV1().ConfigMaps("kube-system").Get(background, "microshift-feature-gates", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if m.Annotations == nil {
			m.Annotations = map[string]string{}
		}
		m.Annotations["e2e"] = time.Now().Format(time.RFC3339Nano)
		_, err = d.client.CoreV1().ConfigMaps("kube-system").Update(background, m, metav1.UpdateOptions{})
		return err
	})
}

// conditions returns those of the ConfigMap by type.
func (s *server) conditions() (map[string]metav1.Condition, error) {
	m, err := s.client.CoreV1().ConfigMaps("kube-system").Get(background, "microshift-feature-gates", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var list []metav1.Condition
	if text := m.Data["conditions"]; text != "" {
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, err
		}
	}
	byType := map[string]metav1.Condition{}
	for _, c := range list {
		byType[c.Type] = c
	}
	return byType, nil
}

// condition returns nil if a condition has a status, and a text in its reason
// or message.
func (s *server) condition(kind, status, text string) error {
	all, err := s.conditions()
	if err != nil {
		return err
	}
	if c := all[kind]; string(c.Status) != status || !strings.Contains(c.Reason+" "+c.Message, text) {
		return fmt.Errorf("condition %s is %+v", kind, c)
	}
	return nil
}

// settledConditions waits until the conditions say that all is done.
func (s *server) settledConditions(t testing.TB) {
	t.Helper()
	eventually(t, "conditions of a settled rollout", func() error {
		return errors.Join(s.condition("Progressing", "False", ""), s.condition("RestartNeeded", "False", ""), s.condition("Degraded", "False", ""))
	})
}

// TestNodesThatDoNotFit has nodes that are old from the beginning, that join
// later, and that report nonsense.
func TestNodesThatDoNotFit(t *testing.T) {
	s := newServer(t)
	w := s.watch(t)
	f := newFleet(t, s, w, 4)
	s.addNode(t, "real", "v1.35.4")
	f.join("old", "v1.29.8-20+15d27f9ba1c119")
	d := newDevice(t, s, "real")
	d.restart(t)
	defer d.keepRestarting(t)()
	d.configure(t, "1.30.0", "")
	d.start(t)
	eventually(t, "the old node is named", func() error { return s.condition("KubeletsOutdated", "True", "old") })
	if got := w.state(); len(got.Enabled) > 0 || !got.Status.IsZero() {
		t.Fatalf("raised over an old node: %+v", got)
	}
	s.setKubelet(t, "old", "bogus")
	eventually(t, "the nonsense is reported", func() error { return s.condition("Degraded", "True", "old") })
	if got := w.state(); len(got.Enabled) > 0 || !got.Status.IsZero() {
		t.Fatalf("raised over a node of unknown version: %+v", got)
	}
	s.setKubelet(t, "old", "v1.30.0")
	w.settled("raise once all fit", raised(rollout.V(1, 30, 0)))

	before := len(w.history())
	for name, kubelet := range map[string]string{"latecomer": "v1.29.0", "empty": "", "short": "1.30"} {
		f.join(name, kubelet)
		eventually(t, name+" is reported", func() error {
			return errors.Join(d.logged(name), s.event("Node", name, "KubeletMisfit"))
		})
	}
	w.settled("gates stay on", raised(rollout.V(1, 30, 0)))
	if n := len(w.history()) - before; n > 0 {
		t.Errorf("nodes that do not fit caused %d new states", n)
	}
	f.leave("latecomer")
	s.setKubelet(t, "empty", "v1.36.0")
	s.setKubelet(t, "short", "v1.36.0")
	s.settledConditions(t)
	note("old and unreadable kubelets kept a raise from beginning, flipped no gate later, and were named in condition, Event and log")
}

// TestLostFile has a device whose rollout file is damaged, and one that is gone.
func TestLostFile(t *testing.T) {
	s := newServer(t)
	w := s.watch(t)
	newFleet(t, s, w, 3)
	s.addNode(t, "real", "v1.35.4")
	d := newDevice(t, s, "real")
	d.restart(t)
	defer d.keepRestarting(t)()
	d.configure(t, "1.30.0", "")
	d.start(t)
	w.settled("raise", raised(rollout.V(1, 30, 0)))
	before := d.file()
	for _, text := range []string{"{", ""} {
		d.write(t, rollout.FilePath, text)
		d.restart(t)
		d.nudge(t)
		eventually(t, "the file is back", func() error {
			if got := d.file(); got.Generation != before.Generation || !slices.Equal(got.Enabled, before.Enabled) || got.Minimum != before.Minimum {
				return fmt.Errorf("%+v", got)
			}
			return nil
		})
		w.settled("as before", raised(rollout.V(1, 30, 0)))
	}
}

// event returns nil if there is an Event about an object.
func (s *server) event(kind, name, reason string) error {
	list, err := s.client.CoreV1().Events("").List(background, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, e := range list.Items {
		if e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name && e.Reason == reason {
			return nil
		}
	}
	return fmt.Errorf("no Event %s about %s %s", reason, kind, name)
}
