package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// BuiltInKubeletGates returns the featureGates of MicroShift's own
// KubeletConfiguration template. They are lost when the configuration has
// kubelet.featureGates, since of two such keys the last counts.
func BuiltInKubeletGates() map[string]bool {
	return map[string]bool{
		"APIPriorityAndFairness":         true,
		"DownwardAPIHugePages":           true,
		"PodSecurity":                    true,
		"RotateKubeletServerCertificate": false,
	}
}

// kubelet checks kubelet.featureGates, which MicroShift passes to the kubelet
// by itself, against the section.
func (v *validator) kubelet() {
	var outside []string
	first := config.Origin{}
	for _, name := range slices.Sorted(keys(v.cfg.Kubelet)) {
		value := v.cfg.Kubelet[name]
		if first.Path == "" || value.Origin.Pos.Compare(first.Pos) < 0 {
			first = value.Origin
		}
		if !v.kubeletGate(name, value) {
			continue
		}
		builtIn, isBuiltIn := BuiltInKubeletGates()[name]
		if _, inSection := v.settings[name]; !inSection && (!isBuiltIn || builtIn != value.V) {
			outside = append(outside, name)
		}
	}
	if len(outside) == 0 {
		return
	}
	v.at(diag.Warning, "kubelet-gates", config.Origin{Pos: first.Pos, Path: "kubelet.featureGates"},
		"kubelet.featureGates is outside the lock and replaces MicroShift's built-in kubelet gates; only there: "+strings.Join(outside, ", "),
		"move the gates to apiServer.featureGates, which reaches the kubelet too")
}

// kubeletGate checks one gate; false means that it has been reported.
func (v *validator) kubeletGate(name string, value config.Value[bool]) bool {
	if !nameForm.MatchString(name) {
		message, hint := badName(name, value.V)
		v.at(diag.Error, "gate-name", value.Origin, message, hint)
		return false
	}
	gate, known := v.gate(name)
	s, inSection := v.settings[name]
	_, isBuiltIn := BuiltInKubeletGates()[name]
	switch {
	case !value.V && slices.Contains(RequiredGates(), name):
		v.at(diag.Error, "gate-required", value.Origin, name+" is required by MicroShift and can't be disabled", "remove the key")
		return false
	case v.locked(value.Origin, gate, value.V):
		return false
	case inSection && s.Enabled != value.V:
		related := []diag.Position{}
		if s.Origin.Path != "" {
			related = append(related, s.Origin.Pos)
		}
		v.at(diag.Warning, "kubelet-contradicts", value.Origin,
			fmt.Sprintf("kubelet.featureGates sets %s to %t, but %s sets it to %t: the kubelet uses %t, and with it every component, since they share one gate table",
				name, value.V, cause(s), s.Enabled, value.V),
			"remove the key from kubelet.featureGates", related...)
	case !known && !isBuiltIn:
		v.unknown(value.Origin, name)
	}
	return true
}

// cause names what sets a gate.
func cause(s Setting) string {
	if s.Reason == Required {
		return "MicroShift itself"
	}
	return s.Origin.Path
}
