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
	// NoLock and NoConfiguration say that the device had none, as "show" said
	// there. Without that, what is not in the report may be on the device.
	NoLock, NoConfiguration bool
	// Starts are those that the journals tell of, oldest first.
	Starts []Start
	// Notes say what is missing, odd or left out. That an archive is cut off
	// comes first.
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
	maxEntries  = 1 << 20   // files, directories and links
	maxTotal    = 8 << 30   // bytes, uncompressed; and bytes of all journals
	maxFile     = 1<<20 + 1 // bytes kept of one file; a configuration file may have 1 MiB
	maxKept     = 48 << 20  // bytes kept of all files together
	maxFiles    = 20_000    // files kept
	maxTold     = 100       // files with what a command said
	maxLine     = 64 << 10  // bytes of one journal line; the rest of it is dropped
	maxJournals = 1_000     // journals
	maxStarts   = 10_000    // starts, in all journals
	maxText     = 64 << 20  // bytes of the lines that tell of starts, in all journals
	maxDetails  = 1_000     // gates, files and problems of each start
	maxReason   = 4 << 10   // bytes of a reason, before its last line
	maxPasses   = 4         // through an archive, to find what links point to
)

// limits has those that tests make smaller.
type limits struct {
	entries, journals, starts int
	total, text               int64
}

var standard = limits{entries: maxEntries, journals: maxJournals, starts: maxStarts, total: maxTotal, text: maxText}

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
	limits limits
	report Report
	have   map[string]bool // what there is of the lock and the configuration
	cut    string          // that the archive is cut off; empty where it is not

	told                      int    // files with what a command said
	said, saidBy, dataVersion string // versions, and the file that tells the first

	journals int       // seen
	read     int64     // bytes of journals
	starts   [][]Start // of each journal that has any
	begun    int       // starts, more of which are left out than the limit
	text     int64     // bytes of the lines that tell of them
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
	told            // it has what a command said of the device
	log             // it may tell of starts
)

const (
	lockFile    = "var/lib/microshift/no-upgrade"
	dataVersion = "var/lib/microshift/version"
	mainConfig  = "etc/microshift/config.yaml"
	dropIns     = "etc/microshift/config.d"
	shown       = "microshift-feature-gates_show_-o_json" // as sos names what the command says
)

var deviceFiles = []string{
	lockFile, dataVersion, "var/lib/microshift/feature-gates-rollout.json",
	"run/microshift-feature-gates/started.json", "run/microshift-feature-gates/cluster.json",
	"var/lib/microshift-backups/prerun_failed.log", "run/ostree-booted",
	"etc/sysconfig/microshift-feature-gates",
}

// purposeOf tells what the file at a clean path is good for.
func purposeOf(name string) purpose {
	base := path.Base(name)
	switch {
	case slices.Contains(deviceFiles, name), within(name, "etc/microshift"):
		return device
	case within(name, "sos_commands") && (strings.HasPrefix(base, "microshift_version") || base == shown):
		return told
	case (within(name, "sos_commands") || within(name, "sos_strings")) && strings.Contains(base, "journalctl_"):
		return log
	case path.Dir(name) == "var/log" && (strings.HasPrefix(base, "messages") || strings.HasPrefix(base, "syslog")):
		return log
	}
	return nothing
}

func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// found remembers that the report has the lock, or a file of the configuration.
func (c *collector) found(name string) {
	if c.have == nil {
		c.have = map[string]bool{}
	}
	switch {
	case name == lockFile, name == mainConfig:
		c.have[name] = true
	case name == dropIns, path.Dir(name) == dropIns && strings.HasSuffix(name, ".yaml"):
		c.have[dropIns] = true // in an archive, only a link has the name of the directory itself
	}
}

// finish puts together what was read, and says what is missing.
func (c *collector) finish() {
	r := &c.report
	r.Starts = timeline(c.starts)
	c.tellVersion()
	if !c.have[mainConfig] && !c.have[dropIns] && !r.NoConfiguration {
		c.note("the report has no configuration of MicroShift: neither /%s nor a drop-in in /%s", mainConfig, dropIns)
	}
	if !c.have[lockFile] && !r.NoLock {
		c.note("the report has no lock: the device has none, or the sos plugin of this product was not installed (sos itself leaves /%s out)", lockFile)
	}
	switch {
	case c.journals == 0:
		c.note("the report has no journal in text form, so it can't tell of any start")
	case len(r.Starts) == 0:
		c.note("no journal in the report tells of a start that checked feature gates")
	}
	if left := c.journals - c.limits.journals; left > 0 {
		c.note("the report has more than %d journals; the last %d are left out", c.limits.journals, left)
	}
	if left := c.begun - c.limits.starts; left > 0 {
		c.note("the journals tell of more than %d starts; the last %d are left out", c.limits.starts, left)
	}
	if c.text > c.limits.text {
		c.note("the journals tell more than %d bytes of starts; the rest is left out", c.limits.text)
	}
	if c.cut != "" {
		r.Notes = slices.Insert(r.Notes, 0, c.cut)
	}
}

// notThere reports whether err says that a file does not exist.
func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }
