package controller

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/microshift-io/microshift-feature-gates/pkg/publish"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// The types of conditions besides those of package rollout.
const (
	GatesTooNew    = "GatesTooNew"    // nodes whose kubelet is too old to know a gate that is configured
	PublishRefused = "PublishRefused" // the cluster does not take the FeatureGate object
)

// conditions is what a report says, and what the controller knows besides.
func (c *Controller) conditions(r rollout.Report, nodes []rollout.Node, stateErr error) []metav1.Condition {
	list := slices.Clone(r.Conditions)
	for i := range list {
		switch {
		case list[i].Type != rollout.Degraded || list[i].Status:
		case stateErr != nil:
			list[i] = rollout.Condition{Type: rollout.Degraded, Status: true, Reason: "StateUnreadable", Message: stateErr.Error() +
				"; put the ConfigMap back, or delete it, and where the controllers have no more rights than those of rbac.yaml, apply that again: the nodes tell from which generation to go on"}
		case c.o.Minimum == nil:
			list[i] = rollout.Condition{Type: rollout.Degraded, Status: true, Reason: "ConfigurationRejected",
				Message: "the configuration of " + c.o.Node + " can't be used, the minimum stays as it is"}
		}
	}
	tooNew := rollout.Condition{Type: GatesTooNew, Reason: "AsExpected"}
	var lags []string
	for _, lag := range rollout.Lagging(gatesOf(c.o.Since), c.o.Since, nodes) {
		lags = append(lags, lag.String())
	}
	if len(lags) > 0 {
		tooNew = rollout.Condition{Type: GatesTooNew, Status: true, Reason: "KubeletTooOld", Message: shorten(strings.Join(lags, "; "))}
	}
	refused := rollout.Condition{Type: PublishRefused, Reason: "AsExpected"}
	if c.refusal != "" {
		refused = rollout.Condition{Type: PublishRefused, Status: true, Reason: "RefusedByCluster", Message: shorten(c.refusal)}
	}
	var out []metav1.Condition
	for _, r := range append(list, tooNew, refused) {
		status := metav1.ConditionFalse
		if r.Status {
			status = metav1.ConditionTrue
		}
		out = append(out, metav1.Condition{Type: r.Type, Status: status, Reason: r.Reason, Message: r.Message, LastTransitionTime: metav1.NewTime(c.o.Now().UTC().Truncate(time.Second))})
	}
	return out
}

// maxMessage bounds a message in bytes; the schema of the nodes.config object
// takes 32768 characters, people far fewer.
const maxMessage = 4096

func shorten(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}

func gatesOf(since map[string]rollout.Version) []string {
	var names []string
	for name := range since {
		names = append(names, name)
	}
	return names
}

// pending is about conditions that differ from those that were written.
type pending struct {
	since, changed time.Time // when they first differed, and when they last became others
	text           string
}

// due returns how long to wait before the conditions are to be written. While
// 500 nodes take a generation, what there is to say changes 500 times; a raise
// that is through within the quiet time needs no word about its course.
func (p *pending) due(text string, now time.Time, quiet, delay time.Duration) time.Duration {
	if p.since.IsZero() {
		p.since = now
	}
	if p.changed.IsZero() || p.text != text {
		p.changed, p.text = now, text
	}
	return min(p.changed.Add(quiet).Sub(now), p.since.Add(delay).Sub(now))
}

// publishConditions writes the conditions once they have settled. They never go
// with a step of the rollout, which must not wait for them.
func (c *Controller) publishConditions(ctx context.Context, m *corev1.ConfigMap, s rollout.State, conditions []metav1.Condition) error {
	began := s.Generation > 0 || slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return c.Status == metav1.ConditionTrue })
	have := conditionsOf(m)
	if m == nil || !began || reflect.DeepEqual(publish.MergeConditions(have, conditions), have) {
		c.pending = pending{}
		return nil
	}
	if wait := c.pending.due(conditionText(conditions), c.o.Now(), c.o.Quiet, c.o.Delay); wait > 0 {
		c.queue.AddAfter(itemRollout, wait)
		return nil
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := c.liveMap(ctx)
		if err != nil || live == nil || live.Data[stateKey] != m.Data[stateKey] {
			return err // of another state they would not be true; an event is on its way
		}
		have := conditionsOf(live)
		merged := publish.MergeConditions(have, conditions)
		if reflect.DeepEqual(merged, have) {
			return nil
		}
		data, err := json.MarshalIndent(merged, "", "  ")
		if err != nil {
			return err
		}
		return c.replace(ctx, live, map[string]string{conditionsKey: string(data) + "\n"})
	})
	if err != nil {
		return err
	}
	c.pending = pending{}
	if c.mirror.conditions = conditions; c.installed[publish.NodeConfigs.Resource] {
		c.queue.Add(itemNodeConfig)
	}
	return nil
}

// conditionText is conditions without their times, to be compared.
func conditionText(conditions []metav1.Condition) string {
	var b strings.Builder
	for _, c := range conditions {
		b.WriteString(strings.Join([]string{c.Type, string(c.Status), c.Reason, c.Message}, "\x00") + "\n")
	}
	return b.String()
}
