package gates

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The facts are those of openshift/api's features/features.go, where each gate
// names the sets that enable it.
func TestFeatureSet(t *testing.T) {
	for _, tc := range []struct {
		gate                  string
		def, techPreview, dev bool
	}{
		{"ServiceAccountTokenNodeBinding", true, true, true},
		{"StoragePerformantSecurityPolicy", true, true, true},
		{"VolumeGroupSnapshot", false, true, true},
		{"UpgradeStatus", true, true, true},
		{"ClusterUpdatePreflight", false, false, true},
		{"ConfidentialCluster", false, false, true},
		{"EventedPLEG", false, false, false},
	} {
		for name, want := range map[string]bool{Default: tc.def, TechPreviewNoUpgrade: tc.techPreview, DevPreviewNoUpgrade: tc.dev} {
			set, err := FeatureSet(name, 4)
			if err != nil {
				t.Fatal(err)
			}
			enabled, disabled := slices.Contains(set.Enabled, tc.gate), slices.Contains(set.Disabled, tc.gate)
			if enabled != want || disabled == want {
				t.Errorf("set %q: %s enabled: %t, disabled: %t; want enabled: %t", name, tc.gate, enabled, disabled, want)
			}
		}
	}
}

// The numbers are those of FeatureSets(4, SelfManaged, set) in openshift/api's
// package features, where 5 gives the same.
func TestFeatureSetSizes(t *testing.T) {
	for name, want := range map[string][2]int{
		Default:              {33, 92},
		TechPreviewNoUpgrade: {104, 21},
		DevPreviewNoUpgrade:  {114, 11},
	} {
		set, err := FeatureSet(name, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{len(set.Enabled), len(set.Disabled)}; got != want {
			t.Errorf("set %q enables and disables %d gates, want %d", name, got, want)
		}
	}
}

// Every set must put each gate that OpenShift knows in one of its lists.
func TestFeatureSetsCoverTheSameGates(t *testing.T) {
	var want []string
	for _, name := range []string{Default, TechPreviewNoUpgrade, DevPreviewNoUpgrade} {
		set, err := FeatureSet(name, 4)
		if err != nil {
			t.Fatal(err)
		}
		if set.Name != name || !slices.IsSorted(set.Enabled) || !slices.IsSorted(set.Disabled) {
			t.Errorf("set %q: name %q, sorted: %t, %t; want all sorted", name, set.Name,
				slices.IsSorted(set.Enabled), slices.IsSorted(set.Disabled))
		}
		got := slices.Concat(set.Enabled, set.Disabled)
		slices.Sort(got)
		if n := len(slices.Compact(slices.Clone(got))); n != len(got) {
			t.Errorf("set %q: %d of %d gates are there twice", name, len(got)-n, len(got))
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("set %q knows other gates than the default one (-want +got):\n%s", name, diff)
		}
	}
}

func TestFeatureSetOfEveryMajor(t *testing.T) {
	want, err := FeatureSet(TechPreviewNoUpgrade, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, major := range []int{-1, 0, 3, 5, 10, 11, 1 << 40} {
		got, err := FeatureSet(TechPreviewNoUpgrade, major)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("major %d (-4 +%d):\n%s", major, major, diff)
		}
	}
}

func TestNoFeatureSet(t *testing.T) {
	for _, name := range []string{CustomNoUpgrade, "OKD", "Default", "techpreviewnoupgrade", "../gates"} {
		if set, err := FeatureSet(name, 4); err == nil {
			t.Errorf("FeatureSet(%q) = %v, want an error", name, set)
		}
	}
}

func TestNearest(t *testing.T) {
	files := []string{
		"featureGate-4-SelfManagedHA-X.yaml",
		"featureGate-5-6-SelfManagedHA-X.yaml",
		"featureGate-7-10-SelfManagedHA-X.yaml",
		"featureGate-5-10-SelfManagedHA-Y.yaml",
	}
	for _, tc := range []struct {
		set   string
		major int
		want  string
	}{
		{"X", 4, files[0]}, {"X", 5, files[1]}, {"X", 6, files[1]}, {"X", 7, files[2]},
		{"X", 3, files[0]}, {"X", 11, files[2]}, {"Y", 4, files[3]}, {"Z", 4, ""},
	} {
		got, err := nearestManifest(files, tc.set, tc.major)
		if got != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("nearestManifest(%s, %d) = %q, %v; want %q", tc.set, tc.major, got, err, tc.want)
		}
	}
}

func TestDecodeSetErrors(t *testing.T) {
	for name, data := range map[string]string{
		"not JSON":     "apiVersion: config.openshift.io/v1",
		"no gates":     `{"status": {}}`,
		"two versions": `{"status": {"featureGates": [{}, {}]}}`,
	} {
		if set, err := decodeSet([]byte(data)); err == nil {
			t.Errorf("%s: got %v, want an error", name, set)
		}
	}
}

func BenchmarkFeatureSet(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FeatureSet(TechPreviewNoUpgrade, 4); err != nil {
			b.Fatal(err)
		}
	}
}
