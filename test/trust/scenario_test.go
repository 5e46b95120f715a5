//go:build e2e

package trust

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// scenario is a run of a program that is disturbed.
type scenario struct {
	name    string
	before  files  // the device
	guarded string // the file that must never be a part of what it was or becomes
	code    int    // of an undisturbed run
	command func(d device) *exec.Cmd
}

func prestart(d device) *exec.Cmd { return d.command("prestart") }

const rolloutPath = dataDir + "/feature-gates-rollout.json"

// scenarios are a first start on a new device, a start with other gates than
// the lock has, one that is refused, and a new rollout file.
func scenarios() []scenario {
	return []scenario{
		{"first start", files{configFile: custom("MemoryQoS"), backupDir + "/": "", "var/lib/": ""}, lockFile, fine, prestart},
		{"changed gates", files{configFile: custom("InPlacePodVerticalScalingExclusiveCPUs"), lockFile: lockOf("MemoryQoS"), backupDir + "/": ""}, lockFile, fine, prestart},
		{"refused start", files{configFile: "{}\n", lockFile: lockOf("MemoryQoS"), failureLog: "an earlier reason\n"}, lockFile, locked, prestart},
		{"rollout file", files{rolloutPath: "{\"generation\": 1}\n"}, rolloutPath, fine, func(d device) *exec.Cmd {
			return exec.Command(writer, d.path(rolloutPath))
		}},
	}
}

// disturbed is a scenario with all that is known about its undisturbed run.
type disturbed struct {
	scenario
	t        *testing.T
	calls    trace
	old, new string // the guarded file before and after; clock left out
	created  bool   // there is none before
	done     string // the device afterwards

	mu     sync.Mutex
	counts map[string]int // of runs, by what they left
}

// undisturbed runs a scenario once, traced, and twice more to see that an
// undisturbed start changes nothing further.
func undisturbed(t *testing.T, s scenario) *disturbed {
	t.Helper()
	x := &disturbed{scenario: s, t: t, counts: map[string]int{}}
	d := newDevice(t, s.before)
	before, had := d.read(t, s.guarded)
	x.old, x.created = clock.ReplaceAllString(before, "TIME"), !had
	var out outcome
	out, x.calls = strace(t, s.command(d), string(d), numbered...)
	if out.code != s.code {
		t.Fatalf("an undisturbed run exits with %d, want %d\n%s", out.code, s.code, out.stderr)
	}
	after, _ := d.read(t, s.guarded)
	x.new, x.done = clock.ReplaceAllString(after, "TIME"), d.snapshot(t)
	for range 2 {
		if out := finish(t, s.command(d)); out.code != s.code || d.snapshot(t) != x.done {
			t.Fatalf("another run exits with %d, want %d, and leaves\n%s\nwant\n%s", out.code, s.code, d.snapshot(t), x.done)
		}
	}
	return x
}

// check fails the test unless the run has left the guarded file absent or
// complete, and the next one works and ends where an undisturbed one does.
// codes are the exit codes that the run may have.
func (x *disturbed) check(d device, out outcome, what string, codes ...int) {
	x.t.Helper()
	problem := func(format string, args ...any) {
		x.t.Helper()
		x.t.Errorf("%s, %s: %s\n%s", x.name, what, fmt.Sprintf(format, args...), out.stderr)
	}
	data, there := d.read(x.t, x.guarded)
	data = clock.ReplaceAllString(data, "TIME")
	left := "a part of a file"
	switch {
	case there && data == x.new && x.new != x.old:
		left = "the new file"
	case there && data == x.old && !x.created:
		left = "the old file"
	case !there && x.created:
		left = "no file"
	}
	x.count(out, left)
	if left == "a part of a file" {
		problem("%s is neither old nor new:\n%s", x.guarded, data)
	}
	if there {
		if info, err := os.Lstat(d.path(x.guarded)); err != nil || info.Mode() != 0o600 {
			problem("%s has mode %v (%v), want -rw-------", x.guarded, info.Mode(), err)
		}
	}
	switch {
	case !slices.Contains(codes, out.code):
		problem("the exit code is %d, want one of %v", out.code, codes)
	case out.code == fine && data != x.new:
		problem("the run succeeds with %s", left)
	case out.code != fine && out.code != killed && strings.TrimSpace(out.stderr) == "":
		problem("the run fails without a word")
	}
	// A start that could not read the rollout file has recorded so, truly. The
	// record is gone after a boot.
	must(x.t, os.RemoveAll(d.path("run")))
	next := finish(x.t, x.command(d))
	if next.code != x.code {
		problem("the next run exits with %d, want %d\n%s", next.code, x.code, next.stderr)
	}
	if got := d.snapshot(x.t); got != x.done {
		problem("the next run leaves\n%s\nwant\n%s", got, x.done)
	}
}

func (x *disturbed) count(out outcome, left string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	how := fmt.Sprintf("exit %d", out.code)
	if out.code == killed {
		how = "killed"
	}
	x.counts[how+" leaving "+left]++
}

// report notes what the runs of a test have left.
func (x *disturbed) report(what string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	total := 0
	var parts []string
	for _, how := range sortedKeys(x.counts) {
		parts = append(parts, fmt.Sprintf("%d %s", x.counts[how], how))
		total += x.counts[how]
	}
	note("%s, %s: %d runs: %s", x.name, what, total, strings.Join(parts, ", "))
	x.counts = map[string]int{}
}

// attempts is how often a fault is tried before the test gives up: on a machine
// that is very busy, a program may go on in another thread than it did.
const attempts = 10

// inject runs the scenario with a fault, and checks what it leaves. codes are
// the exit codes that the run may have.
func (x *disturbed) inject(what string, index int, codes ...int) {
	f, ok := x.calls.fault(what, index)
	if c, before := x.calls[index], x.calls[max(index-1, 0)]; !ok && c.name == before.name && c.args == before.args {
		return // the same again in another thread: the fault at the first is as good
	} else if !ok {
		x.t.Errorf("%s: no way is known to inject %s at call %d, %v", x.name, what, index, c)
		return
	}
	for range attempts {
		d := newDevice(x.t, x.before)
		out, calls := strace(x.t, x.command(d), string(d), f.options...)
		if f.hit(calls) {
			x.check(d, out, f.String(), codes...)
			return
		}
	}
	x.t.Errorf("%s: there is no way to get %v", x.name, f)
}
