package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// elector returns client-go's elector, nil without an election.
//
// The Lease keeps two controllers from telling people the same things and from
// writing in turn what two configurations say. That no two sets ever go under
// one generation does not hang on it, but on every write of the ConfigMap being
// refused that has not seen the last one.
func (c *Controller) elector() (*leaderelection.LeaderElector, error) {
	e := c.o.Election
	if e == nil {
		return nil, nil
	}
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: Name,
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: Namespace, Name: Name},
			Client:     c.o.Kubernetes.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
		},
		LeaseDuration:   e.LeaseDuration,
		RenewDeadline:   e.RenewDeadline,
		RetryPeriod:     e.Retry,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.setLeads(true) },
			OnStoppedLeading: func() { c.setLeads(false) },
			OnNewLeader: func(identity string) {
				c.o.Log.WithField("leader", identity).Info("the leader is known")
			},
		},
	})
}

// lead stands for election until ctx ends, again and again: the API server may
// be away for longer than a lease lasts.
func (c *Controller) lead(ctx context.Context, elector *leaderelection.LeaderElector) {
	if elector == nil {
		c.setLeads(true)
		return
	}
	for ctx.Err() == nil {
		elector.Run(ctx)
	}
}

func (c *Controller) setLeads(leads bool) {
	if c.leads.Swap(leads) == leads {
		return
	}
	c.o.Metrics.setLeads(leads)
	if !leads {
		c.o.Log.Info("no longer the leader")
		return
	}
	c.o.Log.Info("this controller leads")
	c.queue.Add(itemRollout)
	c.queue.Add(itemProbe)
}
