//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestMalformedNames checks for each name that validate refuses what would
// come of it were it passed on: kube-apiserver refuses it, or takes it for
// something else than what the configuration says.
func TestMalformedNames(t *testing.T) {
	required := "--feature-gates=UserNamespacesSupport=true," // MicroShift always sets this one
	for _, tt := range []struct {
		name    string
		enabled bool   // the list it is in
		want    string // in what kube-apiserver complains of
	}{
		// Refused for what it is.
		{"MemoryQoS=true", true, "invalid value of MemoryQoS=true=true"},
		{"MemoryQoS=false", true, "invalid value of MemoryQoS=false=true"},
		{"MemoryQoS=maybe", true, "invalid value of MemoryQoS=maybe=true"},
		{"MemoryQoS,WatchList", true, "missing bool value for MemoryQoS"},
		{"MemoryQoS, WatchList", true, "missing bool value for MemoryQoS"},
		{"MemoryQoS,", true, "missing bool value for MemoryQoS"},
		{"kube:MemoryQoS", true, "do not mix use"},
		{"wardle:MemoryQoS", true, "component not registered: wardle"},

		// Refused since it is the name of no gate.
		{"", true, "unrecognized feature gate: "},
		{" ", true, "unrecognized feature gate: "},
		{"Memory QoS", true, "unrecognized feature gate: Memory QoS"},
		{"'MemoryQoS'", true, "unrecognized feature gate: 'MemoryQoS'"},
		{`"MemoryQoS"`, true, "unrecognized feature gate: "},
		{"Memory_QoS", true, "unrecognized feature gate: Memory_QoS"},
		{"Memor\u0443QoS", true, "unrecognized feature gate: "},  // a Cyrillic letter
		{"MemoryQoS\u200b", true, "unrecognized feature gate: "}, // a zero-width space

		// Misread. APIServerTracing is locked to true, so that the complaint
		// tells which gate was to be switched off.
		{" APIServerTracing", false, "cannot set feature gate APIServerTracing to false"},
		{"APIServerTracing\t", false, "cannot set feature gate APIServerTracing to false"},
		{"APIServerTracing\u00a0", false, "cannot set feature gate APIServerTracing to false"}, // a no-break space
		{"MemoryQoS=true,APIServerTracing", false, "cannot set feature gate APIServerTracing to false"},
		{"APIServerTracing=false,MemoryQoS", true, "cannot set feature gate APIServerTracing to false"},
		{"APIServerTracing=0,MemoryQoS", true, "cannot set feature gate APIServerTracing to false"},
	} {
		t.Run(fmt.Sprintf("%q", tt.name), func(t *testing.T) {
			var codes []string
			for _, d := range newest.validate(t, customConfig(tt.name, tt.enabled)) {
				codes = append(codes, d.Code)
			}
			if got := strings.Join(codes, " "); got != "gate-name" {
				t.Errorf("validate says %q, want gate-name", got)
			}
			if got := newest.complaint(t, fmt.Sprintf("%s%s=%t", required, tt.name, tt.enabled)); !strings.Contains(got, tt.want) {
				t.Errorf("kube-apiserver complains of %q, want %q", got, tt.want)
			}
			count("", "malformed names that validate and kube-apiserver were given")
		})
	}
}
