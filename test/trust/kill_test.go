//go:build e2e

package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestKilled kills each scenario's program at every system call that it makes
// on the device, before the call takes place.
func TestKilled(t *testing.T) {
	needStrace(t)
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			begun := false
			list := x.calls.targets(func(c call) bool {
				begun = begun || c.onDevice() && c.name != "execve"
				return begun
			})
			if len(list) < 10 || !slices.ContainsFunc(list, func(c target) bool { return c.name == "exit_group" }) {
				t.Fatalf("only %d calls from the first on the device to the end, want more:\n%v", len(list), list)
			}
			inParallel(sample(list, 5), func(c target) { x.inject(c, "signal=KILL", false, s.code) })
			x.report("killed at a call on the device")
		})
	}
}

// TestKilledAnywhere kills a first start at the first, second, third... system
// call of any kind of whichever thread comes so far first, until none does; and
// likewise at those calls by which the runtime's threads wait.
func TestKilledAnywhere(t *testing.T) {
	needStrace(t)
	x := undisturbed(t, scenarios(t)[0])
	for _, set := range []struct {
		name, calls string
		most        int
	}{{"any call", "!" + waits, 1000}, {"a call to wait", waits, 40}} {
		names := map[string]int{}
		for batch := 1; batch < set.most; batch += 50 {
			numbers := make([]int, 0, 50)
			for n := batch; n < min(batch+50, set.most); n++ {
				numbers = append(numbers, n)
			}
			survived := false
			inParallel(sample(numbers, 10), func(n int) {
				d := newDevice(t, x.before)
				out, calls := strace(t, x.command(d), string(d), "-e", "trace="+set.calls, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", set.calls, n))
				x.check(d, out, fmt.Sprintf("killed at number %d of %s", n, set.name), -1, fine)
				x.mu.Lock()
				defer x.mu.Unlock()
				if survived = survived || out.code == fine; out.code != fine && len(calls) > 0 {
					names[calls[len(calls)-1].name]++
				}
			})
			if survived {
				break
			}
		}
		var parts []string
		for _, name := range sortedKeys(names) {
			parts = append(parts, fmt.Sprintf("%s %d", name, names[name]))
		}
		x.report("killed at " + set.name + " (" + strings.Join(parts, ", ") + ")")
	}
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
