//go:build e2e

package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	release = "bookworm" // its systemd is that of RHEL 9: 252
	include = "systemd,systemd-sysv,dbus,sosreport,xz-utils,rpm"
	edition = "2" // another one makes the system anew
)

// system returns the directory of a pristine Debian, which is downloaded once.
func system(t *testing.T) string {
	t.Helper()
	needs(t, "debootstrap", "systemd-nspawn", "nsenter", "rpm")
	dir := filepath.Join(output, "debian-"+release+"-"+edition)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	check(t, os.MkdirAll(output, 0o755))
	part := dir + ".part"
	check(t, os.RemoveAll(part))
	cmd := exec.Command("debootstrap", "--variant=minbase", "--include="+include, release, part)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("%s", out[max(0, len(out)-2000):])
		skip(t, "debootstrap can't get Debian: %v", err)
	}
	// The packages that it was made of are not needed any more.
	check(t, os.RemoveAll(filepath.Join(part, "var/cache/apt/archives")))
	check(t, os.Rename(part, dir))
	return dir
}

// machine is a running system. Its disk outlives it.
type machine struct {
	t      *testing.T
	root   string // of its disk, on this host
	log    string // what its console says
	nspawn *exec.Cmd
	init   int // process id of its systemd, on this host
}

// newMachine makes the disk of a machine: a layer above a pristine system.
func newMachine(t *testing.T) *machine {
	t.Helper()
	lower := system(t)
	dir, err := os.MkdirTemp(output, "machine-*")
	check(t, err)
	m := &machine{t: t, root: filepath.Join(dir, "root"), log: filepath.Join(dir, "console.log")}
	for _, d := range []string{"root", "upper", "work"} {
		check(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, filepath.Join(dir, "upper"), filepath.Join(dir, "work"))
	if err := syscall.Mount("overlay", m.root, "overlay", 0, options); err != nil {
		skip(t, "can't mount an overlay: %v", err)
	}
	t.Cleanup(func() {
		m.cutPower()
		if t.Failed() {
			console, _ := os.ReadFile(m.log)
			t.Logf("the console:\n%s", console[max(0, len(console)-4000):])
		}
		if err := syscall.Unmount(m.root, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	check(t, os.MkdirAll(m.path("/var/log/journal"), 0o755)) // so that it is kept
	return m
}

// path returns where a file of the machine is on this host.
func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

// boot starts the machine, and waits until its systemd is done.
func (m *machine) boot() {
	m.t.Helper()
	console, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	check(m.t, err)
	defer console.Close()
	m.nspawn = exec.Command("systemd-nspawn", "--quiet", "--directory", m.root, "--boot", "--register=no", "--keep-unit",
		"--private-network", "--console=read-only", "--hostname=device", "--machine="+filepath.Base(filepath.Dir(m.root)))
	m.nspawn.Stdout, m.nspawn.Stderr = console, console
	// Should the test be killed, so is the machine.
	m.nspawn.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := m.nspawn.Start(); err != nil {
		skip(m.t, "systemd-nspawn: %v", err)
	}
	deadline := time.Now().Add(3 * time.Minute)
	for time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
		if m.init = child(m.nspawn.Process.Pid); m.init == 0 {
			continue
		}
		if out, _ := m.try("systemctl", "is-system-running"); out == "running\n" || out == "degraded\n" {
			return
		}
	}
	m.t.Fatal("the machine does not boot; see its console")
}

// child returns the first child of a process, or 0.
func child(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	n := 0
	_, _ = fmt.Sscan(string(data), &n) // 0 where there is none
	return n
}

// cutPower kills the machine's init, and with it everything in it, at once.
func (m *machine) cutPower() {
	if m.nspawn == nil {
		return
	}
	if m.init != 0 {
		_ = syscall.Kill(m.init, syscall.SIGKILL) // it may be gone
	}
	done := m.ended()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = m.nspawn.Process.Kill()
		<-done
	}
	m.nspawn, m.init = nil, 0
}

// ended is closed when the machine is off, however that came about.
func (m *machine) ended() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.nspawn.Wait()
	}()
	return done
}

// reboot shuts the machine down in an orderly way, and boots it again.
func (m *machine) reboot() {
	m.t.Helper()
	_, _ = m.try("systemctl", "poweroff") // ends together with it
	done := m.ended()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		m.t.Fatal("the machine does not shut down; see its console")
	}
	m.nspawn, m.init = nil, 0
	m.boot()
}

// command prepares a program in the machine.
func (m *machine) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	m.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"--target", fmt.Sprint(m.init),
		"--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd", "--"}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root", "LC_ALL=C.UTF-8", "SYSTEMD_PAGER=cat", "TERM=dumb"}
	return cmd
}

// try runs a program in the machine; code is its exit code.
func (m *machine) try(args ...string) (out string, code int) {
	m.t.Helper()
	cmd := m.command(args...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// run is try for a program that must succeed.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, code := m.try(args...)
	if code != 0 {
		m.t.Fatalf("%s ended with %d:\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// write writes a file of the machine.
func (m *machine) write(name, text string) {
	m.t.Helper()
	check(m.t, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	check(m.t, os.WriteFile(m.path(name), []byte(text), 0o644))
}

// remove removes a file of the machine, which may be missing.
func (m *machine) remove(name string) {
	m.t.Helper()
	if err := os.Remove(m.path(name)); !errors.Is(err, fs.ErrNotExist) {
		check(m.t, err)
	}
}

// read returns the text of a file of the machine, empty where there is none.
func (m *machine) read(name string) string {
	m.t.Helper()
	data, err := os.ReadFile(m.path(name))
	if !errors.Is(err, fs.ErrNotExist) {
		check(m.t, err)
	}
	return string(data)
}

// install brings packages into the machine, in one transaction of rpm. It
// returns what that prints. Debian's packages are not in rpm's database, so
// dependencies can't be told.
func (m *machine) install(files ...string) string {
	m.t.Helper()
	args := []string{"rpm", "-U", "--nodeps", "--oldpackage"}
	for _, f := range files {
		data, err := os.ReadFile(f)
		check(m.t, err)
		name := "/var/tmp/" + filepath.Base(f)
		m.write(name, string(data))
		args = append(args, name)
	}
	return m.run(args...)
}
