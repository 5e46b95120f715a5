package controller

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/record"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// said returns the Events that a fake recorder has, and takes them from it.
func said(r *record.FakeRecorder) []string {
	var list []string
	for len(r.Events) > 0 {
		list = append(list, <-r.Events)
	}
	return list
}

// A node that does not fit is told of once, and not that it is denied: whether
// kube-apiserver does that is not for the controller to know.
func TestMisfits(t *testing.T) {
	recorder := record.NewFakeRecorder(9)
	c := &Controller{events: recorder, o: Options{Node: "a", Log: quietLog()}}
	r := rollout.Report{Outdated: []string{"old"}}
	c.tell(nil, r, nil)
	got := said(recorder)
	if len(got) != 1 || !strings.HasPrefix(got[0], "Warning KubeletMisfit ") || !strings.Contains(got[0], "; it is denied where kube-apiserver enforces the minimum, and") {
		t.Errorf("told: %q", got)
	}
	if c.tell(nil, r, nil); len(recorder.Events) > 0 {
		t.Errorf("told again: %q", said(recorder))
	}
}
