package rollout

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// FilePath is the rollout file of a device, mode 0600, written as durably as
// the lock. When it is missing or can't be read, the zero File counts.
const FilePath = "/var/lib/microshift/feature-gates-rollout.json"

// File is what a device starts with when there is no API server yet: one
// generation and the minimum that was enforced when it was written. The zero
// value is no file: all guarded gates are off.
type File struct {
	Generation        int64
	Enabled, Disabled []string  // sorted
	Minimum           Version   // State.Status
	Time              time.Time // of writing, UTC, to the second; zero: not told. For people only
}

// ErrTwoSets is returned by Advance for a state whose set differs from the
// file's under the same generation, which someone must have edited.
var ErrTwoSets = errors.New("two different sets under one generation")

// ParseFile reads what File.Marshal writes. Unknown fields are tolerated, and
// time may be missing; more than 64 KiB, a field twice, missing or of the
// wrong type, a generation outside 1 to MaxGeneration, a name that no gate can
// have, a gate twice and an enabled gate without a minimum are errors.
func ParseFile(data []byte) (File, error) {
	r, err := parse(data, "generation", "enabled", "disabled", "minimum")
	if err != nil {
		return File{}, fmt.Errorf("feature gate rollout file: %w", err)
	}
	f := File{Generation: r.Generation, Enabled: r.Enabled, Disabled: r.Disabled, Minimum: *r.Minimum}
	if len(f.Enabled) > 0 && f.Minimum.IsZero() {
		return File{}, fmt.Errorf("feature gate rollout file: %s enabled without a minimum", list(f.Enabled))
	}
	if r.Time != nil {
		f.Time = r.Time.UTC()
		if y := f.Time.Year(); y < 0 || y > 9999 { // what RFC 3339 can't write
			return File{}, fmt.Errorf("feature gate rollout file: time of the year %d", y)
		}
	}
	return f, nil
}

// Marshal returns f as JSON. It fails for what ParseFile refuses, so for the
// zero File too.
func (f File) Marshal() ([]byte, error) {
	r := record{Generation: f.Generation, Enabled: f.Enabled, Disabled: f.Disabled, Minimum: &f.Minimum}
	if !f.Time.IsZero() {
		t := f.Time.UTC().Truncate(time.Second)
		r.Time = &t
	}
	data, err := r.marshal()
	if err != nil {
		return nil, err
	}
	if _, err := ParseFile(data); err != nil {
		return nil, err
	}
	return data, nil
}

// Advance returns the file that a device with file f should have once it has
// read s, and whether it is to be written. acknowledged is the highest
// generation that is known to be on a Node, this device's at least; 0: none.
// What s has of an older generation than that or than the file's is ignored, as
// is the zero State: nothing goes back, also when an old ConfigMap was put
// back. A state of the file's generation can only bring another minimum; with
// another set it is ErrTwoSets, and f stays.
//
// A device whose file is gone must not fill in for it from a cache: only a
// state, and then all Nodes, read from the API server itself, after the
// device's own Node was registered, are sure not to be from before a lowering
// that has not waited for this device.
func (f File) Advance(s State, acknowledged int64, now time.Time) (File, bool, error) {
	switch {
	case s.Generation < max(f.Generation, acknowledged) || s.Generation == 0:
		return f, false, nil
	case s.Generation > f.Generation:
	case f.Contradicts(s):
		return f, false, fmt.Errorf("generation %d: %w", s.Generation, ErrTwoSets)
	case s.Status == f.Minimum:
		return f, false, nil
	}
	return File{
		Generation: s.Generation,
		Enabled:    slices.Clone(s.Enabled),
		Disabled:   slices.Clone(s.Disabled),
		Minimum:    s.Status,
		Time:       now.UTC().Truncate(time.Second),
	}, true, nil
}

// Contradicts tells whether f and s have different sets under one generation. A
// device that has or runs such an f must not acknowledge that generation.
func (f File) Contradicts(s State) bool {
	return f.Generation != 0 && f.Generation == s.Generation && !s.sameSet(f.Enabled, f.Disabled)
}

// Same tells whether f and g are the same to a start of MicroShift.
func (f File) Same(g File) bool {
	return f.Generation == g.Generation && f.Minimum == g.Minimum && slices.Equal(f.Enabled, g.Enabled) && slices.Equal(f.Disabled, g.Disabled)
}

// Settings is what one device sets of the guarded gates; all sorted.
type Settings struct {
	Enabled, Disabled []string
	Outside           []string // unknown to this device's Kubernetes or locked by it: set nothing
}

// Apply returns what a device that starts with f sets. A guarded gate is on iff
// f enables it and f's minimum is at least what this device's table requires
// for it. Gates that are not guarded are not taken from a file. A file has the
// same set for devices of all Kubernetes versions, and each leaves alone what its
// own lacks or locks.
func (f File) Apply(guarded []Guard) Settings {
	var s Settings
	for _, g := range strictest(guarded) {
		carried := !f.Minimum.IsZero() && !f.Minimum.Less(g.Requires)
		switch {
		case g.Standing != Settable:
			s.Outside = append(s.Outside, g.Gate)
		case carried && slices.Contains(f.Enabled, g.Gate):
			s.Enabled = append(s.Enabled, g.Gate)
		default:
			s.Disabled = append(s.Disabled, g.Gate)
		}
	}
	return s
}
