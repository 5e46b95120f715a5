//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// device is the root directory of a MicroShift device.
type device struct {
	root string
	kubernetes
}

// newDevice makes a device with the given config.yaml; "" for none.
func newDevice(t testing.TB, k kubernetes, config string) device {
	t.Helper()
	d := device{t.TempDir(), k}
	if config != "" {
		d.configure(t, config)
	}
	return d
}

// configure writes config.yaml.
func (d device) configure(t testing.TB, config string) {
	t.Helper()
	file := filepath.Join(d.root, "etc/microshift/config.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command runs microshift-feature-gates on the device.
func (d device) command(t testing.TB, args ...string) finished {
	t.Helper()
	return finish(t, append([]string{ours(), "--root", d.root, "--microshift-version", d.microshift}, args...)...)
}

// ours returns the path of microshift-feature-gates.
func ours() string { return filepath.Join(output, "microshift-feature-gates") }

// must runs microshift-feature-gates, which must succeed, and returns what it prints.
func (d device) must(t testing.TB, args ...string) string {
	t.Helper()
	f := d.command(t, args...)
	if f.code != 0 {
		t.Fatalf("microshift-feature-gates %s exits %d:\n%s", strings.Join(args, " "), f.code, f.stderr)
	}
	return f.stdout
}

// gateView is a gate in the output of show -o json.
type gateView struct {
	Name       string
	Enabled    bool
	Reason     string
	Stage      string
	Components []string
}

// show returns the gates that show -o json prints.
func (d device) show(t testing.TB) map[string]gateView {
	t.Helper()
	var view struct{ Gates []gateView }
	if err := json.Unmarshal([]byte(d.must(t, "show", "-o", "json")), &view); err != nil {
		t.Fatal(err)
	}
	byName := map[string]gateView{}
	for _, g := range view.Gates {
		byName[g.Name] = g
	}
	return byName
}

// flag returns exactly what flags prints for a component: one flag, or "" for
// none, without the gates that the original Kubernetes refuses.
func (d device) flag(t testing.TB, component string) string {
	t.Helper()
	flag := strings.TrimSuffix(d.must(t, "flags", component), "\n")
	list, ok := strings.CutPrefix(flag, "--feature-gates=")
	if !ok {
		if flag != "" {
			t.Fatalf("flags %s prints %q, which is no flag", component, flag)
		}
		return ""
	}
	items := strings.Split(list, ",")
	if args, want := d.must(t, "flags", component, "--format", "args"), fmt.Sprintf("[\"%s\"]\n", strings.Join(items, `","`)); args != want {
		t.Errorf("flags %s --format args prints %s, as a flag it prints %s", component, args, flag)
	}
	items = slices.DeleteFunc(items, func(item string) bool {
		name, _, _ := strings.Cut(item, "=")
		return d.foreign(t, component, name)
	})
	if len(items) == 0 {
		return ""
	}
	return "--feature-gates=" + strings.Join(items, ",")
}

// kubeletConfig returns exactly what flags kubelet --format kubelet-config
// prints, without the lines of gates that the original Kubernetes refuses.
func (d device) kubeletConfig(t testing.TB) string {
	t.Helper()
	lines := slices.DeleteFunc(strings.SplitAfter(d.must(t, "flags", "kubelet", "--format", "kubelet-config"), "\n"), func(line string) bool {
		name, _, isGate := strings.Cut(strings.TrimSpace(line), ": ")
		return isGate && d.foreign(t, "kubelet", name)
	})
	return strings.Join(lines, "")
}

// foreign reports whether a gate is one that MicroShift's own components know
// or warn of, and that the components of the original Kubernetes refuse: a
// gate that OpenShift adds, or one that nobody knows.
func (d device) foreign(t testing.TB, component, name string) bool {
	t.Helper()
	gate, known := d.registry(t).Gate(name)
	switch {
	case known && gate.OpenShift:
		count(d.minor, "gates of OpenShift left out of what a component is given")
		t.Logf("%s: %s is left out, since only OpenShift's Kubernetes has it", component, name)
	case !known && component == string(gates.KubeAPIServer):
		count(d.minor, "unknown gates left out of what a component is given")
		t.Logf("%s: %s is left out, since only OpenShift's Kubernetes starts with a gate that it does not know", component, name)
	case !known:
		t.Errorf("%s is given %s, which no component knows", component, name)
	}
	return !known || gate.OpenShift
}
