package controller

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// stateOf reads the rollout from its ConfigMap; nil is none. A ConfigMap
// without a state is none as well: the one that comes with the manifest of the
// controller's rights is empty. Should someone have emptied it, the
// acknowledgements tell, as they do when it was deleted.
func stateOf(m *corev1.ConfigMap) (rollout.State, error) {
	if m == nil || m.Data[stateKey] == "" {
		return rollout.State{}, nil
	}
	return rollout.ParseState([]byte(m.Data[stateKey]))
}

// conditionsOf reads the conditions of a ConfigMap. What can't be read is none,
// and will be replaced.
func conditionsOf(m *corev1.ConfigMap) []metav1.Condition {
	var list []metav1.Condition
	if m == nil || json.Unmarshal([]byte(m.Data[conditionsKey]), &list) != nil {
		return nil
	}
	return list
}

// nodeOf is what the rollout looks at of a Node.
func nodeOf(n *corev1.Node) rollout.Node {
	return rollout.Node{
		Name:         n.Name,
		Kubelet:      n.Status.NodeInfo.KubeletVersion,
		Acknowledged: rollout.ParseGeneration(n.Annotations[rollout.Annotation]),
		Conflict:     rollout.ParseConflict(n.Annotations[rollout.Annotation]),
	}
}

// cachedMap returns the ConfigMap as the cache has it, nil where there is none.
// It belongs to the cache.
func (c *Controller) cachedMap() (*corev1.ConfigMap, error) {
	m, err := c.maps.ConfigMaps(Namespace).Get(Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return m, err
}

func (c *Controller) cachedNodes() ([]rollout.Node, error) {
	list, err := c.nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	nodes := make([]rollout.Node, len(list))
	for i, n := range list {
		nodes[i] = nodeOf(n)
	}
	return nodes, nil
}

// liveMap asks the API server for the ConfigMap; nil where there is none.
func (c *Controller) liveMap(ctx context.Context) (*corev1.ConfigMap, error) {
	m, err := c.o.Kubernetes.CoreV1().ConfigMaps(Namespace).Get(ctx, Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return m, err
}

// liveNodes lists the Nodes as they are in etcd, not in some cache on the way
// (no resource version asks for that), in pages to need little memory.
func (c *Controller) liveNodes(ctx context.Context) ([]rollout.Node, error) {
	var nodes []rollout.Node
	options := metav1.ListOptions{Limit: 100}
	for {
		page, err := c.o.Kubernetes.CoreV1().Nodes().List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list the nodes: %w", err)
		}
		for i := range page.Items {
			nodes = append(nodes, nodeOf(&page.Items[i]))
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nodes, nil
		}
	}
}

// replace writes a ConfigMap that was read as before, nil for none, with new
// data. It fails with a conflict if anyone has written it since.
func (c *Controller) replace(ctx context.Context, before *corev1.ConfigMap, data map[string]string) error {
	maps := c.o.Kubernetes.CoreV1().ConfigMaps(Namespace)
	var err error
	if before == nil {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Name}, Data: data}
		_, err = maps.Create(ctx, m, metav1.CreateOptions{FieldManager: Name})
	} else {
		m := before.DeepCopy()
		if m.Data == nil {
			m.Data = map[string]string{}
		}
		for key, value := range data {
			m.Data[key] = value
		}
		_, err = maps.Update(ctx, m, metav1.UpdateOptions{FieldManager: Name}) // with the resource version of before
	}
	c.o.Metrics.wrote("configmap", err)
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", Namespace, Name, err)
	}
	return nil
}

// observation is what there is to see besides nodes.
func (c *Controller) observation(s rollout.State) rollout.Observation {
	o := rollout.Observation{Synced: true, Spec: s.Spec, Device: c.o.Node, Guarded: c.o.Guarded}
	file, _ := rollout.ReadFile(c.o.File) // what can't be read is zero
	started, _ := rollout.ReadStarted(c.o.Started)
	o.Known, o.Enforced = max(file.Generation, started.Generation), file.Minimum
	if o.Enforced.Less(started.Minimum) {
		o.Enforced = started.Minimum
	}
	switch {
	case c.o.Minimum != nil:
		o.Spec = *c.o.Minimum
	case s.Generation == 0:
		o.Spec = o.Enforced // the state may have been lost
	}
	return o
}
