package gates

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/version"
)

// registryOf returns the registry of Kubernetes 1.minor, which must be embedded.
func registryOf(t testing.TB, minor uint) *Registry {
	t.Helper()
	reg, exact, err := ForVersion(version.MajorMinor(1, minor))
	if err != nil {
		t.Fatalf("ForVersion(1.%d): %v", minor, err)
	}
	if !exact {
		t.Fatalf("ForVersion(1.%d) returned 1.%d, want a registry of its own", minor, reg.Version().Minor())
	}
	return reg
}

// count returns how many of Kubernetes' own gates satisfy want.
func count(reg *Registry, want func(Gate) bool) int {
	n := 0
	for _, g := range reg.Gates() {
		if !g.OpenShift && want(g) {
			n++
		}
	}
	return n
}

// The numbers were counted on real kube-apiserver binaries of these versions.
func TestCountsOfComponents(t *testing.T) {
	for _, tc := range []struct {
		minor           uint
		source          string
		want, scheduler int
	}{
		{34, "k8s.io/kubernetes v1.34.4", 208, 208},
		{35, "k8s.io/kubernetes v1.35.4", 218, 218},
		{36, "k8s.io/kubernetes v1.36.2", 242, 241},
	} {
		reg := registryOf(t, tc.minor)
		if reg.Source() != tc.source {
			t.Errorf("1.%d was made from %s, want %s", tc.minor, reg.Source(), tc.source)
		}
		for c, want := range map[Component]int{
			KubeAPIServer:         tc.want,
			KubeControllerManager: tc.want,
			Kubelet:               tc.want,
			KubeScheduler:         tc.scheduler,
		} {
			if got := count(reg, func(g Gate) bool { return g.Has(c) }); got != want {
				t.Errorf("%s: %s recognises %d gates, want %d", tc.source, c, got, want)
			}
		}
	}
}

// The numbers were counted on the gate table of Kubernetes v1.36.2.
func TestStages(t *testing.T) {
	reg := registryOf(t, 36)
	got := map[string]int{}
	for _, g := range reg.Gates() {
		if g.OpenShift {
			continue
		}
		got[g.Stage]++
		if g.Locked {
			got["locked "+map[bool]string{true: "on", false: "off"}[g.Default]]++
		}
		if g.Locked && g.Stage == "deprecated" {
			got["deprecated locked"]++
		}
		if !g.Locked && g.Stage == "ga" {
			got["ga unlocked"]++
		}
	}
	want := map[string]int{
		"alpha": 50, "beta": 100, "ga": 76, "deprecated": 16,
		"locked on": 73, "locked off": 3, "deprecated locked": 5, "ga unlocked": 5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gates of Kubernetes 1.36 (-want +got):\n%s", diff)
	}
}

