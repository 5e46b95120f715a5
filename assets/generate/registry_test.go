package main

import (
	"slices"
	"strings"
	"testing"
)

// four returns the tables of the four components, equal but for changes.
func four(change func(component string, t table)) []table {
	tables := make([]table, len(components))
	for i, c := range components {
		tables[i] = table{
			"Old":                       {Specs: []spec{{Version: "1.0", Stage: "ga", Default: true}, {Version: "1.35", Stage: "deprecated"}}},
			"New":                       {Specs: []spec{{Version: "1.36", Stage: "alpha"}}, Requires: []string{"Old", "Bare"}},
			"CoordinatedLeaderElection": {Specs: []spec{{Version: "1.31", Stage: "alpha"}}},
			"GenericWorkload":           {Specs: []spec{{Version: "1.35", Stage: "alpha"}}},
			"StorageVersionAPI":         {Specs: []spec{{Version: "1.20", Stage: "alpha"}}},
			"Bare":                      {Specs: []spec{{Version: "0.0", Stage: "beta", Default: true, Locked: true}}},
			"Skew": {Specs: []spec{
				{Version: "1.34", Stage: "beta"},
				{Version: "1.34", Stage: "beta", Default: true, MinCompatibility: "1.34"},
				{Version: "1.36", Stage: "ga", Default: true, MinCompatibility: "1.34"},
			}},
		}
		change(c, tables[i])
	}
	return tables
}

func TestRegistry(t *testing.T) {
	tables := four(func(component string, t table) {
		if component == "kube-scheduler" {
			delete(t, "New")
		}
		if component == "kubelet" {
			t["Bare"] = gate{Specs: []spec{{Version: "0.0", Stage: "beta", Locked: true}}}
		}
	})
	got, err := registry("1.36", "somewhere v1", tables, map[string]string{"Skew": "1.9", "Old": "1.36"})
	if err != nil {
		t.Fatal(err)
	}
	const all = "[kube-apiserver, kube-controller-manager, kube-scheduler, kubelet]"
	want := []string{
		"# The feature gates of Kubernetes 1.36 and the components that recognise them.",
		"# Generated, do not edit: go -C assets/generate run . kubernetes-1.36",
		"# Not shown below: in kubelet, Bare is [0.0 beta off locked]",
		"generatedFrom: somewhere v1",
		"gates:",
		`  Bare: {since: "1.36", specs: [0.0 beta on locked], components: ` + all + "}",
		`  CoordinatedLeaderElection: {since: "1.31", specs: [1.31 alpha off], components: ` + all + ", api: coordination.k8s.io/v1beta1}",
		`  GenericWorkload: {since: "1.35", specs: [1.35 alpha off], components: ` + all + ", api: scheduling.k8s.io/v1alpha2}",
		`  MinimumKubeletVersion: {since: "1.32", specs: [1.32 alpha off], components: ` + all + ", openshift: true}",
		`  New: {since: "1.36", specs: [1.36 alpha off], components: [kube-apiserver, kube-controller-manager, kubelet], requires: [Bare, Old]}`,
		`  Old: {since: "1.35", specs: [1.0 ga on, 1.35 deprecated off], components: ` + all + "}",
		`  RouteExternalCertificate: {since: "1.29", specs: [1.29 alpha off], components: ` + all + ", openshift: true}",
		`  Skew: {since: "1.9", specs: [1.34 beta off, 1.34 beta on min-compatibility=1.34, 1.36 ga on], components: ` + all + "}",
		`  StoragePerformantSecurityPolicy: {since: "1.33", specs: [1.33 alpha off], components: ` + all + ", openshift: true}",
		`  StorageVersionAPI: {since: "1.20", specs: [1.20 alpha off], components: ` + all + ", api: internal.apiserver.k8s.io/v1alpha1}",
	}
	if lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n"); !slices.Equal(lines, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestRegistryErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(component string, t table)
		want   string
	}{
		"another stage": {func(component string, t table) {
			if component == "kubelet" {
				t["New"] = gate{Specs: []spec{{Version: "1.36", Stage: "beta"}}, Requires: t["New"].Requires}
			}
		}, "kubelet knows another New than kube-apiserver does"},
		"other needs": {func(component string, t table) {
			if component == "kube-scheduler" {
				t["New"] = gate{Specs: t["New"].Specs}
			}
		}, "kube-scheduler knows another New than kube-apiserver does"},
		"a gate of OpenShift's": {func(_ string, t table) {
			t["RouteExternalCertificate"] = t["New"]
		}, "RouteExternalCertificate is no longer OpenShift's alone"},
		"a gate less that waits for an API": {func(_ string, t table) {
			delete(t, "GenericWorkload")
		}, "there is no GenericWorkload any more that waits for an API"},
	} {
		_, err := registry("1.36", "somewhere v1", four(tc.change), nil)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

func TestCheckedNeeds(t *testing.T) {
	tables := four(func(_ string, t table) {
		for _, name := range []string{"AuthorizeNodeWithSelectors", "AuthorizeWithSelectors", "MutatingAdmissionPolicy"} {
			t[name] = t["Old"]
		}
	})
	got, err := registry("1.33", "somewhere v1", tables, nil)
	if want := "requires: [AuthorizeWithSelectors]}"; err != nil || strings.Count(string(got), want) != 1 {
		t.Errorf("got %v\n%s\nwant %s once", err, got, want)
	}
	want := "there is no AuthorizeNodeWithSelectors any more that needs AuthorizeWithSelectors"
	if _, err = registry("1.33", "somewhere v1", four(func(_ string, t table) { t["MutatingAdmissionPolicy"] = t["Old"] }), nil); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestUnservedAPI(t *testing.T) {
	for _, tc := range []struct{ name, minor, want string }{
		{"MutatingAdmissionPolicy", "1.31", ""},
		{"MutatingAdmissionPolicy", "1.33", "admissionregistration.k8s.io/v1alpha1"},
		{"MutatingAdmissionPolicy", "1.35", "admissionregistration.k8s.io/v1beta1"},
		{"MutatingAdmissionPolicy", "1.36", ""},
		{"MemoryQoS", "1.36", ""},
	} {
		if got := unservedAPI(tc.name, tc.minor); got != tc.want {
			t.Errorf("%s in %s waits for %q, want %q", tc.name, tc.minor, got, tc.want)
		}
	}
}

func TestSortedMinors(t *testing.T) {
	got := sortedMinors([]string{"a/kubernetes-1.36.yaml", "1.100.mod", "1.36.mod", "1.9.mod", "go.mod"})
	if want := []string{"1.9", "1.36", "1.100"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
