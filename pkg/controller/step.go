package controller

import (
	"context"
	"reflect"
	"time"

	"github.com/sirupsen/logrus"
	"k8s.io/client-go/util/retry"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// syncRollout looks at the rollout as the caches have it, makes the one write
// that is next, if any, and otherwise tells people how it stands. A write comes
// back as an event of the ConfigMap, and with it the next step.
func (c *Controller) syncRollout(ctx context.Context) error {
	m, err := c.cachedMap()
	if err != nil {
		return err
	}
	nodes, err := c.cachedNodes()
	if err != nil {
		return err
	}
	s, stateErr := stateOf(m)
	o := c.observation(s)
	o.Nodes = nodes
	o.Synced = stateErr == nil
	_, report := rollout.Next(s, o)
	c.o.Metrics.setRollout(s, report)
	if report.Relist && c.leads.Load() {
		return c.advance(ctx)
	}
	conditions := c.conditions(report, nodes, stateErr)
	c.leave(s, report, nodes)
	if !c.leads.Load() {
		return nil
	}
	c.tell(m, report, conditions)
	c.setMirror(m, s)
	return c.publishConditions(ctx, m, s, conditions)
}

// advance makes the next write from what the API server itself says: first the
// state, then the nodes. It may turn out that there is none, when a cache was
// behind; an event is on its way then.
func (c *Controller) advance(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		m, err := c.liveMap(ctx)
		if err != nil {
			return err
		}
		s, err := stateOf(m)
		if err != nil {
			return err
		}
		o := c.observation(s)
		o.Live = true
		if o.Nodes, err = c.liveNodes(ctx); err != nil {
			return err
		}
		next, report := rollout.Next(s, o)
		if next.Equal(s) {
			return nil
		}
		data, err := next.Marshal()
		if err != nil {
			return err
		}
		if err := c.replace(ctx, m, map[string]string{stateKey: string(data)}); err != nil {
			return err
		}
		c.o.Log.WithFields(logrus.Fields{
			"phase": report.Phase, "generation": next.Generation, "configured": next.Spec.String(), "enforced": next.Status.String(),
			"enabled": next.Enabled, "disabled": next.Disabled,
		}).Info("rollout: " + report.Event.Message)
		c.event(mapReference(m), normal, report.Event.Reason, report.Event.Message)
		return nil
	})
}

// leave leaves on the device what was seen, for those who look there. That is
// no reason to fail.
func (c *Controller) leave(s rollout.State, r rollout.Report, nodes []rollout.Node) {
	if s.Generation == 0 && s.Spec.IsZero() && (c.o.Minimum == nil || c.o.Minimum.IsZero()) {
		return
	}
	seen := rollout.Seen{
		Phase: r.Phase, Generation: s.Generation, Nodes: len(nodes),
		Waiting: r.Waiting, Outdated: r.Outdated, Unreadable: r.Unreadable, Stale: r.Stale, Conditions: r.Conditions,
	}
	if reflect.DeepEqual(seen, c.told.seen) {
		return
	}
	c.told.seen = seen
	seen.Time = c.o.Now().UTC().Truncate(time.Second)
	if err := rollout.WriteSeen(c.o.Seen, seen); err != nil {
		c.o.Log.WithError(err).Warn("what was seen of the cluster can't be left on the device")
	}
}
