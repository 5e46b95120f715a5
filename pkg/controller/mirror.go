package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/microshift-io/microshift-feature-gates/pkg/publish"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// mirror is what the nodes.config object is to have.
type mirror struct {
	began      bool // whether a state has been read
	minimum    rollout.Version
	conditions []metav1.Condition
}

// setMirror takes over the enforced minimum at once. Conditions follow when
// they are written to the ConfigMap; at first they are those that were written
// last, by this or another controller.
func (c *Controller) setMirror(m *corev1.ConfigMap, s rollout.State) {
	if s.Generation == 0 {
		return
	}
	changed := !c.mirror.began || c.mirror.minimum != s.Status
	if !c.mirror.began {
		c.mirror.conditions = conditionsOf(m)
	}
	c.mirror.began, c.mirror.minimum = true, s.Status
	if changed && c.installed[publish.NodeConfigs.Resource] {
		c.queue.Add(itemNodeConfig)
	}
}

// syncNodeConfig brings the nodes.config object up to date.
func (c *Controller) syncNodeConfig(ctx context.Context) error {
	if !c.leads.Load() || !c.mirror.began {
		return nil
	}
	minimum, err := c.mirror.minimum.MarshalText()
	if err != nil {
		return err
	}
	writes, err := publish.UpdateNodeConfig(ctx, c.o.Dynamic, string(minimum), c.mirror.conditions)
	c.o.Metrics.wroteSome("nodes.config.openshift.io", writes, err)
	if publish.IsRefused(err) {
		c.o.Log.WithError(err).Error("the minimum kubelet version is not mirrored")
		c.event(configReference("Node"), warning, "PublishRefused", err.Error())
		return nil
	}
	return err
}

// syncFeatureGate brings the FeatureGate object up to date. A refusal is told
// and left: trying again is for when the object changes.
func (c *Controller) syncFeatureGate(ctx context.Context) error {
	if !c.leads.Load() || c.o.FeatureGate == nil {
		return nil
	}
	writes, err := publish.ApplyFeatureGate(ctx, c.o.Dynamic, c.o.FeatureGate)
	c.o.Metrics.wroteSome("featuregates.config.openshift.io", writes, err)
	refusal := ""
	if publish.IsRefused(err) {
		refusal, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	if writes > 0 {
		c.o.Log.WithField("featureSet", string(c.o.FeatureGate.Spec.FeatureSet)).Info("the FeatureGate object is up to date")
	}
	if refusal != c.refusal {
		if c.refusal = refusal; refusal != "" {
			c.o.Log.Error(refusal)
			c.event(configReference("FeatureGate"), warning, "PublishRefused", refusal)
		}
		c.queue.Add(itemRollout) // for the condition
	}
	return nil
}

// syncProbe finds out which of the two resources the cluster has, and watches
// the object of each. What is not there may come later.
func (c *Controller) syncProbe(ctx context.Context) error {
	if !c.leads.Load() {
		return nil
	}
	list, err := c.o.Kubernetes.Discovery().ServerResourcesForGroupVersion(publish.FeatureGates.GroupVersion().String())
	switch {
	case apierrors.IsNotFound(err):
		list = &metav1.APIResourceList{}
	case err != nil:
		return fmt.Errorf("ask for the resources of %s: %w", publish.FeatureGates.GroupVersion(), err)
	}
	featureGates, nodeConfigs := publish.Installed(list.APIResources)
	if !featureGates || !nodeConfigs {
		c.queue.AddAfter(itemProbe, c.o.Probe)
	}
	if featureGates {
		c.install(ctx, publish.FeatureGates.Resource, itemFeatureGate)
	}
	if nodeConfigs {
		c.install(ctx, publish.NodeConfigs.Resource, itemNodeConfig)
	}
	return nil
}

// install begins to watch the object of a resource. It waits for the first list
// of it, whose event and the piece of work that is due anyway are one then.
func (c *Controller) install(ctx context.Context, resource string, it item) {
	defer c.queue.Add(it) // this controller may have become leader again
	if c.installed[resource] {
		return
	}
	gvr := publish.FeatureGates.GroupVersion().WithResource(resource)
	registration, err := c.openapi.ForResource(gvr).Informer().AddEventHandler(c.onAny(it))
	if err != nil {
		c.o.Log.WithError(err).Warnf("%s can't be watched", resource) // only after a shutdown
		return
	}
	c.installed[resource] = true
	c.openapi.Start(c.watching.Done())
	cache.WaitForCacheSync(ctx.Done(), registration.HasSynced)
}

// configReference is one of the two objects, as an Event has it.
func configReference(kind string) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: publish.FeatureGates.GroupVersion().String(), Kind: kind, Name: publish.Name}
}
