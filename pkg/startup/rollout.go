package startup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sirupsen/logrus"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// RolloutState is what a start finds of the rollout by minimum kubelet version,
// and makes of it. Its zero value is a device without one.
type RolloutState struct {
	// Path is the rollout file's path on the device.
	Path string
	// Active reports whether the guarded gates are in the rollout's hands: a
	// minimum is configured, or there is a rollout file.
	Active bool
	// File is the rollout file; zero where there is none or it can't be used.
	File rollout.File
	// Unusable says why the file can't be used; nil where it can or is absent.
	Unusable error
	// Unread says which files of the rollout this user may not read; nil where
	// all could be. It is nothing to a start.
	Unread error
	// Configured is the configured minimum, none where it is not valid.
	Configured rollout.Version
	// Settings is what the rollout makes of the guarded gates on this device.
	Settings rollout.Settings
	// Started is what MicroShift was started with last; nil where that is not
	// known. It is from before this start.
	Started *rollout.File
	// Seen is what the controller saw of the cluster last; nil where it has not
	// left anything since the boot.
	Seen *rollout.Seen
}

// Enforced returns the minimum that kube-apiserver has to enforce: the one of
// the file. Where a file is there that can't be used, it is the configured one:
// other nodes may have gates on that rest on it, so that it must not be relaxed
// until the file is back. Without a file there is none, since nobody knows
// whether any node has registered yet.
func (s RolloutState) Enforced() rollout.Version {
	if s.Unusable != nil {
		return s.Configured
	}
	return s.File.Minimum
}

// RestartNeeded reports whether a restart of MicroShift would take another
// generation or minimum than the one it was started with.
func (s RolloutState) RestartNeeded() bool {
	return s.Started != nil && (s.Started.Generation != s.File.Generation || s.Started.Minimum != s.File.Minimum)
}

// RestartChanges returns the guarded gates that a restart would turn on and
// off, sorted; none where it is not known what MicroShift was started with.
func (s RolloutState) RestartChanges(guarded []rollout.Guard) (on, off []string) {
	if s.Started == nil {
		return nil, nil
	}
	before, after := s.Started.Apply(guarded).Enabled, s.File.Apply(guarded).Enabled
	added := func(from, to []string) []string {
		return slices.DeleteFunc(slices.Clone(to), func(gate string) bool { return slices.Contains(from, gate) })
	}
	return added(before, after), added(after, before)
}

// readRollout finds out what is on the disk. Nothing that is wrong with it
// stops a start.
func (o Options) readRollout() RolloutState {
	s := RolloutState{Path: o.Rollout}
	if o.Rollout == "" || o.Started == "" {
		return s
	}
	host, err := o.host(o.Rollout)
	if err == nil {
		s.File, err = rollout.ReadFile(host)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.Active, s.Unusable = true, withoutPath(err)
	}
	s.forbidden(o.Rollout, err)
	if host, err = o.host(o.Started); err == nil {
		started, err := rollout.ReadStarted(host)
		if err == nil {
			s.Started = &started
		}
		s.forbidden(o.Started, err)
		seen, err := rollout.ReadSeen(filepath.Join(filepath.Dir(host), rollout.SeenName))
		if err == nil {
			s.Seen = &seen
		}
		s.forbidden(filepath.Join(filepath.Dir(o.Started), rollout.SeenName), err)
	}
	return s
}

// forbidden notes a file that this user may not read.
func (s *RolloutState) forbidden(name string, err error) {
	if errors.Is(err, fs.ErrPermission) {
		s.Unread = errors.Join(s.Unread, unread(name, err))
	}
}

// forgive takes it that a start, which is root's, could use the rollout file
// although this user may not read it.
func (s *RolloutState) forgive() {
	if errors.Is(s.Unusable, fs.ErrPermission) {
		s.Active, s.Unusable = false, nil
	}
}

