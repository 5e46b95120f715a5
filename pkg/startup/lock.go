package startup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
)

// LockState is what a start finds at the lock's path.
type LockState struct {
	// Path is the lock's path on the device.
	Path string
	// Lock is the lock as found, before this start changed it; nil where there
	// is none or it can't be used.
	Lock *lock.Lock
	// Unusable says why the lock can't be used; nil where it can or is absent.
	Unusable *lock.UnusableError
	// Unread says why it could not be read, so that it is not known whether
	// there is one; nil where it could.
	Unread error
	// Verdict is what the lock says to this start; the zero value where it
	// can't be used.
	Verdict lock.Verdict
}

// String returns "absent", "held", "blocked", "unusable" or "unknown". A lock
// that a start is about to write is absent until then.
func (s LockState) String() string {
	switch {
	case s.Unread != nil:
		return "unknown"
	case s.Unusable != nil:
		return "unusable"
	case s.Lock == nil:
		return "absent"
	case s.Verdict.Refused():
		return "blocked"
	default:
		return "held"
	}
}

// Current returns the lock as it is after this start; nil where there is none.
func (s LockState) Current() *lock.Lock {
	if s.Verdict.Next != nil {
		return s.Verdict.Next
	}
	return s.Lock
}

// takeLock judges the lock and, where the start may go on, writes what is to
// be written, as one step against other starts.
func (out *Outcome) takeLock(ctx context.Context) error {
	if out.configurationRejected() {
		return out.lookAtLock()
	}
	host, err := out.Options.host(out.Options.Lock)
	if err != nil {
		return err
	}
	before := slices.Clone(out.Diagnostics)
	err = lock.Update(host, func(current *lock.Lock) (*lock.Lock, error) {
		out.Diagnostics = slices.Clone(before) // another start may have come between
		out.judge(current)
		if len(out.Diagnostics.Errors()) > 0 {
			return nil, nil
		}
		return out.Lock.Verdict.Next, ctx.Err()
	})
	if err := out.unusable(err); err != nil {
		return fmt.Errorf("without a lock no feature gate is applied: %w", err)
	}
	return nil
}

// lookAtLock judges the lock and leaves it alone.
func (out *Outcome) lookAtLock() error {
	host, err := out.Options.host(out.Options.Lock)
	if err != nil {
		return err
	}
	current, err := lock.Read(host)
	if errors.Is(err, lock.ErrAbsent) {
		current, err = nil, nil
	}
	if err == nil {
		out.judge(current)
	}
	if err = out.unusable(err); err != nil {
		out.Lock.Unread = unread(out.Lock.Path, err)
	}
	return out.Lock.Unread
}

// unusable turns the error that there is no usable lock into a diagnostic.
func (out *Outcome) unusable(err error) error {
	var unusable *lock.UnusableError
	if !errors.As(err, &unusable) {
		return err
	}
	out.Lock.Unusable = &lock.UnusableError{Path: out.Lock.Path, Reason: unusable.Reason}
	out.reportLock(diag.Error, "lock-unusable", fmt.Sprintf("the lock %s %s", out.Lock.Path, unusable.Reason),
		"put it back from a backup, or wipe the device: microshift-cleanup-data --all")
	return nil
}

func (out *Outcome) reportLock(s diag.Severity, code, message, hint string) {
	out.Diagnostics = append(out.Diagnostics, diag.Diagnostic{Severity: s, Code: code,
		Pos: diag.Position{File: out.Lock.Path}, Message: message, Hint: hint})
	out.Diagnostics.Sort()
}

// judge checks the configuration against a lock; current is nil where there is none.
func (out *Outcome) judge(current *lock.Lock) {
	o := out.Options
	verdict := lock.Check(current, lock.SectionOf(out.Config.FeatureGates), o.Version, o.Policy, o.Now())
	out.Lock.Lock, out.Lock.Verdict = current, verdict
	if out.configurationRejected() {
		return
	}
	set := out.Config.FeatureGates.FeatureSet
	switch {
	case verdict.Kind == lock.RefusedSetChanged && current.FeatureSet == gates.CustomNoUpgrade:
		// A preview set on a device of CustomNoUpgrade is a mistake in the
		// configuration, as it is for MicroShift, which has no preview sets.
		out.Diagnostics = append(out.Diagnostics, diag.Diagnostic{Severity: diag.Error, Code: "feature-set-locked",
			Pos: set.Origin.Pos, Path: set.Origin.Path,
			Message: fmt.Sprintf("%s can't be used: %s locks this device to %s since %s", set.V, o.Lock, current.FeatureSet, current.Version),
			Hint:    "put featureSet: " + current.FeatureSet + " and its lists back"})
		out.Diagnostics.Sort()
	case verdict.Refused():
		out.reportLock(diag.Error, "lock-mismatch", verdict.Summary(o.Lock), wayBack(verdict)+", or wipe the device (microshift-cleanup-data --all)")
	case verdict.Kind == lock.Changed:
		out.reportLock(diag.Warning, "lock-changed", verdict.Summary(o.Lock),
			"what a removed gate left in the cluster stays, whether the gate is on or off")
	case verdict.Kind == lock.Created:
		out.checkData()
	}
}

// checkData warns of data of another version that has no lock.
func (out *Outcome) checkData() {
	o := out.Options
	host, err := o.host(o.DataVersion)
	if err != nil {
		return
	}
	data, err := lock.ReadDataVersion(host)
	if err != nil || data.Compare(o.Version) == 0 {
		return
	}
	out.reportLock(diag.Warning, "lock-missing",
		fmt.Sprintf("the data is of MicroShift %s (%s), and has no lock: one may have been removed; the new lock begins at %s", data, o.DataVersion, o.Version),
		"if feature gates were used before, this device is past an upgrade that is not supported: wipe it when you can")
}

// wayBack tells what has to be as it was, for the lock to let a start go on.
func wayBack(v lock.Verdict) string {
	set := "put featureSet: " + diag.Printable(v.Lock.FeatureSet) + " back"
	if v.Lock.FeatureSet == gates.CustomNoUpgrade {
		set = "put featureSet: " + v.Lock.FeatureSet + " and its lists back"
	}
	version := "go back to MicroShift " + v.Lock.Version.String()
	switch {
	case v.Kind == lock.RefusedVersion:
		return version
	case v.VersionBlocked:
		return set + ", and " + version
	default:
		return set
	}
}

// lockCodes are the diagnostics that come from the lock, not from the configuration.
var lockCodes = []string{"lock-mismatch", "lock-unusable", "lock-changed", "lock-missing"}

// configurationRejected reports whether the configuration alone stops a start.
func (out *Outcome) configurationRejected() bool {
	return slices.ContainsFunc(out.Diagnostics.Errors(), func(d diag.Diagnostic) bool {
		return !slices.Contains(lockCodes, d.Code)
	})
}
