package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

type snapshotName struct{}

var snapshotKey snapshotName

// disk is what was on a device at a time: path to mode and content.
type disk struct{ files map[string]string }

// failureLog is the one file that a refused start may write.
const failureLog = "var/lib/microshift-backups/prerun_failed.log"

// readDisk reads the parts of a root that belong to the device.
func readDisk(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, top := range []string{"etc", "var", "run"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, e fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			} else if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil || name == failureLog || strings.HasPrefix(failureLog, name) {
				return err
			}
			files[name], err = describe(path, e)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// describe returns what must not change of a file.
func describe(path string, e fs.DirEntry) (string, error) {
	info, err := e.Info()
	if err != nil {
		return "", err
	}
	text := info.Mode().String()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return text + " -> " + target, err
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		return text + " " + strconv.Quote(string(data)) + info.ModTime().String(), err
	}
	return text, nil
}

func snapshot(ts *testscript.TestScript, _ bool, _ []string) {
	files, err := readDisk(ts.Getenv("WORK"))
	ts.Check(err)
	ts.Value(snapshotKey).(*disk).files = files
}

func unchanged(ts *testscript.TestScript, _ bool, _ []string) {
	before := ts.Value(snapshotKey).(*disk).files
	if before == nil {
		ts.Fatalf("there is no snapshot to compare with")
	}
	after, err := readDisk(ts.Getenv("WORK"))
	ts.Check(err)
	all := maps.Clone(before)
	maps.Copy(all, after)
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before[name] != after[name] {
			changes = append(changes, fmt.Sprintf("%q\n  was %s\n  is  %s", name, before[name], after[name]))
		}
	}
	if len(changes) > 0 {
		ts.Fatalf("changed on disk, and should not have:\n%s", strings.Join(changes, "\n"))
	}
}

// write writes a file whose name or content a script can't hold.
func write(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: write FILE TEXT")
	}
	name, text := unescape(ts, args[0]), unescape(ts, args[1])
	path := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, []byte(text), 0o644))
}

// repeat writes a file that holds a text many times.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, []byte(strings.Repeat(unescape(ts, args[2]), n)), 0o644))
}

func unescape(ts *testscript.TestScript, text string) string {
	plain, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		ts.Fatalf("%s: not a text with Go's escapes", text)
	}
	return plain
}

func perm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: perm MODE FILE")
	}
	info, err := os.Lstat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}
