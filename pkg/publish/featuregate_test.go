package publish

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// objectOf returns the object for a section of MicroShift 4.22.
func objectOf(t *testing.T, section string) *configv1.FeatureGate {
	t.Helper()
	reg, _, err := gates.ForVersion(version.MustParse("1.35"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := config.Merge([]config.File{{Name: "config.yaml", Data: []byte("apiServer: {featureGates: {" + section + "}}\n")}})
	r, problems, err := resolve.Gates(cfg, reg, 4)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	fg, err := FeatureGate(r, "4.22.0", 4)
	if err != nil {
		t.Fatal(err)
	}
	return fg
}

func names(list []configv1.FeatureGateAttributes) []string {
	var names []string
	for _, g := range list {
		names = append(names, string(g.Name))
	}
	return names
}

func TestFeatureGate(t *testing.T) {
	for _, tt := range []struct {
		name, section string
		set           configv1.FeatureSet
		custom        *configv1.CustomFeatureGates
		on, off       []string // among others
	}{
		{"no section", "", "", nil, []string{"UserNamespacesSupport"}, []string{"MemoryQoS", "ClusterAPIInstall"}},
		{"custom", "featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [MemoryQoS], disabled: [ProcMountType]}", "CustomNoUpgrade",
			&configv1.CustomFeatureGates{Enabled: []configv1.FeatureGateName{"MemoryQoS"}, Disabled: []configv1.FeatureGateName{"ProcMountType"}},
			[]string{"MemoryQoS"}, []string{"ProcMountType"}},
		{"exceptions go with the others", "featureSet: CustomNoUpgrade, specialHandlingSupportExceptionRequired: {enabled: [MemoryQoS]}", "CustomNoUpgrade",
			&configv1.CustomFeatureGates{Enabled: []configv1.FeatureGateName{"MemoryQoS"}}, []string{"MemoryQoS"}, nil},
		{"preview", "featureSet: DevPreviewNoUpgrade", "DevPreviewNoUpgrade", nil, []string{"MinimumKubeletVersion"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fg := objectOf(t, tt.section)
			if fg.Name != "cluster" || fg.Spec.FeatureSet != tt.set || !cmp.Equal(fg.Spec.CustomNoUpgrade, tt.custom) {
				t.Errorf("%s %+v", fg.Name, fg.Spec)
			}
			if len(fg.Status.FeatureGates) != 1 || fg.Status.FeatureGates[0].Version != "4.22.0" {
				t.Fatalf("status %+v", fg.Status)
			}
			on, off := names(fg.Status.FeatureGates[0].Enabled), names(fg.Status.FeatureGates[0].Disabled)
			if !slices.IsSorted(on) || !slices.IsSorted(off) || len(on)+len(off) < 250 {
				t.Errorf("%d on, %d off, sorted: %t, %t", len(on), len(off), slices.IsSorted(on), slices.IsSorted(off))
			}
			for _, gate := range tt.on {
				if !slices.Contains(on, gate) || slices.Contains(off, gate) {
					t.Errorf("%s is not on", gate)
				}
			}
			for _, gate := range tt.off {
				if !slices.Contains(off, gate) || slices.Contains(on, gate) {
					t.Errorf("%s is not off", gate)
				}
			}
			if slices.Contains(slices.Concat(on, off), "AllAlpha") {
				t.Error("AllAlpha is no gate")
			}
		})
	}
}

func TestMerge(t *testing.T) {
	entries := func(versions string) (list []configv1.FeatureGateDetails) {
		for _, v := range strings.Fields(versions) {
			list = append(list, configv1.FeatureGateDetails{Version: v})
		}
		return list
	}
	for _, tt := range []struct{ fresh, present, want string }{
		{"4.22.0", "", "4.22.0"},
		{"4.22.0", "4.22.0", "4.22.0"},
		{"4.22.1", "4.22.0 4.21.9 4.21.10", "4.22.1 4.22.0 4.21.10 4.21.9"},
		{"4.22.0", "4.17.0 4.18.0 4.19.0 4.20.0 4.21.0 odd", "4.22.0 4.21.0 4.20.0 4.19.0 4.18.0"},
		{"4.22.0", "odd", "4.22.0 odd"},
	} {
		var got []string
		for _, d := range merge(entries(tt.fresh), entries(tt.present), newer) {
			got = append(got, d.Version)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s over %s: %s, want %s", tt.fresh, tt.present, text, tt.want)
		}
	}
}

func TestMergeConditions(t *testing.T) {
	early, late := metav1.NewTime(time.Unix(1e9, 0)), metav1.NewTime(time.Unix(2e9, 0))
	present := []metav1.Condition{{Type: "Foreign", Status: "True"}, {Type: "A", Status: "True", Message: "old", LastTransitionTime: early}, {Type: "B", Status: "True", LastTransitionTime: early}}
	got := MergeConditions(present, []metav1.Condition{
		{Type: "A", Status: "True", Message: "new", LastTransitionTime: late}, {Type: "B", Status: "False", LastTransitionTime: late}, {Type: "C", Status: "True", LastTransitionTime: late},
	})
	want := []metav1.Condition{
		{Type: "Foreign", Status: "True"}, {Type: "A", Status: "True", Message: "new", LastTransitionTime: early},
		{Type: "B", Status: "False", LastTransitionTime: late}, {Type: "C", Status: "True", LastTransitionTime: late},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if present[1].Message != "old" {
		t.Error("the conditions that were there have been changed in place")
	}
}

func TestDefinitions(t *testing.T) {
	for file, name := range map[string]string{"crds/featuregates.crd.yaml": "featuregates.config.openshift.io", "crds/nodes.crd.yaml": "nodes.config.openshift.io"} {
		crd, err := definition(file)
		if err != nil || crd.GetName() != name {
			t.Errorf("%s: %v, %v", file, crd, err)
		}
	}
}
