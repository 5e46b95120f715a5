// Package publish tells the cluster what this device's configuration amounts
// to: in OpenShift's FeatureGate object named cluster, which operators ask, and
// in its nodes.config.openshift.io object, which has the minimum kubelet
// version.
package publish

import (
	"cmp"
	"maps"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// Name is the name of both objects, the only one that OpenShift uses.
const Name = "cluster"

// FeatureGate returns the object for a result. Its spec is the section of the
// configuration; gates of specialHandlingSupportExceptionRequired, for which it
// has no place, are among those of customNoUpgrade. Its status has one entry,
// for the given version of MicroShift, with every gate that either Kubernetes
// or OpenShift knows, sorted: an operator that asks for one that is in neither
// list panics (openshift/library-go, pkg/operator/configobserver/featuregates).
func FeatureGate(r *resolve.Result, version string, major int) (*configv1.FeatureGate, error) {
	states, err := states(r, major)
	if err != nil {
		return nil, err
	}
	fg := &configv1.FeatureGate{
		TypeMeta:   metav1.TypeMeta{APIVersion: configv1.GroupVersion.String(), Kind: "FeatureGate"},
		ObjectMeta: metav1.ObjectMeta{Name: Name},
	}
	fg.Spec.FeatureSet = configv1.FeatureSet(r.FeatureSet.V)
	fg.Spec.CustomNoUpgrade = custom(r)
	details := configv1.FeatureGateDetails{Version: version}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		gate := configv1.FeatureGateAttributes{Name: configv1.FeatureGateName(name)}
		if states[name] {
			details.Enabled = append(details.Enabled, gate)
		} else {
			details.Disabled = append(details.Disabled, gate)
		}
	}
	fg.Status.FeatureGates = []configv1.FeatureGateDetails{details}
	return fg, nil
}

// custom returns the lists of the section; nil where they are empty.
func custom(r *resolve.Result) *configv1.CustomFeatureGates {
	var lists configv1.CustomFeatureGates
	for _, s := range r.Settings {
		name := configv1.FeatureGateName(s.Gate.Name)
		switch {
		case s.Reason != resolve.Custom && s.Reason != resolve.Exception:
		case s.Enabled:
			lists.Enabled = append(lists.Enabled, name)
		default:
			lists.Disabled = append(lists.Disabled, name)
		}
	}
	if len(lists.Enabled)+len(lists.Disabled) == 0 {
		return nil
	}
	return &lists
}

// states returns every gate that may be asked for, with its value. What only
// OpenShift's operators know is off, but for what the preview set or the lists
// of the configuration switch on: MicroShift does not inherit OpenShift's
// defaults.
func states(r *resolve.Result, major int) (map[string]bool, error) {
	states := map[string]bool{}
	defaults, err := gates.FeatureSet(gates.Default, major)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(defaults.Enabled, defaults.Disabled) {
		states[name] = false
	}
	if set := r.FeatureSet.V; set == gates.TechPreviewNoUpgrade || set == gates.DevPreviewNoUpgrade {
		preview, err := gates.FeatureSet(set, major)
		if err != nil {
			return nil, err
		}
		for _, name := range preview.Disabled {
			states[name] = false
		}
		for _, name := range preview.Enabled {
			states[name] = true
		}
	}
	for _, s := range r.All() {
		states[s.Gate.Name] = s.Enabled
	}
	delete(states, "AllAlpha") // not gates, but switches of others
	delete(states, "AllBeta")
	return states, nil
}

// maxVersions is how many versions of MicroShift have an entry in the status.
const maxVersions = 5

// merge returns the entries of fresh, and behind them those that the cluster
// has of other versions, the newest ones, sorted by version: a fleet is not
// updated at once, and each operator looks for the version that it runs.
func merge(fresh, present []configv1.FeatureGateDetails, newer func(a, b string) int) []configv1.FeatureGateDetails {
	others := slices.DeleteFunc(slices.Clone(present), func(d configv1.FeatureGateDetails) bool {
		return slices.ContainsFunc(fresh, func(f configv1.FeatureGateDetails) bool { return f.Version == d.Version })
	})
	slices.SortFunc(others, func(a, b configv1.FeatureGateDetails) int {
		return cmp.Or(newer(a.Version, b.Version), cmp.Compare(a.Version, b.Version))
	})
	others = others[:min(len(others), max(0, maxVersions-len(fresh)))]
	return append(slices.Clone(fresh), others...)
}
