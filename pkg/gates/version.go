package gates

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/microshift-io/microshift-feature-gates/assets"
)

// releases says which Kubernetes 1.x each MicroShift contains, ascending.
var releases = []struct{ major, minor, kube int }{
	{4, 19, 32},
	{4, 20, 33},
	{4, 21, 34},
	{4, 22, 35},
	{4, 23, 36},
	{5, 0, 36},
}

// KubernetesFor returns the Kubernetes minor version that MicroShift
// major.minor contains. For a MicroShift that is not in the table exact is
// false, and the result is that of the newest older release, or else that of
// the oldest. Any numbers are allowed.
func KubernetesFor(major, minor int) (kube *version.Version, exact bool) {
	nearest := releases[0]
	for _, r := range releases {
		if cmp.Or(cmp.Compare(r.major, major), cmp.Compare(r.minor, minor)) <= 0 {
			nearest = r
		}
	}
	return version.MajorMinor(1, uint(nearest.kube)), nearest.major == major && nearest.minor == minor
}

// Versions returns the Kubernetes versions whose gates are embedded, ascending.
func Versions() []*version.Version {
	known, _ := versions() // an error would have failed ForVersion first
	return slices.Clone(known)
}

// versions lists the embedded registries by their file names. The result has
// at least one element unless err is set.
var versions = sync.OnceValues(func() ([]*version.Version, error) {
	entries, err := assets.FS.ReadDir("gates")
	if err != nil {
		return nil, fmt.Errorf("list embedded gates: %w", err)
	}
	var known []*version.Version
	for _, e := range entries {
		v, err := parseMinor(strings.TrimSuffix(strings.TrimPrefix(e.Name(), "kubernetes-"), ".yaml"))
		if err != nil {
			return nil, fmt.Errorf("embedded gates/%s: %w", e.Name(), err)
		}
		known = append(known, v)
	}
	if len(known) == 0 {
		return nil, errors.New("no gates embedded")
	}
	slices.SortFunc(known, func(a, b *version.Version) int {
		return cmp.Or(cmp.Compare(a.Major(), b.Major()), cmp.Compare(a.Minor(), b.Minor()))
	})
	return known, nil
})

// Removed reports whether kube no longer has a gate that an older embedded
// registry has, and if so, the first version without it. A gate that kube has,
// or that no embedded registry up to kube has, was not removed. It loads other
// registries, so it is for names that ForVersion(kube) does not know.
func Removed(name string, kube *version.Version) (since *version.Version, ok bool) {
	if kube == nil {
		return nil, false
	}
	for _, v := range slices.Backward(Versions()) {
		if v.GreaterThan(kube) {
			continue
		}
		reg, err := load(v)
		if err != nil {
			return nil, false
		}
		if _, has := reg.Gate(name); has {
			return since, since != nil
		}
		since = v
	}
	return nil, false
}
