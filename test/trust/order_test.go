//go:build e2e

package trust

import (
	"slices"
	"strings"
	"testing"
)

// TestOrder looks at the trace of each program that writes a guarded file: the
// data is on the disk before the name is, and the name before the program ends.
func TestOrder(t *testing.T) {
	needStrace(t)
	for _, s := range scenarios(t) {
		if s.code != fine {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			w := writes(t, x)
			for i := 1; i < len(w); i++ {
				if !(w[i-1].index < w[i].index) {
					t.Errorf("%s comes after %s, want it before", w[i-1].what, w[i].what)
				}
			}
			if n := x.calls.count("exit_group", ""); n != 1 {
				t.Errorf("exit_group is called %d times, want once", n)
			}
			for _, w := range w {
				if c := x.calls[w.index]; !c.ok() {
					t.Errorf("%s fails: %v", w.what, c)
				}
			}
		})
	}
}

// write is one of the calls that a durable write consists of.
type write struct {
	what  string
	index int // in the trace
}

// writes returns the calls by which the guarded file is written, in the order
// in which they must be.
func writes(t *testing.T, x *disturbed) []write {
	t.Helper()
	dir, name := "ROOT/"+dataDir, x.guarded[len(dataDir)+1:]
	temp := func(c call) bool {
		return slices.ContainsFunc(c.paths(), func(p string) bool {
			return strings.HasPrefix(p, dir+"/."+name+".tmp")
		})
	}
	list := []write{
		{"create", x.find(t, "openat", func(c call) bool {
			return strings.Contains(c.args, "."+name+".tmp") && strings.Contains(c.args, "O_CREAT|O_EXCL") && strings.Contains(c.args, "0600")
		})},
		{"chmod", x.find(t, "fchmod", func(c call) bool { return temp(c) && strings.HasSuffix(c.args, ", 0600)") })},
		{"write", x.find(t, "write", temp)},
		{"fsync", x.find(t, "fsync", temp)},
		{"close", x.find(t, "close", temp)},
		{"rename", x.find(t, "renameat", func(c call) bool { return strings.Contains(c.args, "."+name+".tmp") })},
		{"directory fsync", x.find(t, "fsync", func(c call) bool { return c.about(dir) })},
		{"exit", x.find(t, "exit_group", func(call) bool { return true })},
	}
	if x.created { // and with it its directory
		list = append([]write{
			{"make directory", x.find(t, "mkdirat", func(c call) bool { return c.about(dir) })},
			{"parent fsync", x.find(t, "fsync", func(c call) bool { return c.about("ROOT/var/lib") })},
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
