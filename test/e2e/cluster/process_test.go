//go:build e2e

package cluster

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take; the machine may be busy.
const patience = 3 * time.Minute

// process is a program that runs until it is stopped.
type process struct {
	name, log string
	cmd       *exec.Cmd
	done      chan struct{}
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

var logs struct {
	sync.Mutex
	n int
}

// launch starts a program whose output goes to a file. The kernel kills it
// should the test process die.
func launch(name string, args ...string) (*process, error) {
	logs.Lock()
	logs.n++
	file := filepath.Join(output, "cluster", "logs", fmt.Sprintf("%03d-%s.log", logs.n, filepath.Base(name)))
	logs.Unlock()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{filepath.Base(name), file, exec.Command(name, args...), make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	starter() <- func() { result <- p.cmd.Start() }
	if err := <-result; err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // the exit code is in ProcessState
		close(p.done)
	}()
	return p, nil
}

// end signals the process and waits for it.
func (p *process) end(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig)
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) text() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (p *process) tail() string {
	lines := strings.Split(strings.TrimRight(p.text(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// eventually waits until check returns nil.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: still not after %s: %v", what, patience, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

var peak = regexp.MustCompile(`(?m)^(VmHWM|VmRSS|RssAnon):\s+(\d+) kB$`)

// memory returns the highest resident size so far, and what is resident now of
// memory that is the process's own, in MiB.
func (p *process) memory(t testing.TB) (highest, anonymous float64) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range peak.FindAllSubmatch(data, -1) {
		kib, _ := strconv.ParseFloat(string(m[2]), 64)
		switch {
		case bytes.Equal(m[1], []byte("VmHWM")):
			highest = kib / 1024
		case bytes.Equal(m[1], []byte("RssAnon")):
			anonymous = kib / 1024
		}
	}
	return highest, anonymous
}

// freePort returns a port of loopback that nobody listens at, below the range
// of outgoing connections.
func freePort() (int, error) {
	for port := 21000 + os.Getpid()%1000*10; port < 32000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		l.Close()
		portLock.Lock()
		taken := portTaken[port]
		portTaken[port] = true
		portLock.Unlock()
		if !taken {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port")
}

var (
	portLock  sync.Mutex
	portTaken = map[int]bool{}
)