func TestGate(t *testing.T) {
	type state struct {
		Stage           string
		Default, Locked bool
		Requires        []string
		OpenShift       bool
	}
	for _, tc := range []struct {
		minor uint
		name  string
		want  *state // nil: not known
	}{
		{36, "NodeLogQuery", &state{Stage: "ga", Default: true, Locked: true}},
		{36, "UserNamespacesSupport", &state{Stage: "ga", Default: true, Locked: true}},
		{36, "ProcMountType", &state{Stage: "ga", Default: true, Locked: true, Requires: []string{"UserNamespacesSupport"}}},
		{36, "MemoryQoS", &state{Stage: "alpha"}},
		{36, "UnknownVersionInteroperabilityProxy", &state{Stage: "beta", Default: true, Requires: []string{"APIServerIdentity"}}},
		{36, "RouteExternalCertificate", &state{Stage: "alpha", OpenShift: true}},
		{36, "MinimumKubeletVersion", &state{Stage: "alpha", OpenShift: true}},
		{36, "StoragePerformantSecurityPolicy", &state{Stage: "alpha", OpenShift: true}},
		{36, "UserNamespacesPodSecurityStandards", nil},
		{35, "UserNamespacesPodSecurityStandards", nil},
		{36, "PodSecurity", nil},
		{36, "DownwardAPIHugePages", nil},
		{36, "APIPriorityAndFairness", nil},
		{36, "memoryqos", nil},
		{36, "AllAlpha", &state{Stage: "alpha"}},
		{36, "AllBeta", &state{Stage: "beta"}},
		{36, "", nil},
	} {
		t.Run(fmt.Sprintf("1.%d/%s", tc.minor, tc.name), func(t *testing.T) {
			g, ok := registryOf(t, tc.minor).Gate(tc.name)
			var got *state
			if ok {
				got = &state{g.Stage, g.Default, g.Locked, g.Requires, g.OpenShift}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, ok := registryOf(t, 34).Gate("UserNamespacesPodSecurityStandards"); !ok {
		t.Error("1.34 does not know UserNamespacesPodSecurityStandards, want it: it went in 1.35")
	}
}

// The gate is new in 1.36; before that, the components do not differ.
func TestSchedulerLacksOneGate(t *testing.T) {
	for _, v := range Versions() {
		var got, want []string
		if v.Minor() == 36 {
			want = []string{"ControllerManagerReleaseLeaderElectionLockOnExit"}
		}
		for _, g := range registryOf(t, v.Minor()).Gates() {
			if !g.Has(KubeScheduler) {
				got = append(got, g.Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: gates that kube-scheduler lacks (-want +got):\n%s", v, diff)
		}
	}
}

// OpenShift's gates and the release that brought each are those of its
// Kubernetes' pkg/features/openshift_features.go.
func TestOpenShiftGates(t *testing.T) {
	for _, v := range Versions() {
		want := []string{"MinimumKubeletVersion 1.32", "RouteExternalCertificate 1.29", "StoragePerformantSecurityPolicy 1.33"}
		if v.Minor() < 33 {
			want = want[:2]
		}
		var got []string
		for _, g := range registryOf(t, v.Minor()).Gates() {
			if !g.OpenShift {
				continue
			}
			got = append(got, g.Name+" "+g.Since)
			if diff := cmp.Diff(Components(), g.Components); diff != "" {
				t.Errorf("%s: components of %s (-want +got):\n%s", v, g.Name, diff)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
	}
}

func TestForVersion(t *testing.T) {
	for _, tc := range []struct {
		kube, want string
		exact      bool
	}{
		{"1.32", "1.32", true},
		{"1.34.4", "1.34", true},
		{"1.36.99-rc.1", "1.36", true},
		{"1.31", "1.32", false},
		{"1.37", "1.36", false},
		{"0.36", "1.32", false},
		{"2.0", "1.36", false},
		{"1.999999", "1.36", false},
	} {
		reg, exact, err := ForVersion(version.MustParseGeneric(tc.kube))
		if err != nil {
			t.Fatalf("ForVersion(%s): %v", tc.kube, err)
		}
		if got := reg.Version().String(); got != tc.want || exact != tc.exact {
			t.Errorf("ForVersion(%s) = %s, %t; want %s, %t", tc.kube, got, exact, tc.want, tc.exact)
		}
	}
	if reg, exact, err := ForVersion(nil); reg != nil || exact || err == nil {
		t.Errorf("ForVersion(nil) = %v, %t, %v; want nil, false and an error", reg, exact, err)
	}
}

// Since is never later than the registry, nor than any version in the specs.
func TestSince(t *testing.T) {
	for _, v := range Versions() {
		for _, g := range registryOf(t, v.Minor()).Gates() {
			since, err := version.ParseMajorMinor(g.Since)
			if err != nil || since.GreaterThan(v) || since.Minor() == 0 {
				t.Errorf("%s: %s is there since %q, %v; want 1.1 to %s", v, g.Name, g.Since, err, v)
				continue
			}
			for _, s := range g.Specs {
				if s.Version.Minor() != 0 && s.Version.LessThan(since) {
					t.Errorf("%s: %s is there since %s but has a spec of %s", v, g.Name, since, s.Version)
				}
			}
		}
	}
}

func TestRemoved(t *testing.T) {
	for _, tc := range []struct{ name, kube, want string }{
		{"UserNamespacesPodSecurityStandards", "1.36", "1.35"},
		{"UserNamespacesPodSecurityStandards", "1.35.4", "1.35"},
		{"UserNamespacesPodSecurityStandards", "1.99", "1.35"},
		{"UserNamespacesPodSecurityStandards", "1.34", ""}, // still there
		{"MemoryQoS", "1.36", ""},
		{"NoSuchGate", "1.36", ""},
		{"UserNamespacesPodSecurityStandards", "1.1", ""},
		{"", "1.36", ""},
	} {
		since, ok := Removed(tc.name, version.MustParseGeneric(tc.kube))
		got := ""
		if ok {
			got = since.String()
		}
		if got != tc.want {
			t.Errorf("Removed(%s, %s) = %q, want %q", tc.name, tc.kube, got, tc.want)
		}
	}
	if since, ok := Removed("MemoryQoS", nil); ok {
		t.Errorf("Removed(MemoryQoS, nil) = %v, want none", since)
	}
}

func TestGatesAreSortedAndOwn(t *testing.T) {
	reg := registryOf(t, 36)
	gates := reg.Gates()
	if !slices.IsSortedFunc(gates, func(a, b Gate) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("Gates is not sorted by name")
	}
	gates[0].Name = "changed"
	if got := reg.Gates()[0].Name; got == "changed" {
		t.Error("a change to the result of Gates reached the registry")
	}
}
