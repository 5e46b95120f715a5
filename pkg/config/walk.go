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

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

const ext = ".yaml"

// hasOtherSpelling reports whether name ends almost in .yaml: in .yml or in
// another case.
func hasOtherSpelling(name string) bool {
	e := filepath.Ext(name)
	return e != ext && (strings.EqualFold(e, ext) || strings.EqualFold(e, ".yml"))
}

// besideConfig warns of files next to the main file that look like it.
func (r *reader) besideConfig() {
	dir, main := filepath.Split(r.paths.Config)
	dir = filepath.Clean(dir)
	host, err := r.paths.HostPath(dir)
	var entries []fs.DirEntry
	var info fs.FileInfo
	if err == nil {
		entries, info, err = entriesOf(host, MaxEntries)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		r.failed(dir, err)
		return
	}
	r.checkWritable(dir, info)
	stem := strings.TrimSuffix(main, ext)
	for _, e := range entries {
		name := e.Name()
		looksMain := strings.EqualFold(strings.TrimSuffix(name, filepath.Ext(name)), stem) && name != main
		if looksMain && (hasOtherSpelling(name) || filepath.Ext(name) == ext) {
			r.report(diag.Warning, "not-read", filepath.Join(dir, name), "not read: the configuration file is "+main,
				fmt.Sprintf("rename it to %s, or remove it", main))
		}
	}
}

// entriesOf returns what is in a directory, sorted by name, and no more than most
// entries of it, since a directory can have any number of them.
func entriesOf(host string, most int) ([]fs.DirEntry, fs.FileInfo, error) {
	f, err := os.OpenFile(host, os.O_RDONLY|syscall.O_DIRECTORY, 0) // so that a named pipe does not block
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, info, err
}

// walk reads the drop-ins.
func (r *reader) walk() {
	dir := r.paths.Dir
	host, err := r.paths.lstatPath(dir)
	if err != nil {
		r.failed(dir, err)
		return
	}
	info, err := os.Lstat(host)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		r.report(diag.Warning, "dir-link", dir, "config.d is a symbolic link: its drop-ins count here, but MicroShift itself does not follow the link",
			"make it a real directory, so that both see the same")
		if host, err = r.paths.HostPath(dir); err == nil {
			if host, err = filepath.EvalSymlinks(host); err == nil {
				info, err = os.Lstat(host)
			}
		}
		if isMissing(err) {
			r.missing(dir)
			return
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		r.failed(dir, err)
		return
	case !info.IsDir():
		r.report(diag.Warning, "not-read", dir, "not read: this is no directory", "remove it, and put drop-ins into a directory of this name")
		return
	}
	r.directory(host, "")
}

// directory visits all that is below a directory whose path below Dir is rel.
// The order is that of filepath.WalkDir, which MicroShift uses; that reads all
// names of a directory, however many there are. It returns false to end the walk.
func (r *reader) directory(host, rel string) bool {
	name := filepath.Join(r.paths.Dir, rel)
	entries, info, err := entriesOf(host, MaxEntries-r.entries+1)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed in between
		return true
	case err != nil:
		r.failed(name, err)
		return true
	}
	r.checkWritable(name, info)
	// Those that still wait for their turn count too, so that directories in
	// directories do not add up.
	if r.entries += len(entries); r.entries > MaxEntries {
		r.report(diag.Error, "limit-files", r.paths.Dir, fmt.Sprintf("more than %d entries below the directory", MaxEntries),
			"remove what is not configuration")
		return false
	}
	for _, e := range entries {
		below := filepath.Join(rel, e.Name())
		if e.IsDir() {
			if !r.directory(filepath.Join(host, e.Name()), below) {
				return false
			}
		} else if !r.visit(filepath.Join(r.paths.Dir, below), below, e) {
			return false
		}
	}
	return true
}

// linkedDirectory warns of a link to a directory, which the walk does not enter.
func (r *reader) linkedDirectory(name string, e fs.DirEntry) {
	if e.Type()&fs.ModeSymlink == 0 {
		return
	}
	host, err := r.paths.HostPath(name)
	if err != nil {
		return
	}
	if info, err := os.Stat(host); err == nil && info.IsDir() {
		r.report(diag.Warning, "not-read", name, "not read: links to directories are not followed",
			"put the files here, or link each of them")
	}
}

// visit handles one entry that is no directory; rel is its path below Dir. It
// returns false to end the walk.
func (r *reader) visit(name, rel string, e fs.DirEntry) bool {
	switch base := filepath.Base(name); {
	case hasOtherSpelling(base):
		r.report(diag.Warning, "not-read", name, fmt.Sprintf("not read: only files that end in %s are", ext),
			fmt.Sprintf("rename it to %s, or remove it", diag.Printable(strings.TrimSuffix(base, filepath.Ext(base))+ext)))
		return true
	case filepath.Ext(base) != ext:
		r.linkedDirectory(name, e)
		return true
	case strings.HasPrefix(base, ".#") && e.Type()&fs.ModeSymlink != 0:
		r.report(diag.Warning, "link-skipped", name, "an editor's lock; skipped", "close the editor, or remove the link")
		return true
	}
	if r.full {
		return false
	}
	if len(r.files) >= r.maxFiles {
		r.report(diag.Error, "limit-files", r.paths.Dir, fmt.Sprintf("more than %d %s files", r.maxFiles, ext), "merge drop-ins into fewer files")
		return false
	}
	before := len(r.files)
	r.file(name)
	if len(r.files) > before {
		r.surprising(name, rel)
	}
	return true
}

// backup matches names, without .yaml, that people give to copies which they
// mean to put aside. "off" and "disabled" count only as endings of their own,
// since 20-off.yaml may well be meant to be read.
var backup = pattern(`(?i)(^|[._~( -])(bak|backup|old|orig|original|save|saved|rpmsave|rpmnew|rpmorig|dpkg-old|dpkg-dist|copy|tmp|swp)[._~ \d()-]*$|[._](off|disabled)$|~$|^#|\.ya?ml`)

// surprising warns of a file that was read although its name makes people
// think that it is not.
func (r *reader) surprising(name, rel string) {
	base := strings.TrimSuffix(filepath.Base(rel), ext)
	reason := ""
	switch {
	case strings.HasPrefix(rel, ".") || strings.Contains(rel, "/."):
		reason = "hidden files are read too"
	case strings.Contains(rel, "/"):
		reason = "sub-directories are read too"
	case backup().MatchString(base):
		reason = "it ends in .yaml, so it is no backup"
	default:
		return
	}
	r.report(diag.Warning, "read-too", name, "this file counts: "+reason,
		"if it is not meant to, move it out of "+diag.PrintableFile(r.paths.Dir)+" or change its ending")
}
