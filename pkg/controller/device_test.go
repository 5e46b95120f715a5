package controller

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/sirupsen/logrus"
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
