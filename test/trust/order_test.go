//go:build e2e

package trust

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOrder looks at the trace of each program that writes a guarded file: the
// data is on the disk before the name is, and the name before the program ends.
func TestOrder(t *testing.T) {
	needStrace(t)
	for _, s := range scenarios() {
		if s.code != fine {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			last := -1
			for _, w := range writes(t, x) {
				if w.index <= last {
					t.Errorf("%s comes too early, before what it must follow", w.what)
				}
				last = w.index
				if c := x.calls[w.index]; strings.HasPrefix(c.result, "-1 ") {
					t.Errorf("%s fails: %v", w.what, c)
				}
			}
			if exit := x.calls[len(x.calls)-1]; exit.name != "exit_group" {
				t.Errorf("the last call is %v, want the exit", exit)
			}
		})
	}
}

// write is one of the calls that a durable write consists of.
type write struct {
	what     string
	index    int      // in the trace
	harmless []string // errors that it may have
}

// writes returns the calls by which the guarded file is written, in the order
// in which they must be.
func writes(t *testing.T, x *disturbed) []write {
	t.Helper()
	dir, name := "ROOT/"+dataDir, filepath.Base(x.guarded)
	temp := "." + name + ".tmp"
	onTemp := func(c call) bool { return c.about(dir + "/" + temp) }
	namesTemp := func(c call) bool { return strings.Contains(c.args, temp+`"`) }
	list := []write{
		{"create", x.find(t, "openat", func(c call) bool {
			return namesTemp(c) && strings.Contains(c.args, "O_CREAT|O_EXCL") && strings.Contains(c.args, "0600")
		}), nil},
		{"chmod", x.find(t, "fchmod", func(c call) bool { return onTemp(c) && strings.HasSuffix(c.args, ", 0600)") }), nil},
		{"write", x.find(t, "write", onTemp), nil},
		{"fsync", x.find(t, "fsync", onTemp), nil},
		{"close", x.find(t, "close", onTemp), nil},
		{"rename", x.find(t, "renameat", namesTemp), nil},
		{"directory fsync", x.find(t, "fsync", func(c call) bool { return c.about(dir) }), nil},
	}
	if x.created { // and with it its directory
		list = append([]write{
			{"make directory", x.find(t, "mkdirat", func(c call) bool { return c.about(dir) }), nil},
			// On a file system that can't be written, the directory has long been there.
			{"parent fsync", x.find(t, "fsync", func(c call) bool { return c.about("ROOT/var/lib") }), []string{"EROFS"}},
		}, list...)
	}
	return list
}

// find returns the index of the last call of a name, or of one whose name
// begins so, that ok wants. What comes last is what counts.
func (x *disturbed) find(t *testing.T, name string, ok func(call) bool) int {
	t.Helper()
	for i, c := range slices.Backward(x.calls) {
		if strings.HasPrefix(c.name, name) && ok(c) {
			return i
		}
	}
	t.Fatalf("no fitting %s in the trace:\n%v", name, x.calls)
	return -1
}
