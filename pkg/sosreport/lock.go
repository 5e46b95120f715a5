package sosreport

import (
	"strconv"
	"strings"
	"time"
)

// heldLock is what a start said of the lock of the device.
type heldLock struct {
	told                bool // it said something
	featureSet, version string
	since               time.Time
}

const (
	lockHistory = "lock history"
	noLock      = "there is no lock"
)

// lockSummary is in what a start says of a lock that it keeps or has created.
var lockSummary = pattern(`locks this device to feature set ("(?:[^"\\]|\\.)*") (?:and|since) MicroShift ([^\s;]+)`)

// takeLock takes an entry about the lock.
func (s *Start) takeLock(e entry) {
	h := heldLock{told: true, since: s.held.since}
	if m := lockSummary().FindStringSubmatch(e.msg); m != nil {
		h.featureSet, _ = strconv.Unquote(m[1])
		h.version = m[2]
	} else if e.fields["featureSet"] != "" {
		h.featureSet, h.version = e.fields["featureSet"], e.fields["version"]
	} else if !strings.HasSuffix(e.msg, noLock) {
		h.featureSet, h.version = s.FeatureSet, s.MicroShift // it has moved to this start's
	}
	s.held = h
}

// takeHistory takes an item of the lock's history; the oldest comes first.
func (s *Start) takeHistory(e entry) {
	if at, err := time.Parse(time.RFC3339, e.fields["when"]); err == nil && s.held.since.IsZero() {
		s.held.since = at.UTC()
	}
}

// LockTold says in words what the last start that tells of the lock tells, for
// a report that does not have the lock itself; empty where none does.
func (r *Report) LockTold() string {
	s := r.lastThat(func(s Start) bool { return s.held.told })
	switch h := s.held; {
	case !h.told:
		return ""
	case h.featureSet == "":
		return "the last start that tells of it had none" + s.day(", on ")
	default:
		return "the starts below tell of one: " + h.featureSet + ", " + h.version + Start{Time: h.since}.day(", since ")
	}
}

// ConfigurationTold says in words what the last start that tells of the
// configuration tells, as LockTold does of the lock.
func (r *Report) ConfigurationTold() string {
	s := r.lastThat(func(s Start) bool { return s.complete && s.MicroShift != "" })
	set := "no feature set"
	if s.FeatureSet != "" {
		set = s.FeatureSet
	}
	switch {
	case !s.complete:
		return ""
	case len(s.Files) == 0:
		return "the last start that tells of it had none" + s.day(", on ")
	default:
		return "the starts below tell of one: " + set + s.day(", last on ")
	}
}

// lastThat returns the last start of which something is true, or none.
func (r *Report) lastThat(is func(Start) bool) Start {
	for i := len(r.Starts) - 1; i >= 0; i-- {
		if is(r.Starts[i]) {
			return r.Starts[i]
		}
	}
	return Start{}
}

// day returns the day of a start behind a text; nothing where it is unknown.
func (s Start) day(text string) string {
	if s.Time.IsZero() {
		return ""
	}
	return text + s.Time.Format(time.DateOnly)
}
