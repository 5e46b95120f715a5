// Package controller carries a rollout through a cluster. One runs on each
// device: it keeps the device's rollout file up to date and acknowledges on its
// Node what MicroShift was started with. The one that holds the Lease also
// decides the next step, by package rollout, and tells the cluster about it.
package controller

import (
	"context"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/sirupsen/logrus"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// Namespace and Name are those of the ConfigMap that holds the rollout, and of
// the Lease.
const (
	Namespace = "kube-system"
	Name      = "microshift-feature-gates"
)

// The keys of the ConfigMap. Both hold JSON.
const (
	stateKey      = "state"      // rollout.State
	conditionsKey = "conditions" // []metav1.Condition
)

// Options says what a controller works with. Each field is used as it is; none
// has a default.
type Options struct {
	Kubernetes kubernetes.Interface
	Dynamic    dynamic.Interface // for the objects of config.openshift.io

	Node    string           // name of this device's Node
	Minimum *rollout.Version // configured; nil where the configuration can't be used: what the cluster has stays
	Guarded []rollout.Guard
	// Since has the gates that the configuration enables, each with the first
	// Kubernetes version that knows it.
	Since map[string]rollout.Version
	// FeatureGate is published where its resource is installed; nil: nothing is.
	FeatureGate *configv1.FeatureGate

	File      string // path of the rollout file
	Started   string // path of what MicroShift was started with
	Restarted string // path for what a restart was asked for
	Seen      string // path of what people are told on the device
	// Restart restarts MicroShift; nil: that is left to people.
	Restart func(context.Context) error

	// Election is how the leader is elected; nil: this controller leads.
	Election *Election
	// Quiet is how long conditions must have stayed the same before they are
	// written, and Delay how long they may keep changing before they are.
	Quiet, Delay time.Duration
	// Probe is how often the cluster is asked for resources of
	// config.openshift.io that it lacks.
	Probe time.Duration

	Now     func() time.Time
	Log     logrus.FieldLogger
	Metrics *Metrics
}

// Election has the three times of client-go's leader election.
type Election struct {
	Identity                            string
	LeaseDuration, RenewDeadline, Retry time.Duration
}

// The usual times. The Lease is the one thing that is written when nothing
// changes, so it is renewed as rarely as OpenShift does on a single node
// (openshift/library-go, pkg/config/leaderelection, LeaderElectionSNOConfig).
// A leader that shuts down hands it over at once, and one that comes back after
// a crash still holds it. Nothing is unsafe meanwhile, only later.
const (
	LeaseDuration = 270 * time.Second
	RenewDeadline = 240 * time.Second
	RetryPeriod   = 60 * time.Second
)

// The usual values of Options.
const (
	Quiet = 10 * time.Second
	Delay = time.Minute
	Probe = 10 * time.Minute
)
