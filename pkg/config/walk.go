package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

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
	if err != nil {
		r.failed(dir, err)
		return
	}
	entries, err := os.ReadDir(host)
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		r.failed(dir, err)
		return
	}
	if info, err := os.Stat(host); err == nil {
		r.checkWritable(dir, info)
	}
	stem := strings.TrimSuffix(main, ext)
	for _, e := range entries {
		name := e.Name()
		isMain := strings.EqualFold(strings.TrimSuffix(name, filepath.Ext(name)), stem) && name != main
		if isMain && (hasOtherSpelling(name) || filepath.Ext(name) == ext) {
			r.warn("not-read", filepath.Join(dir, name), "not read: the configuration file is "+main,
				fmt.Sprintf("rename it to %s, or remove it", main))
		}
	}
}

// walk reads the drop-ins.
func (r *reader) walk() {
	link, err := r.paths.onHost(r.paths.Dir)
	if err != nil {
		r.failed(r.paths.Dir, err)
		return
	}
	info, err := os.Lstat(link)
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		r.failed(r.paths.Dir, err)
		return
	}
	host := link
	if info.Mode()&fs.ModeSymlink != 0 {
		r.warn("dir-link", r.paths.Dir, "config.d is a symbolic link: its drop-ins count here, but MicroShift itself does not follow the link",
			"make it a real directory, so that both see the same")
		if host, err = r.resolveDir(); err != nil {
			r.failed(r.paths.Dir, err)
			return
		}
	}
	_ = filepath.WalkDir(host, func(path string, e fs.DirEntry, err error) error { // every error is in r.errs
		rel, _ := filepath.Rel(host, path)
		return r.visit(filepath.Join(r.paths.Dir, rel), rel, e, err)
	})
}

// resolveDir follows the link that Dir is.
func (r *reader) resolveDir() (string, error) {
	host, err := r.paths.HostPath(r.paths.Dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(host)
}

// visit handles one entry of the walk; rel is its path below Dir.
func (r *reader) visit(name, rel string, e fs.DirEntry, err error) error {
	if err != nil {
		r.failed(name, err)
		return nil
	}
	if r.entries++; r.entries > MaxEntries {
		r.limit("limit-files", r.paths.Dir, fmt.Sprintf("more than %d entries below the directory", MaxEntries),
			"remove what is not configuration")
		return fs.SkipAll
	}
	if e.IsDir() {
		if info, err := e.Info(); err == nil {
			r.checkWritable(name, info)
		}
		return nil
	}
	switch base := filepath.Base(name); {
	case hasOtherSpelling(base):
		r.warn("not-read", name, fmt.Sprintf("not read: only files that end in %s are", ext),
			fmt.Sprintf("rename it to %s, or remove it", diag.Printable(strings.TrimSuffix(base, filepath.Ext(base))+ext)))
		return nil
	case filepath.Ext(base) != ext:
		return nil
	case strings.HasPrefix(base, ".#") && e.Type()&fs.ModeSymlink != 0:
		r.warn("link-skipped", name, "an editor's lock; skipped", "close the editor, or remove the link")
		return nil
	}
	if len(r.files) >= MaxFiles {
		r.limit("limit-files", r.paths.Dir, fmt.Sprintf("more than %d %s files", MaxFiles, ext), "merge drop-ins into fewer files")
		return fs.SkipAll
	}
	before := len(r.files)
	r.file(name)
	if len(r.files) > before {
		r.surprising(name, rel)
	}
	return nil
}

// backup matches names that people give to copies they mean to put aside.
var backup = regexp.MustCompile(`(?i)(^|[._~ -])(bak|backup|old|orig|original|save|saved|rpmsave|rpmnew|rpmorig|dpkg-old|dpkg-dist|copy|disabled|off|tmp|swp)[._~ \d()-]*$|~$|^#|\.yaml`)

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
	case backup.MatchString(base):
		reason = "it ends in .yaml, so it is no backup"
	default:
		return
	}
	r.warn("read-too", name, "this file counts: "+reason,
		"if it is not meant to, move it out of "+r.paths.Dir+" or change its ending")
}
