//go:build e2e

package trust

import (
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

// steady keeps a Go program's system calls the same in every run: no garbage
// collection, and so many processors that a thread which comes back from a
// slow call always finds one and goes on with the same goroutine. strace counts
// the calls of each thread by themselves.
var steady = []string{"GOMAXPROCS=8", "GOGC=off", "GODEBUG=asyncpreemptoff=1"}

// Calls that the runtime makes when it sees fit, so that they can't be
// numbered: first those by which its threads wait and wake each other.
const (
	waits      = "futex,nanosleep,clock_nanosleep,epoll_pwait,sched_yield,rt_sigreturn,tgkill"
	unnumbered = waits + ",getpid,gettid,rt_sigprocmask,sigaltstack,clone,clone3,madvise,mmap,munmap,prctl,sched_getaffinity,pread64"
)

// call is a system call in a trace.
type call struct {
	thread string
	name   string
	args   string // with the paths of descriptors, and ROOT for the device's root
	result string // "?" where the process did not live to see it
}

// String returns the call as strace prints it.
func (c call) String() string { return c.name + c.args + " = " + c.result }

func (c call) injected() bool { return strings.HasSuffix(c.result, "(INJECTED)") }

func (c call) ok() bool { return !strings.HasPrefix(c.result, "-1 ") && c.result != "?" }

// onDevice reports whether the call is about a file of the device.
func (c call) onDevice() bool { return strings.Contains(c.args, "ROOT") }

// paths returns the paths of the files that the call is about.
func (c call) paths() []string {
	var list []string
	for _, m := range argument.FindAllStringSubmatch(c.args, -1) {
		list = append(list, m[1]+m[2])
	}
	return list
}

// argument matches the path of a descriptor, or a string.
var argument = regexp.MustCompile(`\d<([^>]*)>|"([^"]*)"`)

// about reports whether strace -P path would show the call.
func (c call) about(path string) bool {
	return slices.ContainsFunc(c.paths(), func(p string) bool { return p == path || p == filepath.Clean(path) })
}

// trace is the system calls of one run, in the order in which they began.
type trace []call

var (
	line    = regexp.MustCompile(`^(\d+) +(?:<\.\.\. (\w+) resumed>(.*)|(\w+)(\(.*))$`)
	returns = regexp.MustCompile(`^(.*\)) += (.*)$`)
)

// parseTrace reads what strace -f -o writes.
func parseTrace(text, root string) trace {
	var calls trace
	pending := map[string]int{} // by thread
	for l := range strings.Lines(strings.ReplaceAll(text, root, "ROOT")) {
		m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			continue // a signal, or the end of a thread
		}
		thread, rest := m[1], m[3]+m[5]
		i, resumed := pending[thread]
		if m[2] == "" {
			i, resumed = len(calls), false
			calls = append(calls, call{thread: thread, name: m[4], result: "?"})
		} else if !resumed {
			continue
		}
		delete(pending, thread)
		if begun, ok := strings.CutSuffix(rest, " <unfinished ...>"); ok {
			calls[i].args += begun
			pending[thread] = i
			continue
		}
		calls[i].args += rest
		if m := returns.FindStringSubmatch(calls[i].args); m != nil {
			calls[i].args, calls[i].result = m[1], m[2]
		}
		calls[i].args = strings.TrimSuffix(calls[i].args, " <unfinished ...>)")
	}
	return calls
}

// needStrace skips the test where strace is missing or may not trace.
func needStrace(t testing.TB) {
	t.Helper()
	straceOnce.Do(func() {
		straceErr = exec.Command("strace", "-f", "-o", os.DevNull, "--seccomp-bpf", "true").Run()
	})
	if straceErr != nil {
		skip(t, "strace can't be used: %v", straceErr)
	}
}

var (
	straceOnce sync.Once
	straceErr  error
)

// strace runs a command under strace, with options of strace.
func strace(t testing.TB, cmd *exec.Cmd, root string, options ...string) (outcome, trace) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "trace")
	args := append([]string{"-f", "-y", "-o", log}, options...)
	if !slices.ContainsFunc(options, func(o string) bool { return strings.Contains(o, "signal=") }) {
		// Stop at no other call. At the stops of seccomp, ptrace(2) delivers no signal.
		args = append(args, "--seccomp-bpf")
	}
	traced := exec.Command("strace", append(append(args, "--"), cmd.Args...)...)
	traced.Env = append(append(os.Environ(), cmd.Env...), steady...)
	out := finish(t, traced)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Errorf("strace: %v\n%s", err, out.stderr)
	}
	return out, parseTrace(string(data), root)
}

// target is a call of an undisturbed run at which a fault is to be injected.
type target struct {
	call
	nth int // among all calls of its name, from 1
	// path narrows the count down where the call has a path that is the same in
	// every run: it is the nthOfPath-th call of its name about that path.
	path      string
	nthOfPath int
}

func (x target) String() string { return fmt.Sprintf("%s (number %d of its kind)", x.call, x.nth) }

// targets returns those calls of an undisturbed run that keep wants.
func (tr trace) targets(keep func(call) bool) []target {
	var list []target
	for i, c := range tr {
		if !keep(c) {
			continue
		}
		x := target{call: c, nth: tr[:i+1].count(c.name, "")}
		for _, p := range c.paths() {
			if strings.HasPrefix(p, "ROOT") && !temporary.MatchString(p) && x.path == "" {
				x.path, x.nthOfPath = p, tr[:i+1].count(c.name, p)
			}
		}
		list = append(list, x)
	}
	return list
}

// count returns the number of calls of that name that are about path, "" for any.
func (tr trace) count(name, path string) int {
	n := 0
	for _, c := range tr {
		if c.name == name && (path == "" || c.about(path)) {
			n++
		}
	}
	return n
}

// hit returns the index of the call at which the fault was injected, -1 where
// there was none.
func (tr trace) hit(x target, kills bool) int {
	for i, c := range tr {
		if c.name == x.name && (c.injected() || kills && c.result == "?") {
			return i
		}
	}
	return -1
}

// on reports whether the call of index i is the target.
func (x target) on(tr trace, i int) bool {
	if i < 0 {
		return false
	}
	if x.path != "" {
		return tr[:i].count(x.name, x.path) == x.nthOfPath-1
	}
	return tr[:i].count(x.name, "") == x.nth-1
}

// when returns the number that strace has to count to in order to hit the
// target, if threads take turns as in tr.
func (x target) when(tr trace) int {
	n, nth := x.nth, 0
	if x.path != "" {
		n = x.nthOfPath
	}
	for i, c := range tr {
		if c.name != x.name || x.path != "" && !c.about(x.path) {
			continue
		}
		if nth++; nth < n {
			continue
		}
		same := 0
		for _, earlier := range tr[:i+1] {
			if earlier.thread == c.thread && earlier.name == x.name && (x.path == "" || earlier.about(x.path)) {
				same++
			}
		}
		return same
	}
	return n
}
