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
