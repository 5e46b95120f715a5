package lock

import (
	"fmt"
	"time"
)

// Policy says which version changes a package allows with a lock. The zero
// value is PolicyNone.
type Policy int

// The policies.
const (
	PolicyNone    Policy = iota // none
	PolicyZStream               // those of the patch number alone
)

// String returns "none" or "z-stream".
func (p Policy) String() string {
	switch p {
	case PolicyNone:
		return "none"
	case PolicyZStream:
		return "z-stream"
	default:
		return fmt.Sprintf("Policy(%d)", int(p))
	}
}

// ParsePolicy reads "none" or "z-stream".
func ParsePolicy(text string) (Policy, error) {
	for _, p := range []Policy{PolicyNone, PolicyZStream} {
		if text == p.String() {
			return p, nil
		}
	}
	return PolicyNone, fmt.Errorf("unknown upgrade policy %s: it is none or z-stream", quote(text))
}

// Kind is what a start finds.
type Kind int

// The kinds from RefusedRemoved on stop the start.
const (
	None              Kind = iota // neither a lock nor a feature set
	Created                       // a feature set is used for the first time
	Held                          // the lock and the configuration agree
	Changed                       // the set is the same, the gates in it are not
	MovedByException              // the version differs, and every gate is exempt
	MovedByPolicy                 // the patch number differs, and the policy allows that
	RefusedRemoved                // there is a lock, and no feature set
	RefusedSetChanged             // there is a lock of another feature set
	RefusedVersion                // there is a lock of another version
)

var kindNames = [...]string{
	None: "none", Created: "created", Held: "held", Changed: "changed",
	MovedByException: "moved-by-exception", MovedByPolicy: "moved-by-policy",
	RefusedRemoved: "refused-removed", RefusedSetChanged: "refused-set-changed", RefusedVersion: "refused-version",
}

// String returns the kind in lower case, such as "refused-version".
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Verdict is what Check decides, with what it has compared.
type Verdict struct {
	Kind    Kind
	Lock    *Lock   // as found; nil where there is none
	Now     Section // what the configuration asks for
	Running Version

	// Next is the lock to write before a gate is used; nil to leave the disk as it is.
	Next *Lock
	// Added and Removed are what the configuration has and the lock lacks, and
	// the reverse. Both are empty while the feature sets differ.
	Added, Removed Gates
	// Blocking holds the gates that keep the version from changing: those that
	// are or were set without a support exception, and have none now.
	Blocking Lists
	// VersionBlocked reports that the version differs in a way that is not
	// allowed, also where the start is refused for another reason.
	VersionBlocked bool
}

// Refused reports whether the start must stop.
func (v Verdict) Refused() bool { return v.Kind >= RefusedRemoved }

// Check judges a start: l is the lock, nil for none; now and running are the
// configuration and the version of this start; at is recorded in the history.
// It changes none of them.
//
//   - The feature set may not be removed nor changed to another.
//   - The gates of CustomNoUpgrade may change. Of any other set only the name
//     counts.
//   - The version may not change, unless the policy is z-stream and only the
//     patch number differs, or the set is CustomNoUpgrade and every gate is
//     exempt. Suffixes of versions do not count.
//
// Every gate is exempt when the configuration lists at least one gate under
// specialHandlingSupportExceptionRequired, and lists there each gate that is
// under its customNoUpgrade, or is or ever was set without an exception
// according to the lock and its history. A gate counts with its value: an
// exception for enabling it does not cover that it was disabled once. A gate
// that was never set without an exception does not block when it is gone.
//
// A lock that MicroShift itself wrote does not record exceptions, so all of its
// gates count as set without one.
func Check(l *Lock, now Section, running Version, p Policy, at time.Time) Verdict {
	now.Gates = now.normal()
	if now.FeatureSet != customNoUpgrade {
		now.Gates = Gates{}
	}
	v := Verdict{Lock: l, Now: now, Running: running}
	if l == nil {
		if now.FeatureSet != "" {
			v.Kind, v.Added = Created, now.Gates
			v.Next = v.next("locked", at)
		}
		return v
	}
	sameSet := now.FeatureSet == l.FeatureSet
	exempt := false
	if l.FeatureSet == customNoUpgrade {
		wanted := l.normal() // what putting the configuration back would give
		if sameSet {
			v.Added, v.Removed = now.minus(wanted), wanted.minus(now.Gates)
			wanted = now.Gates
		}
		v.Blocking = blocking(l, wanted)
		exempt = v.Blocking.IsZero() && !wanted.Exceptions.IsZero()
	}
	moved := running.Compare(l.Version) != 0
	patchOnly := running.Major == l.Version.Major && running.Minor == l.Version.Minor
	allowed := p == PolicyZStream && patchOnly
	v.VersionBlocked = moved && !exempt && !allowed
	switch {
	case now.FeatureSet == "":
		v.Kind = RefusedRemoved
	case !sameSet:
		v.Kind = RefusedSetChanged
	case v.VersionBlocked:
		v.Kind = RefusedVersion
	case moved && exempt:
		v.Kind = MovedByException
		v.Next = v.next(fmt.Sprintf("moved from %s by support exception", l.Version), at)
	case moved:
		v.Kind = MovedByPolicy
		v.Next = v.next(fmt.Sprintf("moved from %s by upgrade policy %s", l.Version, p), at)
	case !v.Added.IsZero() || !v.Removed.IsZero():
		v.Kind = Changed
		v.Next = v.next("gates changed", at)
	default:
		v.Kind = Held
	}
	return v
}

// blocking returns the gates that need an exception and have none when the
// configuration is g.
func blocking(l *Lock, g Gates) Lists {
	counted := g.CustomNoUpgrade.union(l.normal().unexempted())
	for _, e := range l.History {
		counted = counted.union(e.CountsAgainstUpgrade)
	}
	return counted.minus(g.Exceptions)
}

// next returns the lock after this start, with the start in its history.
func (v Verdict) next(change string, at time.Time) *Lock {
	e := Entry{
		Time:    at.UTC().Truncate(time.Second),
		Version: v.Running.String(),
		Change:  change,
		Added:   v.Added,
		Removed: v.Removed,
	}
	if v.Lock == nil {
		return &Lock{Section: v.Now, Version: v.Running.release(), History: []Entry{e}}
	}
	next := *v.Lock
	if v.Kind != Changed {
		next.Version = v.Running.release()
	}
	if next.FeatureSet == customNoUpgrade {
		e.CountsAgainstUpgrade = next.normal().unexempted().minus(v.Now.unexempted())
		next.Gates = v.Now.Gates
	}
	next.History = record(next.History, e)
	return &next
}
