// Package lock keeps the lock file: the record that a NoUpgrade feature set
// has been used, by which later starts are judged.
//
// Read and Update are the disk access, Check is the rule, and Explain is the
// text for people. Nothing here logs.
package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"
)

// ErrAbsent says that there is no lock, which is normal on a device that has
// never used a NoUpgrade feature set.
var ErrAbsent = errors.New("no lock file")

// UnusableError says that there is a lock that cannot be understood. It counts
// as a lock, so a start must be refused; it is for people to repair, and this
// package never touches it.
type UnusableError struct {
	Path string
	// Reason continues a sentence that the path begins: "is a directory". It
	// never holds the file's bytes unescaped.
	Reason string
}

func (e *UnusableError) Error() string { return e.Path + " " + e.Reason }

// Lock is the content of a lock file. A Lock that was read keeps the fields
// that this package does not know, at every level; they survive a rewrite.
// Comments do not.
type Lock struct {
	Section
	// Version is the version that the device is locked to.
	Version Version
	// History tells what happened, oldest first. It is empty in a lock that
	// MicroShift itself wrote.
	History []Entry

	doc *yaml.Node // the mapping as read, for its unknown fields; nil for a new lock
}

// Entry is one event in the history of a lock.
type Entry struct {
	Time    time.Time `json:"time,omitzero"` // in UTC, to the second; zero where unknown
	Version string    `json:"version"`       // running at that time, as written
	Change  string    `json:"change"`        // what happened, for people

	Added   Gates `json:"added,omitzero"`
	Removed Gates `json:"removed,omitzero"`
	// CountsAgainstUpgrade holds the gates that were set without a support
	// exception until this change. They may have left their mark in the data,
	// so each needs an exception before the version may change.
	CountsAgainstUpgrade Lists `json:"countsAgainstUpgrade,omitzero"`

	doc *yaml.Node // as read, for its unknown fields
}

// maxHistory is the number of entries that a lock keeps. Beyond it the oldest
// are folded into one, which keeps all their gates.
const maxHistory = 50

// fold returns one entry that stands for a and the later b. Unknown fields of
// the same name are a's.
func fold(a, b Entry) Entry {
	f := Entry{
		Time:                 a.Time,
		Version:              a.Version,
		Change:               "several changes, the last one at " + b.Time.Format(time.RFC3339),
		Added:                a.Added.union(b.Added),
		Removed:              a.Removed.union(b.Removed),
		CountsAgainstUpgrade: a.CountsAgainstUpgrade.union(b.CountsAgainstUpgrade),
		doc:                  &yaml.Node{Kind: yaml.MappingNode},
	}
	for _, e := range []Entry{a, b} {
		if e.doc != nil {
			f.doc.Content = append(f.doc.Content, e.doc.Content...)
		}
	}
	return f
}

// record returns history with e at its end, within maxHistory.
func record(history []Entry, e Entry) []Entry {
	out := append(history[:len(history):len(history)], e)
	for len(out) > maxHistory {
		out = append([]Entry{fold(out[0], out[1])}, out[2:]...)
	}
	return out
}

// Read reads the lock at path. The error is ErrAbsent where there is none, an
// *UnusableError where there is something else than a lock, and any other
// error where it could not be read.
func Read(path string) (*Lock, error) {
	dir, err := openDirectory(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrAbsent)
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readAt(dir, path)
}
