package main

import (
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/microshift-io/microshift-feature-gates/pkg/controller"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/publish"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// options says what the controller works with, from the device's configuration.
// It is read once: MicroShift reads it once as well, and systemd restarts this
// service along with it.
func (a *app) options(log logrus.FieldLogger) (controller.Options, error) {
	version, err := a.runningVersion()
	if err != nil {
		return controller.Options{}, err
	}
	out, err := startup.Look(startup.DefaultOptions(a.root, version))
	if err != nil {
		log.WithError(err).Warn("the configuration can't be read; the minimum kubelet version stays as it is")
	}
	o := controller.Options{
		Node:      a.node,
		File:      filepath.Join(a.root, rollout.FilePath),
		Started:   filepath.Join(a.root, rollout.StartedPath),
		Restarted: filepath.Join(a.root, filepath.Dir(rollout.StartedPath), "restarted.json"),
		Seen:      filepath.Join(a.root, filepath.Dir(rollout.StartedPath), rollout.SeenName),
		Quiet:     a.quiet, Delay: a.delay, Probe: controller.Probe,
		Now: time.Now, Log: log, Metrics: controller.NewMetrics(),
	}
	if a.elect {
		o.Election = &a.election
	}
	if a.restart {
		o.Restart = restartMicroShift
	}
	if out.Result == nil {
		return o, nil
	}
	o.Guarded = rollout.DefaultGuards(rollout.StandingIn(out.Result.Registry()))
	if refusal := out.Refusal(); err != nil || refusal != nil {
		if refusal != nil {
			log.WithError(refusal).Warn("MicroShift would not start with this configuration; the minimum kubelet version stays as it is, and nothing is published")
		}
		return o, nil
	}
	if minimum, err := rollout.ParseMinimum(out.Config.FeatureGates.MinimumKubeletVersion.V); err == nil {
		o.Minimum = &minimum
	}
	o.Since = since(out.Result)
	o.FeatureGate, err = publish.FeatureGate(out.Result, version.String(), version.Major)
	return o, err
}

// runningVersion returns the version of the flag, or else the one that
// MicroShift has left with its data when it started.
func (a *app) runningVersion() (lock.Version, error) {
	if a.version != "" {
		v, err := lock.ParseVersion(a.version)
		if err != nil {
			return v, usageError{err}
		}
		return v, nil
	}
	return lock.ReadDataVersion(filepath.Join(a.root, "var/lib/microshift/version"))
}

// since returns the first Kubernetes version of each gate that the
// configuration switches on.
func since(r *resolve.Result) map[string]rollout.Version {
	first := map[string]rollout.Version{}
	for _, s := range r.Settings {
		if s.Enabled && s.Reason != resolve.Required {
			first[s.Gate.Name] = firstVersion(s.Gate)
		}
	}
	return first
}

// firstVersion is none where it is not known.
func firstVersion(g gates.Gate) rollout.Version {
	v, err := rollout.ParseMinimum(g.Since + ".0")
	if g.Since == "" || err != nil {
		return rollout.Version{}
	}
	return v
}
