package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	securejoin "github.com/cyphar/filepath-securejoin"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// Limits on what is read, so that no configuration can exhaust the device.
const (
	MaxFileBytes  = 1 << 20  // of one file
	MaxTotalBytes = 32 << 20 // of all files together
	MaxFiles      = 10_000   // .yaml files
	MaxEntries    = 100_000  // directory entries of any name
	MaxNesting    = 100      // levels of mappings and lists in one file
	MaxAliasBytes = 1 << 20  // that the aliases of one file expand to
	MaxValues     = 1 << 19  // mappings, lists and scalars of all files together
	MaxNames      = 1_000    // gates in one list, or in kubelet.featureGates
	MaxNameBytes  = 256      // of a gate's name
)

// Paths says where the configuration is.
type Paths struct {
	// Root is put before every path, and links are followed below it, as
	// chroot(2) would: the root of a mounted image or an unpacked sosreport.
	// Empty means "/".
	Root string
	// Config is the main file, and Dir the directory of drop-ins.
	Config, Dir string
}

// DefaultPaths returns MicroShift's own paths below root.
func DefaultPaths(root string) Paths {
	return Paths{Root: root, Config: "/etc/microshift/config.yaml", Dir: "/etc/microshift/config.d"}
}

// File is a configuration file that was read.
type File struct {
	Name string // the path as on the device, without Paths.Root
	Data []byte
}

// Read reads the configuration in the order in which MicroShift does: Config,
// then every *.yaml file below Dir in the lexical order of a directory walk,
// hidden files and sub-directories included. What is missing is not an error,
// but for Root.
//
// The list holds what is noteworthy about the files themselves: limits that
// are exceeded (errors), files that look as if they were read but are not, and
// the other way round (warnings). The error joins one error for each file or
// directory that could not be read, and says of the rest how many there are;
// the other files are returned all the same.
func Read(paths Paths) ([]File, diag.List, error) {
	r := reader{paths: paths, maxFiles: MaxFiles}
	r.read()
	return r.files, r.diags, r.err()
}

type reader struct {
	paths    Paths
	maxFiles int // MaxFiles, but for tests
	files    []File
	total    int // bytes so far
	entries  int // directory entries so far
	full     bool
	diags    diag.List
	errs     []error // the first maxErrors
	failures int     // how many there are in all
}

// maxErrors is for how many files it is said that they could not be read: all
// of a directory can be of one kind.
const maxErrors = 100

// err returns what could not be read.
func (r *reader) err() error {
	if more := r.failures - len(r.errs); more > 0 {
		return errors.Join(append(r.errs, fmt.Errorf("cannot read %d more", more))...)
	}
	return errors.Join(r.errs...)
}

func (r *reader) read() {
	if !r.paths.onDevice() {
		if _, err := os.Stat(r.paths.Root); err != nil {
			r.failed(r.paths.Root, err)
			return
		}
	}
	r.besideConfig()
	r.file(r.paths.Config)
	r.walk()
	r.diags.Sort()
}

func (r *reader) report(s diag.Severity, code, name, message, hint string) {
	r.diags = append(r.diags, diag.Diagnostic{Severity: s, Code: code,
		Pos: diag.Position{File: name}, Message: message, Hint: hint})
}

// failed records that name could not be read. A path of the host in the error
// is left out, since name is the one on the device.
func (r *reader) failed(name string, err error) {
	if pathErr := new(fs.PathError); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	if r.failures++; r.failures <= maxErrors {
		r.errs = append(r.errs, fmt.Errorf("cannot read %s: %w", diag.PrintableFile(name), err))
	}
}

// HostPath returns where the file of a device path is on this host, with every
// link on the way resolved below Root.
func (p Paths) HostPath(name string) (string, error) {
	if p.onDevice() {
		return name, nil
	}
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return "", err
	}
	return securejoin.SecureJoin(root, name)
}

