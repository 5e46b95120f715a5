package controller

import (
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// told is what people were told last, so that they are not told again.
type told struct {
	conditions string   // the text of the conditions in the log
	nodes      []string // nodes with an Event that they don't fit; sorted
	restart    string
	twoSets    string
	seen       rollout.Seen
	noNode     noNode
}

// noNode is about a device that has no Node; zero while it has one.
type noNode struct {
	since time.Time
	told  bool
}

// registers is how long a kubelet may take to register its Node before that is
// worth a word.
const registers = 2 * time.Minute

// maxNodeEvents bounds the Events about nodes that are sent at once. The
// conditions have them all.
const maxNodeEvents = 10

// event sends an Event. It does not wait for it, nor fail.
func (c *Controller) event(about *corev1.ObjectReference, kind, reason, message string) {
	if reason != "" {
		c.events.Event(about, kind, reason, shorten(message))
	}
}

// tell logs how the rollout stands when that has changed, and sends an Event
// for each node that has come not to fit.
func (c *Controller) tell(m *corev1.ConfigMap, r rollout.Report, conditions []metav1.Condition) {
	if text := conditionText(conditions); text != c.told.conditions {
		c.told.conditions = text
		entry := c.o.Log.WithField("phase", string(r.Phase))
		for _, cond := range conditions {
			if cond.Status == metav1.ConditionTrue {
				entry = entry.WithField(cond.Type, cond.Reason+": "+cond.Message)
			}
		}
		level := logrus.InfoLevel
		if slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return c.Type == rollout.Degraded && c.Status == metav1.ConditionTrue }) {
			level = logrus.WarnLevel
		}
		entry.Log(level, "how the rollout stands")
		if level == logrus.WarnLevel {
			c.event(mapReference(m), warning, rollout.Degraded, degradedMessage(conditions))
		}
	}
	misfits := map[string]string{}
	for _, name := range r.Outdated {
		misfits[name] = "the kubelet is older than the minimum kubelet version of the cluster; it is denied where kube-apiserver enforces the minimum, and no gate changes for it"
	}
	for _, name := range r.Unreadable {
		misfits[name] = "the kubelet reports a version that can't be read; nothing new is enabled while it is there"
	}
	for _, name := range r.Stale {
		misfits[name] = "the node was away when the minimum kubelet version fell and runs an older set of gates: restart MicroShift on it"
	}
	var names []string
	sent := 0
	for name := range misfits {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, before := slices.BinarySearch(c.told.nodes, name); before {
			continue
		}
		c.o.Log.WithField("node", name).Warn(misfits[name])
		if sent++; sent <= maxNodeEvents {
			c.event(nodeReference(name), warning, "KubeletMisfit", misfits[name])
		}
	}
	c.told.nodes = names
}

func degradedMessage(conditions []metav1.Condition) string {
	for _, c := range conditions {
		if c.Type == rollout.Degraded {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

// tellNoNode says once that this device has no Node, when that has lasted: its
// name may be another one than the host's, and then nothing would ever happen.
func (c *Controller) tellNoNode() {
	t, now := &c.told.noNode, c.o.Now()
	if t.since.IsZero() {
		t.since = now
	}
	if t.told {
		return
	}
	if wait := t.since.Add(registers).Sub(now); wait > 0 {
		c.queue.AddAfter(itemDevice, wait)
		return
	}
	t.told = true
	text := fmt.Sprintf("no Node is named %q, so that this device takes no part in the rollout; if its Node has another name, give that with --node", c.o.Node)
	c.o.Log.Warn(text)
	c.event(mapReference(nil), warning, "NoNode", text)
}

// mapReference is the ConfigMap, as an Event has it; m may be nil.
func mapReference(m *corev1.ConfigMap) *corev1.ObjectReference {
	ref := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: Namespace, Name: Name}
	if m != nil {
		ref.UID = m.UID
	}
	return ref
}

// nodeReference is a Node, with its name for a UID as the kubelet's own Events
// have it.
func nodeReference(name string) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name, UID: types.UID(name)}
}
