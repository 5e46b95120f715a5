//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// microshift is a device on which the program embedded takes the place of
// MicroShift.
type microshift struct {
	device
	etcd string
}

// running is a start of embedded.
type running struct {
	*process
	server  component // the kube-apiserver in it
	control int
}

// start starts embedded as the given version of MicroShift.
func (m microshift) start(t testing.TB, version string) running {
	t.Helper()
	dir := shortDir(t)
	socket := filepath.Join(dir, "cri.sock")
	start(t, "cri", newest.program(t, "cri"), "-socket", socket).awaitText(t, "ready")
	config := filepath.Join(dir, "kubelet.yaml")
	if err := os.WriteFile(config, []byte(kubeletConfig(dir, socket, freePort(t), freePort(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	control, port := freePort(t), freePort(t)
	args := []string{"-root", m.root, "-version", version, "-kubelet-config", config, "-kubelet-root", dir + "/kubelet",
		"-control", fmt.Sprint(control), "--", fmt.Sprintf("--secure-port=%d", port), "--etcd-servers=" + m.etcd}
	p := start(t, "embedded", isolate(newest.program(t, "embedded"), append(args, apiServerArgs()...)...)...)
	return running{p, component{p, loopback(port)}, control}
}

// table returns the gate table that both components share.
func (r running) table(t testing.TB) map[string]bool {
	t.Helper()
	a, err := request(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/gates", r.control), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]bool
	if err := json.Unmarshal([]byte(a.body), &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// refused checks that a start ends with an exit code, has said why, and left
// the lock as it was.
func (m microshift) refused(t *testing.T, version string, code int, why string) {
	t.Helper()
	before := m.lock(t)
	p := m.start(t, version)
	if got := p.exitCode(t); got != code || !strings.Contains(p.text(), why) {
		t.Errorf("exit code %d, want %d with %q in\n%s", got, code, why, p.tail())
	}
	if after := m.lock(t); after != before {
		t.Errorf("the lock was\n%sand is now\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(m.root, "var/lib/microshift-backups/prerun_failed.log")); err != nil {
		t.Errorf("the reason is not left for greenboot: %v", err)
	}
}

// lock returns the text of the lock, or "" where there is none.
func (m microshift) lock(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.root, "var/lib/microshift/no-upgrade"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

const embeddedConfig = `
apiServer:
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade:
      enabled: [MemoryQoS, ClusterTrustBundle]
      disabled: [APIResponseCompression]
`

// TestEmbedded follows a device from its first start with a feature set, on
// kube-apiserver and kubelet in one process.
func TestEmbedded(t *testing.T) {
	needIsolation(t)
	m := microshift{newDevice(t, newest, embeddedConfig), startEtcd(t, t.TempDir())}

	step(t, "the first start applies the gates and writes the lock", func(t *testing.T) {
		r := m.start(t, "5.0.0")
		r.awaitText(t, "running\n")
		m.compareTable(t, r)
		r.server.compare(t, "kube-apiserver", m.device, m.show(t))
		if got := r.server.encoding(t); got != "" {
			t.Errorf("APIResponseCompression is off, and a large list has Content-Encoding %q", got)
		}
		for _, text := range []string{"featureSet: CustomNoUpgrade", "- MemoryQoS", "- APIResponseCompression", "version: 5.0.0"} {
			if !strings.Contains(m.lock(t), text) {
				t.Errorf("%q is not in the lock:\n%s", text, m.lock(t))
			}
		}
	})
	step(t, "reverted, it does not start", func(t *testing.T) {
		m.configure(t, "dns: {}\n")
		m.refused(t, "5.0.0", 4, "MicroShift does not start")
		m.configure(t, strings.Replace(embeddedConfig, "CustomNoUpgrade", `""`, 1))
		m.refused(t, "5.0.0", 1, "lists-without-set")
	})
	step(t, "with another version, it does not start", func(t *testing.T) {
		m.configure(t, embeddedConfig)
		for _, version := range []string{"5.0.1", "5.1.0", "4.23.0"} {
			m.refused(t, version, 4, "MicroShift does not start")
		}
	})
	step(t, "with a gate that would stop kube-apiserver, it does not start", func(t *testing.T) {
		m.configure(t, strings.Replace(embeddedConfig, "[APIResponseCompression]", "[APIServerTracing]", 1))
		m.refused(t, "5.0.0", 1, "gate-locked")
	})
	step(t, "put back, it starts again", func(t *testing.T) {
		m.configure(t, embeddedConfig)
		before := m.lock(t)
		r := m.start(t, "5.0.0~rc.1")
		r.awaitText(t, "running\n")
		m.compareTable(t, r)
		if after := m.lock(t); after != before {
			t.Errorf("the lock was\n%sand is now\n%s", before, after)
		}
		if _, err := os.Stat(filepath.Join(m.root, "var/lib/microshift-backups/prerun_failed.log")); !os.IsNotExist(err) {
			t.Errorf("the reason of an earlier failure is still there (%v)", err)
		}
	})
	step(t, "kubelet.featureGates wins for every component, as the warning says", func(t *testing.T) {
		m.configure(t, embeddedConfig+"kubelet: {featureGates: {APIResponseCompression: true}}\n")
		warning := "the kubelet uses true, and with it every component, since they share one gate table"
		if f := m.command(t, "validate", "-o", "json"); f.code != 0 || !strings.Contains(f.stdout, warning) {
			t.Errorf("validate exits %d with\n%s\nwant 0 with %q", f.code, f.stdout, warning)
		}
		r := m.start(t, "5.0.0")
		r.awaitText(t, "running\n")
		if !strings.Contains(r.text(), warning) {
			t.Errorf("the start does not log %q", warning)
		}
		if !r.table(t)["APIResponseCompression"] {
			t.Error("APIResponseCompression is off in the gate table")
		}
		if got := r.server.encoding(t); got != "gzip" {
			t.Errorf("kube-apiserver does not follow the kubelet: Content-Encoding %q", got)
		}
		if r.server.gates(t)["APIResponseCompression"].enabled {
			t.Error("the metrics of kube-apiserver follow the kubelet, which they did not before")
		}
	})
}

// step runs one step; those that follow it need it.
func step(t *testing.T, name string, f func(*testing.T)) {
	if !t.Run(name, f) {
		t.FailNow()
	}
}

// compareTable compares what show says of every gate with the shared table.
// MicroShift's own KubeletConfiguration sets some gates by itself.
func (m microshift) compareTable(t *testing.T, r running) {
	t.Helper()
	table, shown := r.table(t), m.show(t)
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		if gate, _ := m.registry(t).Gate(name); gate.OpenShift {
			continue
		}
		want := shown[name].Enabled
		if builtIn, ok := resolve.BuiltInKubeletGates()[name]; ok && shown[name].Reason == "default" {
			want = builtIn
		}
		if got, ok := table[name]; !ok || got != want {
			t.Errorf("%s is %t in the gate table (there: %t), want %t", name, got, ok, want)
		}
		count(m.minor, "states of a gate in the shared table of one process compared with show")
	}
}
