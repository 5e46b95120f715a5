//go:build e2e

package cluster

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// device is one on which the real controller runs: its root directory, and the
// name of its Node. MicroShift 4.22 has Kubernetes 1.35, in which all guarded
// gates that it has can be set.
type device struct {
	*server
	root, node string
	token      string
	address    string // of /healthz and /metrics
	running    *process
	starts     sync.Mutex // of MicroShift: one at a time
}

const microshift = "4.22.0"

func newDevice(t testing.TB, s *server, node string) *device {
	t.Helper()
	d := &device{server: s, root: t.TempDir(), node: node, token: "e2e"}
	for _, dir := range []string{"etc/microshift", "var/lib/microshift", "run/microshift-feature-gates"} {
		if err := os.MkdirAll(filepath.Join(d.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.write(t, "var/lib/microshift/version", `{"version":"`+microshift+`"}`)
	t.Cleanup(func() { d.kill(syscall.SIGKILL) })
	return d
}

func (d *device) write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.root, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// configure sets the minimum, "" for none, and further lines of the section.
func (d *device) configure(t testing.TB, minimum, lines string) {
	t.Helper()
	text := ""
	if minimum != "" {
		lines = "minimumKubeletVersion: \"" + minimum + "\"\n" + lines
	}
	if lines != "" {
		text = "apiServer:\n  featureGates:\n    " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n    ") + "\n"
	}
	d.write(t, "etc/microshift/config.yaml", text)
}

// start starts the controller, with short times so that tests need not wait.
func (d *device) start(t testing.TB, flags ...string) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	d.address = fmt.Sprintf("127.0.0.1:%d", port)
	args := append([]string{
		"--root", d.root, "--node", d.node, "--kubeconfig", d.kubeconfig(t, d.token), "--listen", d.address,
		"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s", "--quiet=3s", "--delay=60s",
	}, flags...)
	if d.running, err = launch(filepath.Join(output, "cluster", "microshift-feature-gates-controller"), args...); err != nil {
		t.Fatal(err)
	}
}

// kill ends the controller.
func (d *device) kill(sig syscall.Signal) {
	if d.running != nil {
		d.running.end(sig)
	}
	d.running = nil
}

// reconfigure is what a restart of MicroShift with another configuration is to
// the controller, which systemd restarts along with it.
func (d *device) reconfigure(t testing.TB, minimum string, flags ...string) {
	t.Helper()
	d.kill(syscall.SIGTERM)
	d.configure(t, minimum, "")
	d.start(t, flags...)
}

// restart is a start of MicroShift on this device: it takes what is on the disk.
func (d *device) restart(t testing.TB) {
	d.starts.Lock()
	defer d.starts.Unlock()
	if err := rollout.WriteStarted(filepath.Join(d.root, rollout.StartedPath), d.file()); err != nil {
		t.Error(err)
	}
}

// serves returns nil if the controller answers at a path with a text.
func (d *device) serves(path, text string) error {
	answer, err := http.Get("http://" + d.address + path)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(data), text) {
		return fmt.Errorf("%s: %s without %s", path, answer.Status, text)
	}
	return nil
}

// logged returns nil if the controller has logged a text.
func (d *device) logged(text string) error {
	if d.running == nil || !strings.Contains(d.running.text(), text) {
		return fmt.Errorf("%q is not in the log of %s", text, d.node)
	}
	return nil
}
