//go:build e2e

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// watcher sees every version of the ConfigMap and of every Node, and holds the
// rollout to its invariants. What a gate needs is said here anew.
//
// The two watches are not in step, least of all when the API server comes back.
// What concerns both is judged in the end, in the order of the writes: resource
// versions are revisions of the one etcd.
type watcher struct {
	sync.Mutex
	t      testing.TB
	states []seenState             // every state there was
	latest rollout.State           // zero while there is no ConfigMap
	nodes  map[string]rollout.Node // as they are now
	taken  map[string][]taking     // by node
	sets   map[int64]string
	lost   bool // the ConfigMap was put back, and nobody has gone on above it
	broken []string
	checks int
}

// seenState is a state with its resource version.
type seenState struct {
	rollout.State
	version uint64
	lost    bool
}

// taking is what a Node has acknowledged from a resource version on.
type taking struct {
	version    uint64
	generation int64
	gone       bool
}

var needs = rollout.V(1, 30, 0) // every guarded gate

func (s *server) watch(t testing.TB) *watcher {
	t.Helper()
	w := &watcher{t: t, nodes: map[string]rollout.Node{}, taken: map[string][]taking{}, sets: map[int64]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactory(s.client, 0)
	add := func(informer cache.SharedIndexInformer, see func(obj any, gone bool)) {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { see(obj, false) }, UpdateFunc: func(_, obj any) { see(obj, false) }, DeleteFunc: func(obj any) { see(obj, true) },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add(factory.Core().V1().Nodes().Informer(), w.node)
	add(factory.Core().V1().ConfigMaps().Informer(), w.configMap)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
		w.Lock()
		defer w.Unlock()
		w.judge()
		for _, b := range w.broken {
			t.Errorf("INVARIANT: %s", b)
		}
		note("%s: %d states seen, %d checks, %d invariant violations", t.Name(), len(w.states), w.checks, len(w.broken))
	})
	return w
}

func (w *watcher) fail(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// version is the revision of an object.
func (w *watcher) version(m metav1.Object) uint64 {
	n, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	if err != nil {
		w.t.Error(err)
	}
	return n
}

func (w *watcher) node(obj any, gone bool) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	n, ok := obj.(*corev1.Node)
	if !ok {
		return
	}
	w.Lock()
	defer w.Unlock()
	node := rollout.Node{Name: n.Name, Kubelet: n.Status.NodeInfo.KubeletVersion, Acknowledged: rollout.ParseGeneration(n.Annotations[rollout.Annotation])}
	w.nodes[n.Name] = node
	if gone {
		delete(w.nodes, n.Name)
	}
	list := w.taken[n.Name]
	if len(list) == 0 || gone || list[len(list)-1].gone || list[len(list)-1].generation != node.Acknowledged {
		w.taken[n.Name] = append(list, taking{w.version(n), node.Acknowledged, gone})
	}
}

func (w *watcher) configMap(obj any, gone bool) {
	m, ok := obj.(*corev1.ConfigMap)
	if !ok || m.Namespace != "kube-system" || m.Name != "microshift-feature-gates" {
		return
	}
	w.Lock()
	defer w.Unlock()
	if gone || m.Data["state"] == "" {
		w.latest, w.lost = rollout.State{}, true
		return
	}
	s, err := rollout.ParseState([]byte(m.Data["state"]))
	if err != nil {
		return // a test has written that
	}
	before := w.latest
	if s.Equal(before) {
		return // conditions
	}
	w.latest = s
	if !slices.ContainsFunc(w.states, func(old seenState) bool { return old.Generation > s.Generation }) {
		w.lost = false
	}
	w.states = append(w.states, seenState{s, w.version(m), w.lost})
	w.check(before, s)
}

// check holds a state to what follows from the one before it.
func (w *watcher) check(before, s rollout.State) {
	w.checks++
	set := fmt.Sprint(s.Enabled, s.Disabled)
	if old, ok := w.sets[s.Generation]; ok && old != set {
		w.fail("generation %d has two sets: %s and %s", s.Generation, old, set)
	}
	w.sets[s.Generation] = set
	if len(s.Enabled) > 0 && s.Status.Less(needs) {
		w.fail("generation %d enables %v at minimum %s", s.Generation, s.Enabled, s.Status)
	}
	if w.lost {
		return // a test has written that
	}
	if s.Generation < before.Generation {
		w.fail("generation %d follows %d", s.Generation, before.Generation)
	}
	if s.Status.Less(before.Status) && s.Generation != before.Generation {
		w.fail("set and minimum fall at once: %+v to %+v", before, s)
	}
	for _, gate := range s.Enabled {
		if !slices.Contains(before.Enabled, gate) && before.Status.Less(needs) {
			w.fail("generation %d enables %s, before it %s was enforced", s.Generation, gate, before.Status)
		}
	}
}

// judge holds each state to what the Nodes had taken when it was written: it is
// not older than any of that, and where it relaxes the minimum, all have it that
// were there when the state before it was written. One that has joined since
// may have taken nothing yet.
func (w *watcher) judge() {
	for i, s := range w.states {
		if s.lost {
			continue
		}
		for name, list := range w.taken {
			w.checks++
			now, highest, joined := at(list, s.version)
			if s.Generation < highest {
				w.fail("generation %d is offered after %s took %d", s.Generation, name, highest)
			}
			relaxed := i > 0 && !w.states[i-1].lost && s.Status.Less(w.states[i-1].Status)
			if relaxed && joined > 0 && now < s.Generation && (now > 0 || joined < w.states[i-1].version) {
				w.fail("relaxed to %s while %s runs generation %d of %d", s.Status, name, now, s.Generation)
			}
		}
	}
}

// at returns what a Node had acknowledged at a resource version, what it ever had
// by then, and since which version it was there; 0: it was not.
func at(list []taking, version uint64) (now, highest int64, joined uint64) {
	for _, t := range list {
		switch {
		case t.version > version:
			return now, highest, joined
		case t.gone:
			joined = 0
		case joined == 0:
			joined = t.version
		}
		now, highest = t.generation, max(highest, t.generation)
	}
	return now, highest, joined
}

// state returns the present state.
func (w *watcher) state() rollout.State {
	w.Lock()
	defer w.Unlock()
	return w.latest
}

// history returns all states there were.
func (w *watcher) history() []seenState {
	w.Lock()
	defer w.Unlock()
	return slices.Clone(w.states)
}

// settled waits until the state is right and every node has its generation.
func (w *watcher) settled(what string, right func(rollout.State) error) {
	w.t.Helper()
	eventually(w.t, what, func() error {
		w.Lock()
		defer w.Unlock()
		if err := right(w.latest); err != nil {
			return fmt.Errorf("%w: %+v", err, w.latest)
		}
		for _, n := range w.nodes {
			if n.Acknowledged != w.latest.Generation {
				return fmt.Errorf("%s has generation %d of %d", n.Name, n.Acknowledged, w.latest.Generation)
			}
		}
		return nil
	})
}

var background = context.Background()

// setMap replaces the state of the ConfigMap as an administrator might.
func (s *server) setMap(t testing.TB, state string) {
	t.Helper()
	eventually(t, "write the ConfigMap", func() error {
		m, err := s.client.CoreV1().ConfigMaps("kube-system").Get(background, "microshift-feature-gates", metav1.GetOptions{})
		if err != nil {
			return err
		}
		m.Data["state"] = state
		_, err = s.client.CoreV1().ConfigMaps("kube-system").Update(background, m, metav1.UpdateOptions{})
		return err
	})
}
