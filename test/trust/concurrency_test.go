//go:build e2e

package trust

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
)

// starts is how many starts there are at once.
const starts = 50

// rounds is how often there are first starts, in a quarter of the cases while
// the configuration is changed.
func rounds(t *testing.T) int {
	switch text := os.Getenv("TRUST_ROUNDS"); {
	case text != "":
		n, err := strconv.Atoi(text)
		must(t, err)
		return n
	case testing.Short():
		return 4
	default:
		return 200
	}
}

// Two configurations, and a device with the first that takes part in a rollout,
// so that its starts leave a record too.
var (
	before, after = custom("MemoryQoS"), custom("InPlacePodVerticalScalingExclusiveCPUs")
	busy          = files{configFile: before, backupDir + "/": "", dataDir + "/": ""}
)

const record = "run/microshift-feature-gates/started.json"

func busyDevice(t *testing.T) device {
	t.Helper()
	d := newDevice(t, busy)
	if out := finish(t, exec.Command(writer, d.path(rolloutPath))); out.code != fine {
		t.Fatal(out.stderr)
	}
	return d
}

// TestFirstStartsOnce has many first starts at once. They leave what one
// leaves. In every other round there is no data directory yet, and no rollout.
func TestFirstStartsOnce(t *testing.T) {
	makeDevice := []func() device{
		func() device { return busyDevice(t) },
		func() device { return newDevice(t, files{configFile: before}) },
	}
	var want []string
	for _, one := range makeDevice {
		d := one()
		if out := d.prestart(t); out.code != fine {
			t.Fatalf("a single start exits with %d\n%s", out.code, out.stderr)
		}
		want = append(want, d.snapshot(t))
	}
	for _, name := range []string{lockFile, record} {
		if !strings.Contains(want[0], name+": ") {
			t.Fatalf("a single start leaves no %s:\n%s", name, want[0])
		}
	}
	n := rounds(t) * 3 / 4
	for round := range n {
		kind := round % len(makeDevice)
		d := makeDevice[kind]()
		atOnce(t, d, fine, func() {})
		if got := d.snapshot(t); got != want[kind] {
			t.Fatalf("round %d leaves\n%s\nwant what a single start leaves:\n%s", round, got, want[kind])
		}
	}
	note("first start: %d rounds of %d at once, each leaves what one start leaves", n, starts)
}

// TestChangedStartsOnce has many first starts at once while the configuration
// is changed. No change is lost, and the next start leaves the lock that the
// configuration wants.
func TestChangedStartsOnce(t *testing.T) {
	n := rounds(t) / 4
	changes := 0
	for round := range n {
		d := busyDevice(t)
		atOnce(t, d, fine, func() {
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				if _, ok := d.read(t, lockFile); ok {
					break // some have read the old configuration
				} else if time.Now().After(deadline) {
					t.Fatal("no start has written a lock")
				}
			}
			d.put(t, files{configFile + ".new": after})
			must(t, os.Rename(d.path(configFile+".new"), d.path(configFile)))
		})
		l, err := lock.Read(d.path(lockFile))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		changes += len(l.History) - 1
		set := map[string]bool{}
		for i, e := range l.History {
			for _, gate := range e.Removed.CustomNoUpgrade.Enabled {
				if !set[gate] {
					t.Errorf("round %d: entry %d removes %s, which is not there", round, i, gate)
				}
				delete(set, gate)
			}
			for _, gate := range e.Added.CustomNoUpgrade.Enabled {
				if set[gate] {
					t.Errorf("round %d: entry %d adds %s, which is there", round, i, gate)
				}
				set[gate] = true
			}
		}
		if has := slices.Sorted(maps.Keys(set)); !slices.Equal(has, l.CustomNoUpgrade.Enabled) {
			t.Errorf("round %d: the lock has %v, and its history comes to %v", round, l.CustomNoUpgrade.Enabled, has)
		}
		if out := d.prestart(t); out.code != fine {
			t.Fatalf("round %d: the next start exits with %d\n%s", round, out.code, out.stderr)
		}
		if l, err = lock.Read(d.path(lockFile)); err != nil || !slices.Equal(l.CustomNoUpgrade.Enabled, []string{"InPlacePodVerticalScalingExclusiveCPUs"}) {
			t.Errorf("round %d: the next start leaves %v (%v), want what is configured", round, l, err)
		}
		for dir, want := range map[string][]string{
			dataDir: {"feature-gates-rollout.json", "no-upgrade"}, backupDir: {}, "run/microshift-feature-gates": {"started.json"},
		} {
			entries, err := os.ReadDir(d.path(dir))
			must(t, err)
			names := []string{}
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if !slices.Equal(names, want) {
				t.Errorf("round %d: %s has %v, want %v", round, dir, names, want)
			}
		}
	}
	if changes == 0 {
		t.Errorf("no start in %d rounds has changed the lock, so nothing is tested", n)
	}
	note("changed gates: %d rounds of %d at once, %d changes of the lock, none lost", n, starts, changes)
}

// TestRefusedStartsOnce has many starts at once that the lock stops.
func TestRefusedStartsOnce(t *testing.T) {
	refused := files{configFile: "{}\n", lockFile: lockOf("MemoryQoS"), backupDir + "/": ""}
	d := newDevice(t, refused)
	if out := d.prestart(t); out.code != locked {
		t.Fatalf("a single start exits with %d, want %d\n%s", out.code, locked, out.stderr)
	}
	want := d.snapshot(t)
	n := max(1, rounds(t)/20)
	for round := range n {
		d := newDevice(t, refused)
		atOnce(t, d, locked, func() {})
		if got := d.snapshot(t); got != want {
			t.Fatalf("round %d leaves\n%s\nwant what a single start leaves:\n%s", round, got, want)
		}
	}
	note("refused start: %d rounds of %d at once, each leaves what one start leaves", n, starts)
}

// atOnce has many starts of the device at once, half of them after between. All
// must exit with the code, and none may be unable to do something.
func atOnce(t *testing.T, d device, code int, between func()) {
	t.Helper()
	var running []*exec.Cmd
	var output [starts]bytes.Buffer
	var release [2]*os.File
	for half := range release {
		hold, pen, err := os.Pipe()
		must(t, err)
		release[half] = pen
		for range starts / 2 {
			start := d.command("prestart")
			cmd := exec.Command("sh", append([]string{"-c", `read -r _; ` + bySystemd + ` exec "$@"`, "sh"}, start.Args...)...)
			cmd.Stdin, cmd.Stderr = hold, &output[len(running)]
			must(t, cmd.Start())
			running = append(running, cmd)
		}
		hold.Close()
	}
	release[0].Close()
	between()
	release[1].Close()
	for i, cmd := range running {
		_ = cmd.Wait() // what it would say is in the exit code
		if got := cmd.ProcessState.ExitCode(); got != code || strings.Contains(output[i].String(), "cannot") {
			t.Errorf("start %d exits with %d, want %d and nothing that could not be done\n%s", i, got, code, fmt.Sprint(&output[i]))
		}
	}
}