// onDevice reports whether the paths are those of the running system.
func (p Paths) onDevice() bool { return p.Root == "" || p.Root == "/" }

// lstatPath is HostPath without following the last element.
func (p Paths) lstatPath(name string) (string, error) {
	dir, err := p.HostPath(filepath.Dir(name))
	return filepath.Join(dir, filepath.Base(name)), err
}

// isMissing reports whether err says that a path or a link leads nowhere.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// file reads one file, which may be a link.
func (r *reader) file(name string) {
	host, err := r.paths.HostPath(name)
	var data []byte
	var info fs.FileInfo
	if err == nil {
		data, info, err = readRegular(host, MaxFileBytes)
	}
	switch {
	case isMissing(err):
		r.missing(name)
		return
	case errors.Is(err, errTooLarge):
		r.report(diag.Error, "limit-file-size", name, fmt.Sprintf("the file is larger than %d bytes (1 MiB)", MaxFileBytes),
			"split it, or remove what is not configuration")
		return
	case err != nil:
		r.failed(name, err)
		return
	}
	if r.total += len(data); r.total > MaxTotalBytes {
		r.full = true
		r.report(diag.Error, "limit-total-size", name,
			fmt.Sprintf("with this file the configuration exceeds %d bytes (32 MiB) in all; no further file is read", MaxTotalBytes),
			"remove drop-ins that are not needed")
		return
	}
	r.checkWritable(name, info)
	r.files = append(r.files, File{Name: name, Data: data})
}

// missing tells a link that leads nowhere from a file that is not there.
func (r *reader) missing(name string) {
	host, err := r.paths.lstatPath(name)
	if err != nil {
		return
	}
	if _, err := os.Lstat(host); err == nil {
		r.report(diag.Warning, "link-skipped", name, "the link leads nowhere; skipped", "remove the link, or put its target back")
	}
}

var errTooLarge = errors.New("file too large")

// readRegular reads a regular file of at most limit bytes. Stat comes before
// open, since opening a device can have side effects (a watchdog starts), and
// again after it, on the descriptor, since the name may have changed hands.
// O_NONBLOCK keeps a named pipe from blocking the open.
func readRegular(host string, limit int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(host)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, notRegular(info.Mode())
	} else if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(host, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, nil, notRegular(info.Mode())
	case info.Size() > limit:
		return nil, nil, errTooLarge
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, nil, errTooLarge
		case err == io.EOF:
			return data, info, nil
		case err != nil:
			return nil, nil, err
		case len(data) == cap(data):
			data = slices.Grow(data, len(data)+512)
		}
	}
}

func notRegular(mode fs.FileMode) error {
	kind := "not a regular file"
	switch {
	case mode.IsDir():
		kind = "is a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "is a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "is a socket"
	case mode&fs.ModeDevice != 0:
		kind = "is a device"
	}
	return errors.New(kind)
}

// checkWritable warns of a file or directory that others than root can write.
// Owner and group count only on the device itself: in an unpacked sosreport,
// everything belongs to whoever unpacked it.
func (r *reader) checkWritable(name string, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	ok = ok && r.paths.onDevice()
	var who, hint string
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		who, hint = "everybody", "chmod go-w "
	case ok && mode&0o020 != 0 && st.Gid != 0:
		who, hint = fmt.Sprintf("its group (gid %d)", st.Gid), "chmod go-w "
	case ok && st.Uid != 0:
		who, hint = fmt.Sprintf("its owner (uid %d)", st.Uid), "chown root: "
	default:
		return
	}
	r.report(diag.Warning, "writable", name,
		who+" can write it, and so decide about this device's feature gates", hint+shellWord(name))
}

// shellWord returns a file name as a word for a shell; one that does not print
// as itself only shows what it is.
func shellWord(name string) string {
	switch {
	case diag.PrintableFile(name) != name:
		return diag.PrintableFile(name)
	case strings.ContainsAny(name, " '`$&|;<>()*?[]{}#~!"):
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
