// Package startup is what MicroShift embeds: from configuration files to the
// feature gates of each component, or a refusal.
package startup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// Options says what to start with. DefaultOptions fills it in; each field that
// is left at its zero value means just that.
type Options struct {
	// Paths is where the configuration is. Its Root also goes before the
	// other paths below, which are paths on the device.
	Paths config.Paths
	// Lock is the path of the lock.
	Lock string
	// DataVersion is the file in which MicroShift records the version of the data.
	DataVersion string
	// FailureLog is the file in which a refusal is left for greenboot.
	FailureLog string
	// Rollout is the path of the rollout file, and Started that of the record of
	// what MicroShift was started with, which is gone after a boot.
	Rollout, Started string
	// BySystemd is whether systemd has run this process to start MicroShift. Run
	// records in Started only such a start: after any other MicroShift may run
	// with something else.
	BySystemd bool
	// Version is the version of MicroShift that is starting.
	Version lock.Version
	// Policy says which version changes a lock lets through; the zero value, none.
	Policy lock.Policy
	// Now is the clock for the lock's history.
	Now func() time.Time
	// Log gets the account of a start. Look does not use it.
	Log logrus.FieldLogger
}

// DefaultOptions returns MicroShift's own paths below root ("" for none), the
// standard logger and clock, and what the environment says about systemd.
func DefaultOptions(root string, running lock.Version) Options {
	return Options{
		Paths:       config.DefaultPaths(root),
		Lock:        "/var/lib/microshift/no-upgrade",
		DataVersion: "/var/lib/microshift/version",
		FailureLog:  "/var/lib/microshift-backups/prerun_failed.log",
		Rollout:     rollout.FilePath,
		Started:     rollout.StartedPath,
		BySystemd:   bySystemd(),
		Version:     running,
		Now:         time.Now,
		Log:         logrus.StandardLogger(),
	}
}

// Outcome is everything that a start finds out.
type Outcome struct {
	Options Options
	// Files are the configuration files that were read, in merge order.
	Files []config.File
	// Unconfigured reports that there is no configuration file at all, not even
	// one that could not be read.
	Unconfigured bool
	Config       *config.Config
	Result       *resolve.Result
	Lock         LockState
	// Rollout is about the gates that depend on a minimum kubelet version.
	Rollout RolloutState
	// Diagnostics holds every problem with the configuration and the lock.
	Diagnostics diag.List
	// Unread says what could not be read, so that it is not known what a start
	// with it would do; nil where everything could be.
	Unread error
	// Image reports whether the system is an ostree or bootc image, which may
	// roll back by itself.
	Image bool
}

// Look finds out what a start would, and changes nothing.
//
// The error is not nil when something could not be read, such as what only root
// may read. The outcome is not nil even then, and holds what could be.
func Look(o Options) (*Outcome, error) {
	state := o.readRollout()
	state.forgive()
	out, err := load(o, state)
	out.Unread = errors.Join(err, out.lookAtLock(), state.Unread)
	return out, out.Unread
}

// Run is one start: it reads the configuration, decides what it means, checks
// and where need be writes the lock, and logs all of it. Only when the error
// is nil may MicroShift start, with the gates of Outcome.Result.
//
// The error is a *Refusal when the configuration or the lock stops the start;
// otherwise something could not be read or written. The outcome is never nil.
// A start that fails changes nothing on disk but FailureLog. One by systemd that
// goes on records in Started which rollout it has taken, where there is one.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	out, err := load(o, o.readRollout())
	if err == nil {
		err = out.takeLock(ctx)
	} else {
		err = errors.Join(err, out.lookAtLock())
	}
	if err == nil {
		err = out.refusal()
	}
	out.log(err)
	if err == nil {
		out.recordStart()
	}
	out.leaveFailure(err)
	return out, err
}

// Check judges the given files as the whole configuration, without the lock,
// without a rollout and without touching the disk. The error is not nil only if
// the embedded data is damaged.
func Check(o Options, files []config.File) (*Outcome, error) {
	return check(o, files, nil)
}

// check is Check with a rollout, as it was found on the disk, or nil.
func check(o Options, files []config.File, state *RolloutState) (*Outcome, error) {
	cfg, diags := config.Merge(files)
	out := &Outcome{Options: o, Files: files, Config: cfg, Diagnostics: diags, Lock: LockState{Path: o.Lock}}
	kube, exact := gates.KubernetesFor(o.Version.Major, o.Version.Minor)
	reg, have, err := gates.ForVersion(kube)
	if err != nil {
		return out, err
	}
	if !exact || !have {
		out.Diagnostics = append(out.Diagnostics, diag.Diagnostic{Severity: diag.Warning, Code: "kubernetes-version-unknown",
			Message: fmt.Sprintf("it is not known which Kubernetes MicroShift %s contains; taking the feature gates of %s", o.Version, reg.Version()),
			Hint:    "update microshift-feature-gates together with MicroShift"})
	}
	var guarded map[string]bool
	if state != nil {
		guarded = state.decide(cfg, reg)
		out.Rollout = *state
		out.Diagnostics = append(out.Diagnostics, state.diagnostics(cfg)...)
	}
	if exact && have {
		out.Diagnostics = append(out.Diagnostics, beyondReach(cfg, reg)...)
	}
	result, problems, err := resolve.GatesUnder(cfg, reg, o.Version.Major, guarded)
	out.Result = result
	if len(diags.Errors()) > 0 {
		// A section that could not be understood is not an empty one.
		problems = slices.DeleteFunc(problems, func(d diag.Diagnostic) bool { return d.Code == "custom-empty" })
	}
	out.Diagnostics = append(out.Diagnostics, problems...)
	out.Diagnostics.Sort()
	return out, err
}

// load reads the configuration and judges it, with what was found of a rollout.
func load(o Options, state RolloutState) (*Outcome, error) {
	files, problems, readErr := config.Read(o.Paths)
	out, err := check(o, files, &state)
	out.Unconfigured = len(files) == 0 && readErr == nil && problems.Err() == nil
	out.Image = o.exists("/run/ostree-booted")
	out.Diagnostics = append(out.Diagnostics, problems...)
	out.Diagnostics.Sort()
	return out, errors.Join(readErr, err)
}

// host returns where a device path is on this host.
func (o Options) host(name string) (string, error) {
	dir, err := o.Paths.HostPath(filepath.Dir(name))
	return filepath.Join(dir, filepath.Base(name)), err
}

// unread is the error that a file of the device could not be read. The path on
// the host is left out.
func unread(name string, err error) error {
	return fmt.Errorf("cannot read %s: %w", name, withoutPath(err))
}

// withoutPath returns what went wrong, without the path at which it did.
func withoutPath(err error) error {
	if pathErr := new(fs.PathError); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func (o Options) exists(name string) bool {
	host, err := o.host(name)
	if err != nil {
		return false
	}
	_, err = os.Stat(host)
	return !errors.Is(err, fs.ErrNotExist)
}
