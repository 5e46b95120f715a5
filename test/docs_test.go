// Package test has the tests of the repository as a whole: its documents say
// what the program does, and its packages import what they may.
package test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The convention of the examples is described in docs/development.md,
// "Examples in documents".

var update = flag.Bool("update", false, "write what is printed into the documents, instead of comparing")

// TestExamples runs every example of every document.
func TestExamples(t *testing.T) {
	binary := build(t)
	for _, d := range documents(t) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			r := &runner{t: t, binary: binary, doc: d}
			for _, p := range d.parts {
				r.part(p)
			}
			if r.changed {
				r.save()
			}
		})
	}
}

// build builds the command, once.
func build(t *testing.T) string {
	t.Helper()
	path, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildOnce = sync.OnceValues(func() (string, error) {
	out, err := makeTarget("build", "OUTPUT="+buildDir, "RELEASE=1.0.0", "COMMANDS=./cmd/microshift-feature-gates")
	if err != nil {
		return "", fmt.Errorf("make build: %w\n%s", err, out)
	}
	return filepath.Join(buildDir, "bin", "microshift-feature-gates"), nil
})

// makeTarget runs make, and keeps from it what an outer make has in the
// environment.
func makeTarget(args ...string) ([]byte, error) {
	cmd := exec.Command("make", append([]string{"-s", "-C", ".."}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") })
	return cmd.CombinedOutput()
}

var buildDir string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if buildDir, err = os.MkdirTemp("", "docs-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}

// runner goes through one document.
type runner struct {
	t       *testing.T
	binary  string
	doc     document
	device  *device
	each    string // version of the new device at each heading; empty for none
	changed bool
}

func (r *runner) errorf(p part, format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s:%d: %s", r.doc.name, p.line, fmt.Sprintf(format, args...))
}

func (r *runner) part(p part) {
	switch p.kind {
	case heading:
		if r.each != "" {
			r.device = newDevice(r.t, r.binary, r.each)
		}
	case comment:
		if version, ok := strings.CutPrefix(p.text, "device: MicroShift "); ok {
			r.device = newDevice(r.t, r.binary, version)
		} else if version, ok := strings.CutPrefix(p.text, "device at each heading: MicroShift "); ok {
			r.each = version
			r.device = newDevice(r.t, r.binary, version)
		}
	case block:
		r.block(p)
	}
}

func (r *runner) block(p part) {
	info := append(p.info, "", "")
	kind, what := info[0], info[1]
	switch {
	case kind == "console" && what == "not-run":
	case kind == "go" && strings.HasSuffix(what, ".go"):
		r.excerpt(p, what, info[2])
	case r.device == nil:
		r.errorf(p, "no device to run it on: a comment such as <!-- device: MicroShift 5.0.0 --> must come first")
	case kind == "console":
		r.console(p)
	case strings.HasPrefix(what, "/"):
		r.device.write(what, strings.Join(p.content, "\n")+"\n")
	default:
		r.errorf(p, "this block is neither run nor marked as one that can't be: %q", strings.Join(p.info, " "))
	}
}

// shellCommand is a command of a console block, with what it prints.
type shellCommand struct {
	lines, prints []string
}

func commands(content []string) []shellCommand {
	var list []shellCommand
	more := false
	for _, line := range content {
		if text, ok := strings.CutPrefix(line, "$ "); ok || more {
			if !more {
				list = append(list, shellCommand{})
			}
			last := &list[len(list)-1]
			last.lines = append(last.lines, line)
			more = strings.HasSuffix(text, `\`)
		} else if len(list) > 0 {
			last := &list[len(list)-1]
			last.prints = append(last.prints, line)
		}
	}
	return list
}

const askExitCode = "$ echo $?"

func (r *runner) console(p part) {
	want := 0
	for _, word := range p.info[1:] {
		if _, err := fmt.Sscanf(word, "exit=%d", &want); err != nil {
			r.errorf(p, "%q: want exit=CODE", word)
		}
	}
	list := commands(p.content)
	if len(list) == 0 {
		r.errorf(p, "a console block without a command")
	}
	var content []string
	for i, c := range list {
		got := r.device.run(c.lines)
		if !equalLines(got, c.prints) {
			if !*update {
				r.errorf(p, "%s prints something else:\n%s\nIf that is right now: go test ./test -update", c.lines[0], difference(got, c.prints))
			}
			if slices.ContainsFunc(c.prints, isEllipsis) {
				if *update {
					r.errorf(p, "%s prints something else, and a line … must be put in by hand:\n%s", c.lines[0], difference(got, c.prints))
				}
			} else {
				c.prints, r.changed = got, true
			}
		}
		content = append(append(content, c.lines...), c.prints...)
		last := i == len(list)-1
		switch code := r.device.exit; {
		case last && code != want:
			r.errorf(p, "%s: exit code %d, want %d:\n%s", c.lines[0], code, want, strings.Join(got, "\n"))
		case !last && code != 0 && list[i+1].lines[0] != askExitCode:
			r.errorf(p, "%s: exit code %d, and no %q follows:\n%s", c.lines[0], code, askExitCode, strings.Join(got, "\n"))
		}
	}
	r.replace(p, content)
}

// excerpt demands that a block is a part of a function in a Go file.
func (r *runner) excerpt(p part, file, function string) {
	data, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		r.errorf(p, "%v", err)
		return
	}
	lines := body(strings.Split(string(data), "\n"), function)
	for i := range len(lines) - len(p.content) + 1 {
		if slices.Equal(lines[i:i+len(p.content)], p.content) {
			return
		}
	}
	r.errorf(p, "not in func %s of %s; copy the lines from there", function, file)
}

// body returns the lines of a function's body without their indentation.
func body(lines []string, function string) []string {
	start := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "func "+function+"(") })
	if start < 0 {
		return nil
	}
	var list []string
	for _, line := range lines[start+1:] {
		if line == "}" {
			break
		}
		list = append(list, strings.TrimPrefix(line, "\t"))
	}
	return list
}

// replace puts other lines into a block; save writes them.
func (r *runner) replace(p part, content []string) {
	for i := range r.doc.parts {
		if r.doc.parts[i].line == p.line {
			r.doc.parts[i].content = content
		}
	}
}

// save writes the document with its blocks as they are now.
func (r *runner) save() {
	if !*update {
		return
	}
	var b strings.Builder
	next := 0
	for _, p := range r.doc.parts {
		if p.kind != block {
			continue
		}
		for ; next < p.line; next++ {
			b.WriteString(r.doc.lines[next] + "\n")
		}
		for _, line := range p.content {
			b.WriteString(strings.TrimRight(p.indent+line, " ") + "\n")
		}
		for r.doc.lines[next] != p.indent+"```" {
			next++
		}
	}
	b.WriteString(strings.Join(r.doc.lines[next:], "\n"))
	if err := os.WriteFile(filepath.Join("..", r.doc.name), []byte(b.String()), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// equalLines compares what was printed with a document. A line … there stands
// for any number of lines. White space at the end of lines does not count.
func equalLines(got, doc []string) bool {
	for len(doc) > 0 && !isEllipsis(doc[0]) {
		if len(got) == 0 || strings.TrimRight(got[0], " ") != strings.TrimRight(doc[0], " ") {
			return false
		}
		got, doc = got[1:], doc[1:]
	}
	if len(doc) == 0 {
		return len(got) == 0
	}
	for i := range len(got) + 1 {
		if equalLines(got[i:], doc[1:]) {
			return true
		}
	}
	return false
}

func isEllipsis(line string) bool { return strings.TrimSpace(line) == "…" }

// difference shows where two texts begin to differ.
func difference(got, doc []string) string {
	i := 0
	for i < len(got) && i < len(doc) && equalLines(got[i:i+1], doc[i:i+1]) {
		i++
	}
	const few = 8
	return fmt.Sprintf("  line %d on, in the document:\n\t%s\n  printed:\n\t%s", i+1,
		strings.Join(doc[i:min(i+few, len(doc))], "\n\t"), strings.Join(got[i:min(i+few, len(got))], "\n\t"))
}

// device is the root directory of a device.
type device struct {
	t    *testing.T
	root string
	env  []string
	exit int // code of the last command
}

// newDevice returns an empty device that runs a version of MicroShift. With
// version "none" it is the host itself, whose files no example may touch.
func newDevice(t *testing.T, binary, version string) *device {
	t.Helper()
	dir := t.TempDir()
	d := &device{t: t, root: filepath.Join(dir, "root"), env: []string{
		"PATH=" + dir + ":/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=" + dir}}
	script := fmt.Sprintf("#!/bin/sh\nexec %s --root %s --microshift-version %s \"$@\"\n", binary, d.root, version)
	if version == "none" {
		script = fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", binary)
	}
	if err := os.WriteFile(filepath.Join(dir, "microshift-feature-gates"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	d.mkdir("/etc/microshift/config.d")
	return d
}

// write writes a file of the device.
func (d *device) write(path, text string) {
	d.t.Helper()
	d.mkdir(filepath.Dir(path))
	host := filepath.Join(d.root, path)
	if err := os.WriteFile(host, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Chmod(host, 0o644); err != nil { // whatever the umask is
		d.t.Fatal(err)
	}
}

func (d *device) mkdir(path string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.root, path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	for ; path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(filepath.Join(d.root, path), 0o755); err != nil {
			d.t.Fatal(err)
		}
	}
}

var (
	devicePath = regexp.MustCompile(`(^|[\s='"])(/(?:etc|var|run|mnt|tmp)\b)`)
	// Times are not the same twice; in documents, they are all this one.
	times    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)
	someTime = "2026-08-01T12:00:00Z"
)

// run runs a command with the paths of the device, and returns what it prints
// on both outputs.
func (d *device) run(lines []string) []string {
	d.t.Helper()
	text := devicePath.ReplaceAllString(strings.TrimPrefix(strings.Join(lines, "\n"), "$ "), "${1}"+d.root+"${2}")
	cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("umask 022; (exit %d)\n%s", d.exit, text))
	cmd.Dir, cmd.Env = d.root, d.env
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	d.exit = cmd.ProcessState.ExitCode()
	printed := strings.ReplaceAll(string(out), d.root, "")
	printed = strings.TrimSuffix(times.ReplaceAllLiteralString(printed, someTime), "\n")
	if printed == "" {
		return nil
	}
	return strings.Split(printed, "\n")
}
