//go:build e2e

package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// watcher sees every version of the ConfigMap and of every Node in the order in
// which they came to be, and holds the rollout to its invariants. What a gate
// needs is said here anew.
type watcher struct {
	sync.Mutex
	t      testing.TB
	states []rollout.State         // every state there was
	latest rollout.State           // zero while there is no ConfigMap
	nodes  map[string]rollout.Node // as they are now
	sets   map[int64]string
	taken  int64 // highest generation that was ever acknowledged
	lost   bool  // the ConfigMap was put back, and nobody has written since
	broken []string
	checks int
}

var needs = rollout.V(1, 30, 0) // every guarded gate

func (s *server) watch(t testing.TB) *watcher {
	t.Helper()
	w := &watcher{t: t, nodes: map[string]rollout.Node{}, sets: map[int64]string{}}
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

func (w *watcher) node(obj any, gone bool) {
	n, ok := obj.(*corev1.Node)
	if !ok {
		return
	}
	w.Lock()
	defer w.Unlock()
	if gone {
		delete(w.nodes, n.Name)
		return
	}
	node := rollout.Node{Name: n.Name, Kubelet: n.Status.NodeInfo.KubeletVersion, Acknowledged: rollout.ParseGeneration(n.Annotations[rollout.Annotation])}
	w.nodes[n.Name] = node
	w.taken = max(w.taken, node.Acknowledged)
}

func (w *watcher) configMap(obj any, gone bool) {
	m, ok := obj.(*corev1.ConfigMap)
	if !ok || m.Namespace != "kube-system" || m.Name != "microshift-feature-gates" {
		return
	}
	w.Lock()
	defer w.Unlock()
	w.checks++
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
	w.states = append(w.states, s)
	set := fmt.Sprint(s.Enabled, s.Disabled)
	if old, ok := w.sets[s.Generation]; ok && old != set {
		w.fail("generation %d has two sets: %s and %s", s.Generation, old, set)
	}
	w.sets[s.Generation] = set
	if len(s.Enabled) > 0 && s.Status.Less(needs) {
		w.fail("generation %d enables %v at minimum %s", s.Generation, s.Enabled, s.Status)
	}
	if s.Generation < w.taken && !w.lost {
		w.fail("generation %d is offered after %d was taken", s.Generation, w.taken)
	}
	if s.Generation >= w.taken {
		w.lost = false
	}
	if s.Generation < before.Generation && before.Generation > 0 && !w.lost {
		w.fail("generation %d follows %d", s.Generation, before.Generation)
	}
	if s.Status.Less(before.Status) && !w.lost {
		w.relaxed(before, s)
	}
	for _, gate := range s.Enabled {
		if !slices.Contains(before.Enabled, gate) && before.Status.Less(needs) {
			w.fail("generation %d enables %s, before it %s was enforced", s.Generation, gate, before.Status)
		}
	}
}

// relaxed checks a lowering: every node has the generation, and it has no gates
// that need more. The two watches are not in step: a Node may be ahead here,
// never behind what the controller has seen for long, so only the set counts
// for nodes that have joined since.
func (w *watcher) relaxed(before, s rollout.State) {
	if len(s.Enabled) > 0 && s.Status.Less(needs) || s.Generation != before.Generation {
		w.fail("set and minimum fall at once: %+v to %+v", before, s)
	}
	for _, n := range w.nodes {
		if n.Acknowledged > 0 && n.Acknowledged < s.Generation {
			w.fail("relaxed to %s while %s runs generation %d of %d", s.Status, n.Name, n.Acknowledged, s.Generation)
		}
	}
}

// state returns the present state.
func (w *watcher) state() rollout.State {
	w.Lock()
	defer w.Unlock()
	return w.latest
}

// history returns all states since the last call of reset.
func (w *watcher) history() []rollout.State {
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
