// Package sosreport reads what a sosreport holds of feature gates: the
// configuration, the lock, and the starts of MicroShift that the journals
// tell of.
//
// A sosreport comes from a stranger's machine, so nothing in it is trusted:
// archives are read as a stream, within limits; links are never followed out
// of it; and only the few files that a start reads are put on the disk, below
// a directory of their own. What is missing or odd is a note, not an error.
package sosreport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Report is what a sosreport holds. Close it after use.
type Report struct {
	// Root is the directory that stands for the root of the device: the
	// sosreport itself, or a temporary directory that holds the configuration
	// and the lock out of an archive.
	Root string
	// Version is the version of MicroShift as the report has it, and
	// VersionFrom the file that says so; both are empty where none does.
	Version, VersionFrom string
	// Starts are those that the journals tell of, oldest first.
	Starts []Start
	// Notes say what is missing, odd or left out.
	Notes []string

	temporary string // to remove; empty for none
}

// Close removes what Open has unpacked.
func (r *Report) Close() error {
	if r.temporary == "" {
		return nil
	}
	return os.RemoveAll(r.temporary)
}

// Limits on what is read of one sosreport. Real ones stay far below.
const (
	maxEntries = 1 << 20   // files, directories and links
	maxTotal   = 8 << 30   // bytes, uncompressed
	maxMemory  = 512 << 20 // bytes in use while unpacking
	maxFile    = 1<<20 + 1 // bytes kept of one file; a configuration file may have 1 MiB
	maxKept    = 48 << 20  // bytes kept of all files together
	maxFiles   = 20_000    // files kept
	maxLine    = 64 << 10  // bytes of one journal line; the rest of it is dropped
	maxStarts  = 10_000    // starts, of each journal
	maxDetails = 1_000     // gates, files and problems of each start
	maxPasses  = 4         // through an archive, to find what links point to
)

// limits has those that tests make smaller.
type limits struct {
	entries       int
	total, memory int64
}

var standard = limits{entries: maxEntries, total: maxTotal, memory: maxMemory}

// ErrLimit says that a sosreport is larger than any real one, and was not
// read to its end.
var ErrLimit = errors.New("too large")

// Open reads a sosreport: a directory, or an archive in the format tar, be it
// compressed with xz or gzip. The error says why it could not be read at all.
func Open(ctx context.Context, name string) (*Report, error) { return open(ctx, name, standard) }

func open(ctx context.Context, name string, l limits) (*Report, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	c := &collector{limits: l}
	if info.IsDir() {
		err = c.directory(ctx, name)
	} else {
		err = c.archive(ctx, name, info)
	}
	if err != nil {
		return nil, errors.Join(err, c.report.Close())
	}
	c.finish()
	return &c.report, nil
}

// collector gathers a report.
type collector struct {
	limits   limits
	report   Report
	journals []*journal
	versions map[string]string // path to text, of files that tell the version
	have     map[string]bool   // what there is of the files that every report should have
}

func (c *collector) note(format string, args ...any) {
	const enough = 100
	switch len(c.report.Notes) {
	case enough:
		c.report.Notes = append(c.report.Notes, "… and more")
	default:
		c.report.Notes = append(c.report.Notes, fmt.Sprintf(format, args...))
	case enough + 1:
	}
}

// What the files of a report are good for, by their paths in it.
type purpose int

const (
	nothing purpose = iota
	device          // the start reads it
	version         // it tells the version of MicroShift
	log             // it may tell of starts
)

const (
	lockFile    = "var/lib/microshift/no-upgrade"
	dataVersion = "var/lib/microshift/version"
	mainConfig  = "etc/microshift/config.yaml"
	dropIns     = "etc/microshift/config.d"
)

var deviceFiles = []string{
	lockFile, dataVersion, "var/lib/microshift/feature-gates-rollout.json",
	"run/microshift-feature-gates/started.json", "run/microshift-feature-gates/cluster.json",
	"var/lib/microshift-backups/prerun_failed.log", "run/ostree-booted",
}

// purposeOf tells what the file at a clean path is good for.
func purposeOf(name string) purpose {
	base := path.Base(name)
	switch {
	case slices.Contains(deviceFiles, name), within(name, "etc/microshift"):
		return device
	case within(name, "sos_commands") && strings.HasPrefix(base, "microshift_version"):
		return version
	case (within(name, "sos_commands") || within(name, "sos_strings")) && strings.Contains(base, "journalctl_"):
		return log
	case path.Dir(name) == "var/log" && (strings.HasPrefix(base, "messages") || strings.HasPrefix(base, "syslog")):
		return log
	}
	return nothing
}

func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// found remembers that the report has a file that it should have.
func (c *collector) found(name string) {
	if c.have == nil {
		c.have = map[string]bool{}
	}
	switch {
	case name == lockFile, name == dataVersion, name == mainConfig, name == dropIns:
		c.have[name] = true
	case within(name, dropIns):
		c.have[dropIns] = true
	}
}

// finish puts together what was read, and says what is missing.
func (c *collector) finish() {
	c.tellVersion()
	var all [][]Start
	for _, j := range c.journals {
		if len(j.starts) > 0 {
			all = append(all, j.starts)
		}
	}
	c.report.Starts = timeline(all)
	if !c.have[mainConfig] && !c.have[dropIns] {
		c.note("the report has no configuration of MicroShift: neither /%s nor a drop-in in /%s", mainConfig, dropIns)
	}
	if !c.have[lockFile] {
		c.note("the report has no lock: the device has none, or the sos plugin of this product was not installed (sos itself leaves /%s out)", lockFile)
	}
	switch {
	case len(c.journals) == 0:
		c.note("the report has no journal in text form, so it can't tell of any start")
	case len(c.report.Starts) == 0:
		c.note("no journal in the report tells of a start that checked feature gates")
	}
}

// notThere reports whether err says that a file does not exist.
func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }
