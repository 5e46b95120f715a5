package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/microshift-io/microshift-feature-gates/pkg/publish"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// item is a piece of work. There are few, and each looks at everything that it
// is about, so that any number of events makes one piece.
type item string

const (
	itemDevice      item = "device"      // the rollout file and the acknowledgement of this device
	itemRollout     item = "rollout"     // the next step, and the conditions
	itemNodeConfig  item = "nodeconfig"  // the nodes.config.openshift.io object
	itemFeatureGate item = "featuregate" // the FeatureGate object
	itemProbe       item = "probe"       // which of these two the cluster has
)

// Controller does the work. All of it goes through one queue and one worker,
// so that what only the worker uses needs no lock.
type Controller struct {
	o       Options
	queue   workqueue.TypedRateLimitingInterface[item]
	core    informers.SharedInformerFactory // Nodes
	own     informers.SharedInformerFactory // the one ConfigMap
	openapi dynamicinformer.DynamicSharedInformerFactory

	nodes  corelisters.NodeLister
	maps   corelisters.ConfigMapLister
	synced []cache.InformerSynced
	ready  atomic.Bool // all of synced
	leads  atomic.Bool

	watching  context.Context // ends with Run; for informers that are started later
	events    record.EventRecorder
	sink      record.EventBroadcaster
	installed map[string]bool // resources of config.openshift.io; worker only
	pending   pending         // conditions to be written; worker only
	mirror    mirror          // what the nodes.config object is to have; worker only
	refusal   string          // why the cluster refuses the FeatureGate object; worker only
	told      told            // what people were told; worker only
}

// New returns a controller that does nothing before Run.
func New(o Options) (*Controller, error) {
	c := &Controller{o: o, installed: map[string]bool{}}
	c.queue = workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[item](200*time.Millisecond, time.Minute),
		workqueue.TypedRateLimitingQueueConfig[item]{Name: Name},
	)
	named := func(name string) func(*metav1.ListOptions) {
		return func(lo *metav1.ListOptions) {
			lo.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}
	}
	// Without resync: what is missed by no watch need not be looked at again.
	c.core = informers.NewSharedInformerFactoryWithOptions(o.Kubernetes, 0, informers.WithTransform(slim))
	c.own = informers.NewSharedInformerFactoryWithOptions(o.Kubernetes, 0, informers.WithNamespace(Namespace), informers.WithTweakListOptions(named(Name)))
	c.openapi = dynamicinformer.NewFilteredDynamicSharedInformerFactory(o.Dynamic, 0, metav1.NamespaceAll, named(publish.Name))
	nodes, maps := c.core.Core().V1().Nodes(), c.own.Core().V1().ConfigMaps()
	c.nodes, c.maps = nodes.Lister(), maps.Lister()
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		nodes.Informer(): c.nodeHandler(),
		maps.Informer():  c.onAny(itemRollout, itemDevice),
	} {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return nil, fmt.Errorf("watch the cluster: %w", err)
		}
		c.synced = append(c.synced, registration.HasSynced)
	}
	c.sink = record.NewBroadcaster()
	c.events = c.sink.NewRecorder(scheme.Scheme, corev1.EventSource{Component: Name, Host: o.Node})
	return c, nil
}

// Run works until ctx ends, finishes the piece of work at hand, gives up the
// Lease and returns. The error is not nil where that could not begin.
func (c *Controller) Run(ctx context.Context) error {
	var group sync.WaitGroup
	defer group.Wait()
	defer c.sink.Shutdown()
	c.sink.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.o.Kubernetes.CoreV1().Events("")})

	c.watching = ctx
	// Informers end by their factories' Shutdown, the worker by the queue's.
	c.core.StartWithContext(ctx)
	c.own.StartWithContext(ctx)
	defer c.core.Shutdown()
	defer c.own.Shutdown()
	defer c.openapi.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return nil // asked to end before the API server was there
	}
	c.ready.Store(true)
	c.o.Log.Info("the cluster is being watched")
	c.queue.Add(itemDevice)
	c.queue.Add(itemRollout)
	elector, err := c.elector()
	if err != nil {
		return err
	}
	group.Go(func() { c.lead(ctx, elector) })
	group.Go(func() { c.work(ctx) })
	<-ctx.Done()
	c.queue.ShutDownWithDrain()
	return nil
}

// grace is how long a piece of work may take once the controller is to end.
const grace = 5 * time.Second

// work takes one item after the other until the queue is shut down.
func (c *Controller) work(ctx context.Context) {
	// A write that is under way is better finished than cut.
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	for {
		it, closing := c.queue.Get()
		if closing {
			return
		}
		c.handle(work, it)
		c.queue.Done(it)
	}
}

// patience is how long one piece of work may take.
const patience = time.Minute

func (c *Controller) handle(ctx context.Context, it item) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := map[item]func(context.Context) error{
		itemDevice:      c.syncDevice,
		itemRollout:     c.syncRollout,
		itemNodeConfig:  c.syncNodeConfig,
		itemFeatureGate: c.syncFeatureGate,
		itemProbe:       c.syncProbe,
	}[it](ctx)
	c.o.Metrics.synced(it, err)
	if err == nil {
		c.queue.Forget(it)
		return
	}
	c.queue.AddRateLimited(it)
	c.o.Log.WithError(err).WithField("work", string(it)).Warn("nothing has changed; trying again")
}

// Healthy returns nil once the cluster is being watched.
func (c *Controller) Healthy() error {
	if !c.ready.Load() {
		return errors.New("the cluster has not been read yet")
	}
	return nil
}

// slim leaves of a Node what is looked at: a cluster of 500 takes less than a
// megabyte that way. It is an informer's transform.
func slim(obj any) (any, error) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil // a tombstone
	}
	small := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion}}
	if generation, ok := node.Annotations[rollout.Annotation]; ok {
		small.Annotations = map[string]string{rollout.Annotation: generation}
	}
	small.Status.NodeInfo.KubeletVersion = node.Status.NodeInfo.KubeletVersion
	return small, nil
}

// nodeHandler passes on what matters: a kubelet says every few seconds that it
// is alive, which does not.
func (c *Controller) nodeHandler() cache.ResourceEventHandler {
	changed := func(obj any) {
		c.queue.Add(itemRollout)
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil && key == c.o.Node {
			c.queue.Add(itemDevice)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: changed, DeleteFunc: changed,
		UpdateFunc: func(before, after any) {
			a, b := before.(*corev1.Node), after.(*corev1.Node)
			if a.UID != b.UID || nodeOf(a) != nodeOf(b) || a.Annotations[rollout.Annotation] != b.Annotations[rollout.Annotation] {
				changed(after)
			}
		},
	}
}

// onAny returns a handler that adds the items on any event.
func (c *Controller) onAny(items ...item) cache.ResourceEventHandler {
	add := func(any) {
		for _, it := range items {
			c.queue.Add(it)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: add, UpdateFunc: func(_, after any) { add(after) }}
}
