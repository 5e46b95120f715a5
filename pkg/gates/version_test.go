package gates

import (
	"math"
	"testing"
)

func TestKubernetesFor(t *testing.T) {
	for _, tc := range []struct {
		major, minor int
		want         string
		exact        bool
	}{
		{4, 19, "1.32", true},
		{4, 20, "1.33", true},
		{4, 21, "1.34", true},
		{4, 22, "1.35", true},
		{4, 23, "1.36", true},
		{5, 0, "1.36", true},
		{4, 18, "1.32", false},
		{4, 24, "1.36", false},
		{5, 1, "1.36", false},
		{3, 99, "1.32", false},
		{0, 0, "1.32", false},
		{-1, -1, "1.32", false},
		{4, -1, "1.32", false},
		{5, -1, "1.36", false},
		{math.MaxInt, math.MaxInt, "1.36", false},
		{math.MinInt, math.MinInt, "1.32", false},
	} {
		kube, exact := KubernetesFor(tc.major, tc.minor)
		if kube.String() != tc.want || exact != tc.exact {
			t.Errorf("KubernetesFor(%d, %d) = %s, %t; want %s, %t", tc.major, tc.minor, kube, exact, tc.want, tc.exact)
		}
	}
}

func TestVersions(t *testing.T) {
	versions := Versions()
	for i, v := range versions[1:] {
		if !v.GreaterThan(versions[i]) {
			t.Errorf("Versions has %s before %s, want them ascending", versions[i], v)
		}
	}
	for _, r := range releases {
		if _, exact := KubernetesFor(r.major, r.minor); !exact {
			t.Errorf("MicroShift %d.%d has no Kubernetes", r.major, r.minor)
		}
		registryOf(t, uint(r.kube))
	}
	versions[0] = nil
	if Versions()[0] == nil {
		t.Error("a change to the result of Versions reached the next one")
	}
}

func FuzzKubernetesFor(f *testing.F) {
	for _, r := range releases {
		f.Add(r.major, r.minor)
	}
	f.Fuzz(func(t *testing.T, major, minor int) {
		kube, exact := KubernetesFor(major, minor)
		if kube.Minor() < 32 || kube.Minor() > 36 {
			t.Errorf("KubernetesFor(%d, %d) = %s, want 1.32 to 1.36", major, minor, kube)
		}
		if exact && major != 4 && major != 5 {
			t.Errorf("KubernetesFor(%d, %d) is exact", major, minor)
		}
	})
}
