package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

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

// A device whose Node has another name than the host is told of it once, but not
// while its kubelet may still be about to register.
func TestNoNode(t *testing.T) {
	now, recorder, log := time.Unix(1e9, 0), record.NewFakeRecorder(9), &strings.Builder{}
	logger := quietLog()
	logger.SetOutput(log)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "device"}}
	nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	c := &Controller{
		events: recorder, nodes: corelisters.NewNodeLister(nodes),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[item]()),
		o:     Options{Node: "device.example", Log: logger, Now: func() time.Time { return now }},
	}
	defer c.queue.ShutDown()
	if err := nodes.Add(node); err != nil {
		t.Fatal(err)
	}
	sync := func(after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		if err := c.syncDevice(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := said(recorder)
		if len(got) != want || want > 0 && !strings.Contains(got[0], `no Node is named "device.example"`) {
			t.Errorf("after %s: told %q, want %d Events", after, got, want)
		}
	}
	sync(0, 0)
	sync(registers-time.Second, 0)
	sync(time.Second, 1)
	sync(time.Hour, 0)
	if n := strings.Count(log.String(), "give that with --node"); n != 1 {
		t.Errorf("logged %d times: %s", n, log)
	}
}
