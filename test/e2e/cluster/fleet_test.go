//go:build e2e

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// fleet is the other devices of a cluster: Node objects, and what their
// controllers do about them, without a process for each. They take what the
// ConfigMap says, restart at once and acknowledge.
type fleet struct {
	*server
	t     testing.TB
	watch *watcher
	sync.Mutex
	files map[string]rollout.File // by node
	late  map[string]bool         // nodes that do not restart
	wrote int                     // acknowledgements
	most  int                     // of one node
	count map[string]int
}

// addNode creates a Node with a kubelet version.
func (s *server) addNode(t testing.TB, name, kubelet string) {
	t.Helper()
	nodes := s.client.CoreV1().Nodes()
	eventually(t, "create Node "+name, func() error {
		n, err := nodes.Create(background, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			if n, err = nodes.Get(background, name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		n.Status.NodeInfo.KubeletVersion = kubelet
		_, err = nodes.UpdateStatus(background, n, metav1.UpdateOptions{})
		return err
	})
}

func (s *server) setKubelet(t testing.TB, name, kubelet string) { s.addNode(t, name, kubelet) }

func (s *server) removeNode(t testing.TB, name string) {
	t.Helper()
	if err := s.client.CoreV1().Nodes().Delete(background, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// newFleet makes the Nodes, with versions that all satisfy 1.30.0.
func newFleet(t testing.TB, s *server, w *watcher, n int) *fleet {
	t.Helper()
	f := &fleet{server: s, t: t, watch: w, files: map[string]rollout.File{}, late: map[string]bool{}, count: map[string]int{}}
	versions := []string{"v1.36.2", "1.30.0", "v1.33.1+a2b3c4", "v1.30.0-ec.0", "v1.35.4", "1.32.5-rc.1"}
	names := make(chan string)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for name := range names {
				s.addNode(t, name, versions[len(name+name[5:])%len(versions)])
			}
		})
	}
	for i := range n {
		name := fmt.Sprintf("node-%03d", i)
		f.files[name] = rollout.File{}
		names <- name
	}
	close(names)
	group.Wait()
	ctx, cancel := context.WithCancel(background)
	group.Go(func() { f.run(ctx) })
	t.Cleanup(func() { cancel(); group.Wait() })
	return f
}

// join adds a device to the fleet.
func (f *fleet) join(name, kubelet string) {
	f.addNode(f.t, name, kubelet)
	f.Lock()
	defer f.Unlock()
	f.files[name] = rollout.File{}
}

// leave removes a device.
func (f *fleet) leave(name string) {
	f.Lock()
	delete(f.files, name)
	f.Unlock()
	f.removeNode(f.t, name)
}

// setLate makes a device put off its restarts, or make up for them.
func (f *fleet) setLate(name string, late bool) {
	f.Lock()
	defer f.Unlock()
	f.late[name] = late
}

func (f *fleet) run(ctx context.Context) {
	for ctx.Err() == nil {
		var todo []string
		s := f.watch.state()
		f.Lock()
		for name, file := range f.files {
			if f.late[name] {
				continue
			}
			next, changed, err := file.Advance(s, file.Generation, time.Now())
			if err != nil {
				f.t.Errorf("%s: %v", name, err)
			}
			if changed {
				f.files[name] = next
				if next.Generation != file.Generation {
					todo = append(todo, name)
				}
			}
		}
		f.Unlock()
		f.acknowledge(ctx, todo)
		time.Sleep(50 * time.Millisecond)
	}
}

// acknowledge patches the Nodes, until each has taken it.
func (f *fleet) acknowledge(ctx context.Context, names []string) {
	work := make(chan string)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for name := range work {
				f.Lock()
				generation, ok := f.files[name]
				f.Unlock()
				patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{rollout.Annotation: rollout.FormatGeneration(generation.Generation)}}})
				for ok && ctx.Err() == nil {
					_, err := f.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
					if err == nil {
						f.Lock()
						f.wrote++
						f.count[name]++
						f.most = max(f.most, f.count[name])
						f.Unlock()
						break
					}
					time.Sleep(200 * time.Millisecond)
					f.Lock()
					_, ok = f.files[name]
					f.Unlock()
				}
			}
		})
	}
	for _, name := range names {
		work <- name
	}
	close(work)
	group.Wait()
}

// acknowledgements returns how many there were, and how many of the node with
// the most, since the last call.
func (f *fleet) acknowledgements() (all, most int) {
	f.Lock()
	defer f.Unlock()
	all, most = f.wrote, f.most
	f.wrote, f.most, f.count = 0, 0, map[string]int{}
	return all, most
}
