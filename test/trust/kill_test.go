//go:build e2e

package trust

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKilled kills each scenario's program at every system call that it makes,
// from its start to its exit, before the call takes place.
func TestKilled(t *testing.T) {
	needStrace(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			all := x.calls.indices(func(c call) bool { return c.name != "execve" })
			if n := x.calls.count("exit_group"); n != 1 || len(all) < 30 {
				t.Fatalf("%d calls with %d exits, want many with one:\n%v", len(all), n, x.calls)
			}
			some := sample(all, 25)
			inParallel(some, func(i int) { x.inject("signal=KILL", i, killed) })
			if s.code == fine {
				name := x.find(t, "renameat", func(c call) bool { return strings.Contains(c.args, filepath.Base(s.guarded)+`"`) })
				later := slices.DeleteFunc(some, func(i int) bool { return i <= name })
				if got := x.counts["killed leaving the new file"]; got != len(later) {
					t.Errorf("%d runs leave the new file, want the %d that are killed after it got its name", got, len(later))
				}
			}
			x.report("killed at each call")
		})
	}
}

// TestKilledInRuntime does so at the runtime's own calls: at the first of each
// kind that any thread makes, the second, and so on until none does.
func TestKilledInRuntime(t *testing.T) {
	needStrace(t)
	x := undisturbed(t, scenarios()[0])
	inParallel(sample(append(strings.Split(unnumbered, ","), "nanosleep"), 6), func(name string) {
		for n := 1; n < 200; n++ {
			d := newDevice(t, x.before)
			out, _ := strace(t, x.command(d), string(d), "-e", "trace="+name, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", name, n))
			x.check(d, out, fmt.Sprintf("killed at %s number %d", name, n), killed, fine)
			if out.code == fine {
				return
			}
		}
	})
	x.report("killed in the runtime")
}

// sample returns every n-th element in a short run, else all.
func sample[T any](list []T, n int) []T {
	if !testing.Short() {
		return list
	}
	var some []T
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