// decide completes what is known, by the configuration and the Kubernetes that
// starts. It returns what the rollout says of each gate that is in its hands.
func (s *RolloutState) decide(cfg *config.Config, reg *gates.Registry) map[string]bool {
	configured, err := rollout.ParseMinimum(cfg.FeatureGates.MinimumKubeletVersion.V)
	if err == nil && !configured.IsZero() {
		s.Configured, s.Active = configured, true
	}
	if !s.Active {
		return nil
	}
	s.Settings = s.File.Apply(rollout.DefaultGuards(rollout.StandingIn(reg)))
	guarded := map[string]bool{}
	for _, name := range s.Settings.Enabled {
		guarded[name] = true
	}
	for _, name := range s.Settings.Disabled {
		guarded[name] = false
	}
	return guarded
}

// diagnostics are warnings, never errors: without its file a rollout has all
// gates off, which is safe.
func (s *RolloutState) diagnostics(cfg *config.Config) diag.List {
	switch {
	case s.Unusable != nil:
		return diag.List{{Severity: diag.Warning, Code: "rollout-unusable", Pos: diag.Position{File: s.Path},
			Message: fmt.Sprintf("the rollout file can't be used, so that all gates of the rollout are off: %v", s.Unusable),
			Hint:    "leave it, microshift-feature-gates-controller writes it anew from the cluster; until then the configured minimum is enforced"}}
	case s.Unread != nil:
		return nil // the error says it
	case s.Active && s.File.Generation == 0:
		m := cfg.FeatureGates.MinimumKubeletVersion.Origin
		return diag.List{{Severity: diag.Warning, Code: "rollout-missing", Pos: m.Pos, Path: m.Path,
			Message: fmt.Sprintf("the minimum kubelet version %s is not rolled out yet: there is no %s", s.Configured, s.Path),
			Hint:    "microshift-feature-gates-controller writes it once every kubelet is new enough; until then the gates of the rollout are off and nothing is enforced"}}
	}
	return nil
}

// beyondReach warns of a minimum that the kubelet of this very device does not
// have, such as a version of MicroShift by mistake.
func beyondReach(cfg *config.Config, reg *gates.Registry) diag.List {
	m := cfg.FeatureGates.MinimumKubeletVersion
	minimum, err := rollout.ParseMinimum(m.V)
	next := rollout.V(uint64(reg.Version().Major()), uint64(reg.Version().Minor())+1, 0)
	if err != nil || minimum.Less(next) {
		return nil
	}
	return diag.List{{Severity: diag.Warning, Code: "minimum-beyond-reach", Pos: m.Origin.Pos, Path: m.Origin.Path,
		Message: fmt.Sprintf("the minimum kubelet version %s is above this device's own kubelet, which is of Kubernetes %s", m.V, reg.Version()),
		Hint:    "it is a version of Kubernetes, not of MicroShift; the gates of the rollout stay off until this device is updated"}}
}

// bySystemd reports whether it was systemd that has run this very process, as
// the variable SYSTEMD_EXEC_PID tells (systemd.exec(5), since systemd 248). Its
// INVOCATION_ID would not do: all that a service runs has one, and that is also
// the shell of who logs in on the console.
func bySystemd() bool {
	return os.Getenv("SYSTEMD_EXEC_PID") == strconv.Itoa(os.Getpid())
}

// recordStart leaves what MicroShift starts with, for the controller, which
// acknowledges it on the Node. Without the record the rollout only waits, so
// that no start fails of it. A check by hand starts nothing, so that it leaves
// what the running MicroShift has recorded.
func (out *Outcome) recordStart() {
	o, s := out.Options, out.Rollout
	if !s.Active && s.Started == nil {
		return
	}
	if !o.BySystemd {
		o.Log.Infof("this is not recorded in %s as a start of MicroShift: systemd did not run it", o.Started)
		return
	}
	host, err := o.host(o.Started)
	if err == nil {
		err = rollout.WriteStarted(host, s.File)
	}
	if err != nil {
		o.Log.WithError(err).Warnf("cannot record the generation in %s; the rollout will wait for this node", o.Started)
	}
}

func (out *Outcome) logRollout() {
	s := out.Rollout
	if !s.Active {
		return
	}
	out.Options.Log.WithFields(logrus.Fields{
		"generation": s.File.Generation, "configured": s.Configured.String(), "enforced": s.Enforced().String(),
		"on": s.Settings.Enabled, "off": s.Settings.Disabled, "leftAlone": s.Settings.Outside,
	}).Info("rollout by minimum kubelet version")
}
