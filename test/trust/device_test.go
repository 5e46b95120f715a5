//go:build e2e

package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Paths on a device, below its root.
const (
	configFile  = "etc/microshift/config.yaml"
	dropIns     = "etc/microshift/config.d"
	dataDir     = "var/lib/microshift"
	lockFile    = dataDir + "/no-upgrade"
	versionFile = dataDir + "/version"
	backupDir   = "var/lib/microshift-backups"
	failureLog  = backupDir + "/prerun_failed.log"
)

// The exit codes of the command.
const (
	fine     = 0
	rejected = 1
	failed   = 3
	locked   = 4
	killed   = -1 // by a signal
)

// running is the version of MicroShift on every device here.
const running = "5.0.0"

// custom is a configuration that sets gates.
func custom(gates ...string) string {
	return "apiServer:\n  featureGates:\n    featureSet: CustomNoUpgrade\n    customNoUpgrade:\n      enabled: [" + strings.Join(gates, ", ") + "]\n"
}

// lockOf is a lock as a start with these gates writes it.
func lockOf(gates ...string) string {
	return "customNoUpgrade:\n  disabled: null\n  enabled:\n    - " + strings.Join(gates, "\n    - ") + "\nfeatureSet: CustomNoUpgrade\nversion: 5.0.0\n"
}

// device is a device's root directory.
type device string

// files has the content of files by their path; that of a path which ends in a
// slash is a directory.
type files map[string]string

func newDevice(t testing.TB, f files) device {
	t.Helper()
	d := device(t.TempDir())
	must(t, os.Chmod(string(d), 0o755))
	d.put(t, f)
	return d
}

func (d device) path(name string) string { return filepath.Join(string(d), name) }

func (d device) put(t testing.TB, f files) {
	t.Helper()
	for name, data := range f {
		path := d.path(name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(data), 0o600))
	}
}

// read returns the content of a file, and whether there is one.
func (d device) read(t testing.TB, name string) (string, bool) {
	t.Helper()
	data, err := os.ReadFile(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	must(t, err)
	return string(data), true
}

// outcome is what a run of the command came to.
type outcome struct {
	code           int
	stdout, stderr string
	state          *os.ProcessState
}

func (d device) command(args ...string) *exec.Cmd {
	return exec.Command(binary, append([]string{"--root", string(d), "--microshift-version", running}, args...)...)
}

// run runs the command on the device.
func (d device) run(t testing.TB, args ...string) outcome {
	t.Helper()
	return finish(t, d.command(args...))
}

// prestart runs a start as systemd does, so that it is recorded.
func (d device) prestart(t testing.TB) outcome {
	t.Helper()
	return finish(t, exec.Command("sh", append([]string{"-c", bySystemd + ` exec "$@"`, "sh"}, d.command("prestart").Args...)...))
}

// bySystemd is the variable with which systemd names to a process what it has
// run, for what the shell executes in its own place.
const bySystemd = "SYSTEMD_EXEC_PID=$$"

// finish runs a command that may fail.
func finish(t testing.TB, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Errorf("%v: %v", cmd, err)
	}
	if cmd.ProcessState == nil {
		return outcome{code: -2}
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), cmd.ProcessState}
}

// clock matches a time.
var clock = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// snapshot describes all that is on a device, but for the time: type, mode,
// names and content.
func (d device) snapshot(t testing.TB) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(string(d), path)
		line := fmt.Sprintf("%v %s", info.Mode(), name)
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += ": " + clock.ReplaceAllString(fmt.Sprintf("%q", data), "TIME")
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		lines = append(lines, line)
		return nil
	})
	must(t, err)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
