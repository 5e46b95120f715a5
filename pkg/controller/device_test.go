package controller

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// quietLog discards what is logged.
func quietLog() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// A restart is asked for until that succeeds, and then no more for this file.
func TestRestartIsAskedForOnce(t *testing.T) {
	calls, fails := 0, 2
	restarted := filepath.Join(t.TempDir(), "run", "restarted.json")
	controller := func() *Controller {
		return &Controller{events: record.NewFakeRecorder(9), o: Options{
			Node: "a", Log: quietLog(), Restarted: restarted,
			Restart: func(context.Context) error {
				if calls++; calls <= fails {
					return errors.New("failed to connect to bus")
				}
				return nil
			},
		}}
	}
	c := controller()
	f := rollout.File{Generation: 3, Disabled: []string{"X"}, Minimum: rollout.V(1, 30, 0)}
	for i, want := range []int{1, 2, 3, 3, 3} {
		if i == 4 {
			c = controller() // restarted along with MicroShift
		}
		err := c.needRestart(t.Context(), f, rollout.File{Generation: 2}, false)
		if (err != nil) != (i < fails) || calls != want {
			t.Fatalf("sync %d: asked %d times, want %d; %v", i, calls, want, err)
		}
	}
	f.Generation++
	if err := c.needRestart(t.Context(), f, rollout.File{Generation: 2}, false); err != nil || calls != 4 {
		t.Errorf("another file: asked %d times, %v", calls, err)
	}
}

// What this device knows of the lost minimum, from its file and its start.
func TestObservation(t *testing.T) {
	low, high, bad := rollout.V(1, 30, 0), rollout.V(1, 36, 0), rollout.State{Generation: 2, Spec: rollout.V(1, 29, 0)}
	for _, tt := range []struct {
		name                      string
		file, started, minimum    rollout.Version
		usable                    bool
		state                     rollout.State
		wantEnforced, wantMinimum rollout.Version
	}{
		{"the file has more", high, low, low, true, rollout.State{}, high, low},
		{"the start has more", low, high, rollout.Version{}, true, rollout.State{}, high, rollout.Version{}},
		{"no usable configuration", high, low, low, false, bad, high, bad.Spec},
		{"no usable configuration, no state", high, low, low, false, rollout.State{}, high, high},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c := &Controller{o: Options{File: filepath.Join(dir, "file"), Started: filepath.Join(dir, "started")}}
			if tt.usable {
				c.o.Minimum = &tt.minimum
			}
			if got := c.observation(rollout.State{}); got.Known != 0 || !got.Enforced.IsZero() {
				t.Errorf("without a file: %+v", got)
			}
			for path, f := range map[string]rollout.File{c.o.File: {Generation: 3, Minimum: tt.file}, c.o.Started: {Generation: 2, Minimum: tt.started}} {
				if err := rollout.WriteFile(path, f); err != nil {
					t.Fatal(err)
				}
			}
			if got := c.observation(tt.state); got.Known != 3 || got.Enforced != tt.wantEnforced || got.Spec != tt.wantMinimum {
				t.Errorf("%+v, want enforced %v, minimum %v", got, tt.wantEnforced, tt.wantMinimum)
			}
		})
	}
}

// A device that has or runs another set of the cluster's generation says so on
// its Node, instead of acknowledging it.
func TestTwoSetsAreNotAcknowledged(t *testing.T) {
	state := rollout.State{Generation: 3, Disabled: []string{"X"}}
	same := rollout.File{Generation: 3, Disabled: []string{"X"}}
	other := rollout.File{Generation: 3, Enabled: []string{"X"}, Minimum: rollout.V(1, 30, 0)}
	text, err := state.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		file, started rollout.File
		before, want  string
		restart       bool
	}{
		{"the same", same, same, "", "3", false},
		{"file and start", other, other, "3", "conflict-3", false},
		{"file alone", other, rollout.File{Generation: 2}, "2", "conflict-3", true},
		{"start alone, the file was removed and is back", same, other, "conflict-3", "conflict-3", true},
		{"over", same, same, "conflict-3", "3", false},
		{"from before", rollout.File{Generation: 2}, rollout.File{Generation: 2}, "conflict-2", "2", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{rollout.Annotation: tt.before}}}
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Name}, Data: map[string]string{stateKey: string(text)}}
			dir, client := t.TempDir(), fake.NewClientset(node, m)
			c, err := New(Options{
				Kubernetes: client, Node: "a", Log: quietLog(), Metrics: NewMetrics(), Now: time.Now,
				File: filepath.Join(dir, "file"), Started: filepath.Join(dir, "started"),
			})
			if err != nil {
				t.Fatal(err)
			}
			c.events = record.NewFakeRecorder(9)
			for path, f := range map[string]rollout.File{c.o.File: tt.file, c.o.Started: tt.started} {
				if err := rollout.WriteFile(path, f); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.core.Core().V1().Nodes().Informer().GetIndexer().Add(node); err != nil {
				t.Fatal(err)
			}
			if err := c.own.Core().V1().ConfigMaps().Informer().GetIndexer().Add(m); err != nil {
				t.Fatal(err)
			}
			if err := c.syncDevice(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := client.CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{})
			if err != nil || got.Annotations[rollout.Annotation] != tt.want || (c.told.restart != "") != tt.restart {
				t.Errorf("%v, want %s; restart: %q; %v", got.Annotations, tt.want, c.told.restart, err)
			}
		})
	}
}
