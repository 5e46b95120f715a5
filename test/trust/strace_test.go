//go:build e2e

package trust

import (
	"fmt"
	"maps"
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
// collection, and more processors than it has use for.
var steady = []string{"GOMAXPROCS=8", "GOGC=off", "GODEBUG=asyncpreemptoff=1"}

// still makes the runtime's monitor, and whoever else sleeps, sleep for 1000
// seconds: it would move a goroutine whose calls are as slow as strace makes
// them from thread to thread, and strace counts the calls of each thread by
// themselves.
const still = "inject=nanosleep:poke_enter=@arg1=e8030000000000000000000000000000"

// unnumbered are the calls, but for nanosleep, that are the runtime's alone.
// For most of them the number differs from run to run.
const unnumbered = "futex,clock_nanosleep,epoll_pwait,sched_yield,rt_sigreturn,tgkill,getpid,gettid,rt_sigaction,rt_sigprocmask,sigaltstack,clone,clone3,madvise,mmap,munmap,prctl,sched_getaffinity"

// numbered has strace trace all others.
var numbered = []string{"-e", "trace=!" + unnumbered, "-e", still}

// call is a system call in a trace.
type call struct {
	thread string
	name   string
	args   string // with the paths of descriptors, and ROOT for the device's root
	result string // "?" where the process did not live to see it
}

// String returns the call as strace prints it.
func (c call) String() string { return c.name + c.args + " = " + c.result }

// faulty reports whether a fault was injected here, a kill included.
func (c call) faulty() bool { return strings.HasSuffix(c.result, "(INJECTED)") || c.result == "?" }

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

// parseTrace reads what strace -f -o writes. Sleep is left out.
func parseTrace(text, root string) trace {
	var calls trace
	pending := map[string]int{} // by thread
	for l := range strings.Lines(strings.ReplaceAll(text, root, "ROOT")) {
		m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil || m[2] == "nanosleep" || m[4] == "nanosleep" {
			continue // a signal, or the end of a thread
		}
		thread, rest := m[1], m[3]+m[5]
		i, resumed := pending[thread]
		if m[2] == "" {
			i = len(calls)
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
		straceErr = exec.Command("strace", "-f", "-o", os.DevNull, "-e", still, "true").Run()
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
	args := []string{"-f", "-y", "-o", log}
	for _, o := range options {
		args = append(args, strings.ReplaceAll(o, "ROOT", root))
	}
	traced := exec.Command("strace", append(append(args, "--"), cmd.Args...)...)
	traced.Env = append(os.Environ(), steady...)
	out := finish(t, traced)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Errorf("strace: %v\n%s", err, out.stderr)
	}
	return out, parseTrace(string(data), root)
}

// fault is a fault that strace injects at a call of an undisturbed run.
type fault struct {
	what    string   // such as signal=KILL
	call    call     // of the undisturbed run
	options []string // for strace, with ROOT for the device's root
	index   int      // of the call, in a trace with these options
}

func (f fault) String() string { return fmt.Sprintf("%s at call %d, %v", f.what, f.index, f.call) }

// fault returns the fault at the call of index i. It is not ok if strace can't
// tell the call from one of another thread.
func (tr trace) fault(what string, i int) (f fault, ok bool) {
	c := tr[i]
	for _, path := range append([]string{""}, c.paths()...) { // "" for any
		same := func(d call) bool { return d.name == c.name && (path == "" || d.about(path)) }
		perThread := map[string]int{}
		for _, j := range tr.indices(same) {
			if perThread[tr[j].thread]++; j == i {
				break
			}
		}
		n := perThread[c.thread]
		delete(perThread, c.thread)
		if slices.ContainsFunc(slices.Collect(maps.Values(perThread)), func(m int) bool { return m >= n }) {
			continue // the other thread would be hit
		}
		f = fault{what, c, numbered, i}
		if path != "" {
			f.index = len(tr[:i].indices(same))
			f.options = []string{"-e", "trace=" + c.name, "-P", path}
		}
		f.options = append(slices.Clone(f.options), "-e", fmt.Sprintf("inject=%s:%s:when=%d", c.name, what, n))
		return f, true
	}
	return fault{}, false
}

// hit reports whether the fault came where it was to come.
func (f fault) hit(tr trace) bool {
	i := slices.IndexFunc(tr, call.faulty)
	return i == f.index && tr[i].name == f.call.name
}

// indices returns those of the calls that keep wants.
func (tr trace) indices(keep func(call) bool) []int {
	var list []int
	for i, c := range tr {
		if keep(c) {
			list = append(list, i)
		}
	}
	return list
}

// count returns the number of calls of that name.
func (tr trace) count(name string) int {
	return len(tr.indices(func(c call) bool { return c.name == name }))
}
