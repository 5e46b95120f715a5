package controller

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

func TestDue(t *testing.T) {
	now := time.Unix(1e9, 0)
	var p pending
	for _, step := range []struct {
		after time.Duration
		text  string
		want  time.Duration
	}{
		{0, "a", 10 * time.Second},               // new: stay quiet
		{4 * time.Second, "a", 6 * time.Second},  // the same
		{4 * time.Second, "b", 10 * time.Second}, // another: from the beginning
		{9 * time.Second, "c", 10 * time.Second},
		{9 * time.Second, "d", 10 * time.Second},
		{9 * time.Second, "e", 10 * time.Second},
		{9 * time.Second, "f", 10 * time.Second},
		{9 * time.Second, "g", 7 * time.Second}, // 53 s since the first: no longer than a minute
		{7 * time.Second, "h", 0},
	} {
		now = now.Add(step.after)
		if got := p.due(step.text, now, 10*time.Second, time.Minute); got != step.want {
			t.Errorf("%q after %s: %s, want %s", step.text, now.Sub(time.Unix(1e9, 0)), got, step.want)
		}
	}
}

func TestStateOf(t *testing.T) {
	state := rollout.State{Generation: 3, Status: rollout.V(1, 30, 0), Enabled: []string{"A"}}
	text, err := state.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		m    *corev1.ConfigMap
		want rollout.State
		fine bool
	}{
		{"none", nil, rollout.State{}, true},
		{"empty, as the manifest has it", &corev1.ConfigMap{}, rollout.State{}, true},
		{"a state", &corev1.ConfigMap{Data: map[string]string{"state": string(text), "conditions": "nonsense"}}, state, true},
		{"nonsense", &corev1.ConfigMap{Data: map[string]string{"state": "{}"}}, rollout.State{}, false},
	} {
		if got, err := stateOf(tt.m); !got.Equal(tt.want) || (err == nil) != tt.fine {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
	if got := conditionsOf(&corev1.ConfigMap{Data: map[string]string{"conditions": "nonsense"}}); got != nil {
		t.Errorf("nonsense: %v", got)
	}
}

func TestSlim(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", ResourceVersion: "5", Labels: map[string]string{"l": "v"},
		Annotations: map[string]string{rollout.Annotation: "7", "other": "x"}}}
	node.Status.NodeInfo.KubeletVersion = "v1.35.0"
	node.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}}
	got, err := slim(node)
	if err != nil {
		t.Fatal(err)
	}
	small := got.(*corev1.Node)
	if nodeOf(small) != (rollout.Node{Name: "a", Kubelet: "v1.35.0", Acknowledged: 7}) || small.UID != "u" || small.ResourceVersion != "5" {
		t.Errorf("%+v", small)
	}
	if len(small.Annotations) != 1 || small.Labels != nil || small.Status.Images != nil {
		t.Errorf("kept: %+v", small)
	}
	if len(node.Annotations) != 2 {
		t.Error("the object itself was changed")
	}
	if got, _ := slim(cache.DeletedFinalStateUnknown{Key: "a"}); got != (cache.DeletedFinalStateUnknown{Key: "a"}) {
		t.Errorf("a tombstone became %v", got)
	}
}

func TestShorten(t *testing.T) {
	long := strings.Repeat("ä", maxMessage)
	if got := shorten(long); len(got) > maxMessage+3 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes", len(got))
	}
	if got := shorten("short"); got != "short" {
		t.Error(got)
	}
}

func TestConditions(t *testing.T) {
	old := []rollout.Node{{Name: "old", Kubelet: "v1.33.0"}}
	c := &Controller{o: Options{Node: "here", Since: map[string]rollout.Version{"New": rollout.V(1, 35, 0), "Unknown": {}}, Now: time.Now}}
	_, report := rollout.Next(rollout.State{}, rollout.Observation{Synced: true, Nodes: old})
	byType := map[string]metav1.Condition{}
	for _, cond := range c.conditions(report, old, nil) {
		byType[cond.Type] = cond
		if cond.Reason == "" {
			t.Errorf("%s without a reason, which the API demands", cond.Type)
		}
	}
	if got := byType[rollout.Degraded]; got.Status != metav1.ConditionTrue || got.Reason != "ConfigurationRejected" {
		t.Errorf("without a usable configuration: %+v", got)
	}
	for _, cond := range c.conditions(report, old, errors.New("nonsense")) {
		if cond.Type == rollout.Degraded && (cond.Reason != "StateUnreadable" || !strings.HasPrefix(cond.Message, "nonsense; ") || !strings.Contains(cond.Message, "apply that again")) {
			t.Errorf("with a ConfigMap that can't be read: %+v", cond)
		}
	}
	if got := byType[GatesTooNew]; got.Status != metav1.ConditionTrue || !strings.Contains(got.Message, "New exists since Kubernetes 1.35.0") || strings.Contains(got.Message, "Unknown") {
		t.Errorf("%+v", got)
	}
	if got := byType[PublishRefused]; got.Status != metav1.ConditionFalse {
		t.Errorf("%+v", got)
	}
}
