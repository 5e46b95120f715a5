package resolve_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/component-base/featuregate"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// asCustom returns a configuration that sets the gates.
func asCustom(values map[string]bool) *config.Config {
	cfg := &config.Config{}
	cfg.FeatureGates.FeatureSet = config.Value[string]{V: gates.CustomNoUpgrade, Origin: at(1)}
	line := 1
	for _, name := range slices.Sorted(maps.Keys(values)) {
		line++
		list := &cfg.FeatureGates.CustomNoUpgrade.Disabled
		if values[name] {
			list = &cfg.FeatureGates.CustomNoUpgrade.Enabled
		}
		list.V = append(list.V, config.Value[string]{V: name, Origin: at(line)})
	}
	return cfg
}

func at(line int) config.Origin {
	return config.Origin{Pos: diag.Position{File: "c", Line: line, Column: 1}, Path: "p"}
}

// agree compares our verdict on some gates with that of component-base, which
// is what the components use.
func agree(t *testing.T, reg *gates.Registry, values map[string]bool) {
	t.Helper()
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(name string, on bool) bool {
		g, _ := reg.Gate(name)
		return on && g.UnservedAPI != "" // component-base knows nothing of APIs
	})
	r, diags, err := resolve.Gates(asCustom(values), reg, 5)
	if err != nil {
		t.Fatal(err)
	}
	theirs := maps.Clone(values)
	for _, name := range resolve.RequiredGates() {
		if _, known := reg.Gate(name); known {
			theirs[name] = true
		}
	}
	fg := reg.FeatureGate()
	refusal := fg.(featuregate.MutableFeatureGateWithLogger).SetFromMapWithLogger(logr.Discard(), theirs)
	if (diags.Err() != nil) != (refusal != nil) {
		t.Fatalf("Kubernetes %s, %v: our verdict is %v, that of component-base %v", reg.Version(), values, diags.Err(), refusal)
	}
	if refusal != nil {
		codes := map[string]bool{}
		for _, d := range diags.Errors() {
			codes[d.Code] = true
		}
		want := map[string]bool{}
		if strings.Contains(refusal.Error(), "feature is locked") {
			want["gate-locked"] = true // component-base looks at needs only after that
		} else if strings.Contains(refusal.Error(), "depends on features that are disabled") {
			want["gate-needs"] = true
		}
		delete(codes, map[bool]string{true: "gate-needs"}[want["gate-locked"]])
		if !maps.Equal(codes, want) {
			t.Fatalf("Kubernetes %s, %v: our codes are %v, want %v for %v", reg.Version(), values, codes, want, refusal)
		}
		return
	}
	for _, s := range r.All() {
		if want := fg.Enabled(featuregate.Feature(s.Gate.Name)); s.Enabled != want {
			t.Fatalf("Kubernetes %s, %v: %s is %t, want %t", reg.Version(), values, s.Gate.Name, s.Enabled, want)
		}
	}
}

// TestAgreesWithComponentBase tries every gate of every version, on and off,
// one at a time.
func TestAgreesWithComponentBase(t *testing.T) {
	for _, kube := range gates.Versions() {
		reg := registry(t, kube.String())
		pairs := 0
		for _, g := range reg.Gates() {
			for _, on := range []bool{true, false} {
				if !on && slices.Contains(resolve.RequiredGates(), g.Name) {
					continue // MicroShift's own rule
				}
				agree(t, reg, map[string]bool{g.Name: on})
				pairs++
			}
		}
		if want := 2*len(reg.Gates()) - 2; pairs < want {
			t.Errorf("Kubernetes %s: compared %d pairs, want at least %d", kube, pairs, want)
		}
	}
}

// FuzzAgreesWithComponentBase tries several gates at once. Each byte of the
// input picks a gate and, by its lowest bit, a value.
func FuzzAgreesWithComponentBase(f *testing.F) {
	f.Add(uint8(0), []byte("\x00\x01"))
	f.Add(uint8(4), []byte("feature gates"))
	f.Fuzz(func(t *testing.T, minor uint8, picks []byte) {
		versions := gates.Versions()
		reg := registry(t, versions[int(minor)%len(versions)].String())
		all := reg.Gates()
		values := map[string]bool{}
		for i := 0; i+1 < len(picks) && i < 64; i += 2 {
			g := all[(int(picks[i])<<7|int(picks[i+1])>>1)%len(all)]
			on := picks[i+1]&1 == 1
			if on || !slices.Contains(resolve.RequiredGates(), g.Name) {
				values[g.Name] = on
			}
		}
		agree(t, reg, values)
	})
}
