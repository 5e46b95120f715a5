package gates

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
)

// Each gate of each version must look the same through component-base.
func TestFeatureGateAgrees(t *testing.T) {
	for _, v := range Versions() {
		reg := registryOf(t, v.Minor())
		fg := reg.FeatureGate()
		if got := fg.EmulationVersion(); !got.EqualTo(v) {
			t.Errorf("%s: FeatureGate emulates %s", v, got)
		}
		all, requires := fg.GetAll(), fg.Dependencies()
		if got, want := len(all), len(reg.Gates()); got != want {
			t.Errorf("%s: FeatureGate knows %d gates, want %d", v, got, want)
		}
		for _, g := range reg.Gates() {
			name := featuregate.Feature(g.Name)
			spec := all[name]
			if stageText(spec) != g.Stage || spec.Default != g.Default || spec.LockToDefault != g.Locked {
				t.Errorf("%s: %s is %+v, want the state of %+v", v, name, spec, g)
			}
			if got := fg.Enabled(name); got != g.Default {
				t.Errorf("%s: %s starts as %t, want %t", v, name, got, g.Default)
			}
			err := reg.FeatureGate().SetFromMap(map[string]bool{g.Name: !g.Default})
			if locked := err != nil && strings.Contains(err.Error(), "feature is locked"); locked != g.Locked {
				t.Errorf("%s: setting %s to %t: %v; want it locked: %t", v, name, !g.Default, err, g.Locked)
			}
			var needs []string
			for _, f := range requires[name] {
				needs = append(needs, string(f))
			}
			if diff := cmp.Diff(g.Requires, needs); diff != "" {
				t.Errorf("%s: what %s needs (-registry +FeatureGate):\n%s", v, name, diff)
			}
		}
	}
}

func TestFeatureGateIsNew(t *testing.T) {
	reg := registryOf(t, 36)
	if err := reg.FeatureGate().Set("MemoryQoS=true"); err != nil {
		t.Fatal(err)
	}
	if reg.FeatureGate().Enabled("MemoryQoS") {
		t.Error("MemoryQoS is on in a second FeatureGate, want it off: only the first one was set")
	}
}

func TestFeatureGateChecksNeeds(t *testing.T) {
	err := registryOf(t, 36).FeatureGate().Set("UnknownVersionInteroperabilityProxy=true,APIServerIdentity=false")
	if want := "depends on features that are disabled"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

// Kubernetes 1.32 has gates that began as deprecated without a state before
// that, which component-base no longer accepts.
func TestGateThatBeganAsDeprecated(t *testing.T) {
	reg, err := newRegistry(version.MajorMinor(1, 32), head+
		`  A: {since: "1.31", specs: [1.31 deprecated off], components: [kubelet]}`+"\n"+
		`  B: {since: "1.31", specs: [1.31 deprecated on locked], components: [kubelet]}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := reg.Gate("A")
	b, _ := reg.Gate("B")
	if a.Stage != "deprecated" || a.Default || a.Locked || len(a.Specs) != 1 {
		t.Errorf("A is %+v, want it deprecated, off and unlocked with one spec", a)
	}
	if b.Stage != "deprecated" || !b.Default || !b.Locked || len(b.Specs) != 1 {
		t.Errorf("B is %+v, want it deprecated, on and locked with one spec", b)
	}
}

func TestNewRegistryErrors(t *testing.T) {
	for name, tc := range map[string]struct{ gates, want string }{
		"not decodable":       {`  A: {}`, "line 4"},
		"specs going back":    {`  A: {since: "1.2", specs: [1.2 beta off, 1.3 alpha off], components: [kubelet]}`, "regresses stability"},
		"needs no known gate": {`  A: {since: "1.2", specs: [1.2 beta off], components: [kubelet], requires: [B]}`, "unknown feature B"},
		"needs itself":        {`  A: {since: "1.2", specs: [1.2 beta off], components: [kubelet], requires: [A]}`, "cycle"},
	} {
		reg, err := newRegistry(version.MajorMinor(1, 36), head+tc.gates+"\n")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, %v; want an error with %q", name, reg, err, tc.want)
		}
	}
}
