package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sirupsen/logrus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// syncDevice brings the rollout file of this device up to date, asks for a
// restart where MicroShift runs another one, and acknowledges what it runs.
func (c *Controller) syncDevice(ctx context.Context) error {
	node, err := c.nodes.Get(c.o.Node)
	if apierrors.IsNotFound(err) {
		c.tellNoNode()
		return nil // its event will come
	} else if err != nil {
		return err
	}
	c.told.noNode = noNode{}
	f, err := c.syncFile(ctx, nodeOf(node).Acknowledged)
	if err != nil {
		return err
	}
	started, err := rollout.ReadStarted(c.o.Started)
	unknown := errors.Is(err, fs.ErrNotExist)
	if err != nil && !unknown {
		return err
	}
	c.o.Metrics.setDevice(f, started)
	restartErr := c.needRestart(ctx, f, started, unknown)
	if unknown {
		return restartErr // nothing can be said about what runs
	}
	m, err := c.cachedMap()
	if err != nil {
		return errors.Join(restartErr, err)
	}
	s, err := stateOf(m)
	conflict := err == nil && (f.Contradicts(s) || started.Contradicts(s))
	generation := started.Generation
	if conflict {
		generation = s.Generation
	}
	return errors.Join(restartErr, c.acknowledge(ctx, generation, conflict))
}

// syncFile returns the rollout file as it is afterwards.
func (c *Controller) syncFile(ctx context.Context, acknowledged int64) (rollout.File, error) {
	f, fileErr := rollout.ReadFile(c.o.File)
	m, err := c.cachedMap()
	if err != nil {
		return f, err
	}
	s, err := stateOf(m)
	if err != nil {
		return f, nil //nolint:nilerr // the leader tells about it
	}
	if fileErr != nil && (s.Generation > 0 || acknowledged > 0) {
		if !errors.Is(fileErr, fs.ErrNotExist) {
			c.o.Log.WithError(fileErr).Error("the rollout file can't be used and is written anew")
		}
		if s, acknowledged, err = c.liveState(ctx); err != nil {
			return f, err
		}
	}
	next, changed, err := f.Advance(s, acknowledged, c.o.Now())
	if errors.Is(err, rollout.ErrTwoSets) {
		if text := err.Error(); c.told.twoSets != text {
			c.told.twoSets = text
			c.o.Log.WithError(err).Error("this device keeps its set; someone has edited the ConfigMap or the rollout file")
			c.event(nodeReference(c.o.Node), warning, "TwoSets", text)
		}
		return f, nil
	}
	if err != nil || !changed {
		return f, err
	}
	if err := rollout.WriteFile(c.o.File, next); err != nil {
		return f, fmt.Errorf("write the rollout file: %w", err)
	}
	c.o.Log.WithFields(logrus.Fields{"generation": next.Generation, "enabled": next.Enabled, "disabled": next.Disabled, "minimum": next.Minimum.String()}).
		Info("the rollout file is up to date")
	return next, nil
}

// liveState is for a device without a file, see rollout.File.Advance: the state,
// and then the highest generation on any Node, from the API server itself.
func (c *Controller) liveState(ctx context.Context) (rollout.State, int64, error) {
	m, err := c.liveMap(ctx)
	if err != nil {
		return rollout.State{}, 0, err
	}
	s, err := stateOf(m)
	if err != nil {
		return rollout.State{}, 0, err
	}
	nodes, err := c.liveNodes(ctx)
	if err != nil {
		return rollout.State{}, 0, err
	}
	registered, highest := false, int64(0)
	for _, n := range nodes {
		registered = registered || n.Name == c.o.Node
		highest = max(highest, n.Acknowledged)
	}
	if !registered {
		return rollout.State{}, 0, nil // from before its Node was there, nothing counts
	}
	return s, highest, nil
}

// needRestart tells, and with Options.Restart does something about it, that
// MicroShift was not started with f. Each file is good for one restart, also
// over restarts of this controller: should it not help, another one won't. A
// restart that could not be asked for is none, and is tried again.
func (c *Controller) needRestart(ctx context.Context, f, started rollout.File, unknown bool) error {
	if f.Generation == 0 || !unknown && f.Same(started) {
		c.told.restart = ""
		return nil
	}
	text := fmt.Sprintf("restart MicroShift to take generation %d of the feature gates, minimum kubelet version %s", f.Generation, f.Minimum)
	if c.told.restart != text {
		c.told.restart = text
		c.o.Log.Warn(text)
		c.event(nodeReference(c.o.Node), normal, "RestartNeeded", text)
	}
	if c.o.Restart == nil {
		return nil
	}
	if last, err := rollout.ReadStarted(c.o.Restarted); err == nil && last.Same(f) {
		return nil
	}
	if err := rollout.WriteStarted(c.o.Restarted, f); err != nil {
		return fmt.Errorf("restart MicroShift: %w", err)
	}
	c.o.Log.WithField("generation", f.Generation).Warn("restarting MicroShift")
	if err := c.o.Restart(ctx); err != nil {
		return fmt.Errorf("restart MicroShift: %w", errors.Join(err, os.Remove(c.o.Restarted)))
	}
	return nil
}

// acknowledge says on the Node which generation MicroShift was started with, or
// which one it can't acknowledge, having another set of it.
func (c *Controller) acknowledge(ctx context.Context, generation int64, conflict bool) error {
	want := rollout.FormatGeneration(generation)
	if conflict {
		want = rollout.FormatConflict(generation)
	}
	nodes := c.o.Kubernetes.CoreV1().Nodes()
	if node, err := c.nodes.Get(c.o.Node); err == nil && (node.Annotations[rollout.Annotation] == want ||
		generation == 0 && node.Annotations[rollout.Annotation] == "") {
		return nil
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := nodes.Get(ctx, c.o.Node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		have := node.Annotations[rollout.Annotation]
		if have == want || generation == 0 && have == "" {
			return nil
		}
		if witness, err := c.isWitness(ctx, rollout.ParseGeneration(have), generation); err != nil || witness {
			return err
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid":         node.UID, // a Node of the same name that came since is another one
			"annotations": map[string]string{rollout.Annotation: want},
		}})
		if err != nil {
			return err
		}
		_, err = nodes.Patch(ctx, c.o.Node, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Name})
		c.o.Metrics.wrote("node", err)
		if err == nil && !conflict { // syncFile tells about a conflict
			c.o.Log.WithField("generation", generation).Info("generation acknowledged")
		}
		return err
	})
}

// isWitness reports whether an acknowledgement must not be lowered now, since
// it may be all that tells of generations that a lost ConfigMap had.
func (c *Controller) isWitness(ctx context.Context, have, generation int64) (bool, error) {
	if generation >= have {
		return false, nil
	}
	m, err := c.liveMap(ctx)
	if err != nil {
		return false, err
	}
	s, err := stateOf(m)
	return s.Generation < have, err
}
