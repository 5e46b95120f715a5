//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a component may take to become ready. It is long
// because a machine that builds meanwhile is slow; nothing waits it out unless
// something is broken.
const patience = 5 * time.Minute

// process is a component that a test has started.
type process struct {
	name string
	log  string // the file with its stdout and stderr
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended
}

// start starts a command line and stops it when the test ends. The kernel
// kills it should the test process die before that.
func start(t testing.TB, name string, command ...string) *process {
	t.Helper()
	log := logFile(t, name)
	defer log.Close()
	p := &process{name: name, log: log.Name(), cmd: exec.Command(command[0], command[1:]...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := spawn(p.cmd); err != nil {
		t.Fatalf("start %q: %v", command, err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code is in cmd.ProcessState
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("the log of %s is %s", name, p.log)
		}
	})
	return p
}

// starter starts all processes from one thread that lives as long as the test
// process: the parent in PR_SET_PDEATHSIG is a thread.
var starter = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return jobs
})

func spawn(cmd *exec.Cmd) error {
	result := make(chan error)
	starter() <- func() { result <- cmd.Start() }
	return <-result
}

var unsafeInFile = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// logFile makes a new file for the output of a program in this test.
func logFile(t testing.TB, program string) *os.File {
	t.Helper()
	dir := filepath.Join(output, "logs", unsafeInFile.ReplaceAllString(t.Name(), "_"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(dir, program+"-*.log")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stop kills the process and waits until it has gone. None has anything to
// save.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// exitCode waits for the process to end by itself.
func (p *process) exitCode(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("%s is still running after %s\n%s", p.name, patience, p.tail())
		return 0
	}
}

// text returns what the process has printed.
func (p *process) text() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// tail returns the last lines of what the process has printed.
func (p *process) tail() string {
	lines := strings.Split(strings.TrimRight(p.text(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// await waits until ready returns nil. The process must not end before that.
func (p *process) await(t testing.TB, ready func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := ready()
		switch {
		case err == nil:
			return
		case p.ended():
			t.Fatalf("%s has ended (%s) before it was ready:\n%s", p.name, p.cmd.ProcessState, p.tail())
		case time.Now().After(deadline):
			t.Fatalf("%s is not ready after %s: %v\n%s", p.name, patience, err, p.tail())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// awaitText waits until the process has printed text.
func (p *process) awaitText(t testing.TB, text string) {
	t.Helper()
	p.await(t, func() error {
		if !strings.Contains(p.text(), text) {
			return fmt.Errorf("%q not printed", text)
		}
		return nil
	})
}

// finished is how a program ended that was run to its end.
type finished struct {
	code           int
	stdout, stderr string
}

// finish runs a command line to its end. It fails the test only if that could not
// be done; any exit code is fine.
func finish(t testing.TB, command ...string) finished {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := spawn(cmd); err != nil {
		t.Fatalf("run %q: %v", command, err)
	}
	_ = cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%q did not end in %s:\n%s", command, patience, stderr.String())
	}
	return finished{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

var ports struct {
	sync.Mutex
	given map[int]bool
}

// freePort returns a port of loopback that nobody uses. It is from below the
// range of which the kernel takes the ports of outgoing connections, so that
// it stays free until it is used.
func freePort(t testing.TB) int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	for range 1000 {
		port := 20000 + rand.IntN(12000)
		if ports.given[port] {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		l.Close()
		ports.given[port] = true
		return port
	}
	t.Fatal("no free port")
	return 0
}
