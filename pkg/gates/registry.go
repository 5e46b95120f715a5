// Package gates knows what exists: the feature gates of each Kubernetes minor
// version, which components recognise them, and OpenShift's feature sets.
// All of it is embedded; nothing is read from disk and nothing is done before
// the first call.
package gates

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"

	"github.com/microshift-io/microshift-feature-gates/assets"
)

// Component is the name of a Kubernetes program that has feature gates.
type Component string

// The components that MicroShift runs.
const (
	KubeAPIServer         Component = "kube-apiserver"
	KubeControllerManager Component = "kube-controller-manager"
	KubeScheduler         Component = "kube-scheduler"
	Kubelet               Component = "kubelet"
)

// Components returns all components, in the order in which they are shown.
func Components() []Component {
	return []Component{KubeAPIServer, KubeControllerManager, KubeScheduler, Kubelet}
}

// Gate is a feature gate as one Kubernetes version knows it. Its slices belong
// to the registry and must not be changed.
type Gate struct {
	Name       string
	Components []Component // that recognise the gate, in the order of Components; at least one

	// Stage is "alpha", "beta", "ga" or "deprecated"; "" before the gate's
	// first stage. With Default and Locked it is what component-base finds in
	// Specs at the registry's version.
	Stage   string
	Default bool // the value when nobody sets the gate
	Locked  bool // setting it to anything but Default is an error

	Specs    featuregate.VersionedSpecs // by version, ascending; at least one
	Requires []string                   // the gates that must be on when this one is, sorted; may be empty

	// Since is the first Kubernetes minor that is known to have the gate, such
	// as "1.34": the lowest version in the specs of this registry or any older
	// one. Versions 0.0 (none given) and 1.0 (the behaviour from before there
	// was a gate) do not count; a gate with no other has the oldest registry
	// that knows it, and may be older than that.
	Since string

	// UnservedAPI is the API, such as "coordination.k8s.io/v1beta1", that
	// kube-apiserver reads when the gate is on, and does not serve by default.
	// Without it kube-apiserver does not become ready, and MicroShift has no
	// setting to serve it. Empty for most gates.
	UnservedAPI string

	OpenShift bool // added by OpenShift's Kubernetes, unknown to the original
}

// Has reports whether c recognises the gate.
func (g Gate) Has(c Component) bool { return slices.Contains(g.Components, c) }

// Registry holds the feature gates of one Kubernetes minor version. It never
// changes and may be used by several goroutines.
type Registry struct {
	kube   *version.Version
	source string
	gates  []Gate // sorted by name
	gate   featuregate.MutableVersionedFeatureGate
}

// ForVersion returns the registry of kube's minor version; its patch is
// ignored. When that is not embedded, exact is false and the registry is the
// newest older one, or else the oldest. The error is not nil when kube is nil
// or the embedded registry is damaged.
func ForVersion(kube *version.Version) (reg *Registry, exact bool, err error) {
	if kube == nil {
		return nil, false, errors.New("no Kubernetes version given")
	}
	known, err := versions()
	if err != nil {
		return nil, false, err
	}
	nearest := known[0]
	for _, v := range known {
		if v.Major() < kube.Major() || v.Major() == kube.Major() && v.Minor() <= kube.Minor() {
			nearest = v
		}
	}
	reg, err = load(nearest)
	return reg, nearest.Major() == kube.Major() && nearest.Minor() == kube.Minor(), err
}

// Version returns the Kubernetes minor version whose gates these are.
func (r *Registry) Version() *version.Version { return r.kube }

// Source returns what the registry was made from, such as
// "k8s.io/kubernetes v1.36.2".
func (r *Registry) Source() string { return r.source }

// Gate returns the gate of that name. AllAlpha and AllBeta are gates as well,
// which component-base adds to every component.
func (r *Registry) Gate(name string) (Gate, bool) {
	i, ok := slices.BinarySearchFunc(r.gates, name, func(g Gate, name string) int {
		return cmp.Compare(g.Name, name)
	})
	if !ok {
		return Gate{}, false
	}
	return r.gates[i], true
}

// Gates returns all gates sorted by name.
func (r *Registry) Gates() []Gate { return slices.Clone(r.gates) }

// Refusal returns why kube-apiserver would not become ready with g set to
// enabled, such as "locked to true in Kubernetes 1.36"; "" if nothing is known
// against it. That other gates must be on for g is another matter.
func (r *Registry) Refusal(g Gate, enabled bool) string {
	switch {
	case g.Locked && g.Default != enabled:
		return fmt.Sprintf("locked to %t in Kubernetes %s", g.Default, r.kube)
	case enabled && g.UnservedAPI != "":
		return fmt.Sprintf("in Kubernetes %s, kube-apiserver would wait for the API %s, which MicroShift does not serve", r.kube, g.UnservedAPI)
	}
	return ""
}

// FeatureGate returns a new feature gate of component-base with nothing set,
// which knows the gates and what they need, and emulates the registry's
// version. It obeys the same rules as the components do.
func (r *Registry) FeatureGate() featuregate.MutableVersionedFeatureGate {
	return r.gate.DeepCopy()
}

// loaded caches the registries, which are a pure function of embedded data:
// file name to func() (*Registry, error).
var loaded sync.Map

func load(kube *version.Version) (*Registry, error) {
	name := fmt.Sprintf("gates/kubernetes-%d.%d.yaml", kube.Major(), kube.Minor())
	once, _ := loaded.LoadOrStore(name, sync.OnceValues(func() (*Registry, error) {
		data, err := assets.FS.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read embedded gates: %w", err)
		}
		reg, err := newRegistry(kube, string(data))
		if err != nil {
			return nil, fmt.Errorf("embedded %s: %w", name, err)
		}
		return reg, nil
	}))
	return once.(func() (*Registry, error))()
}

// newRegistry decodes data and asks component-base for each gate's state.
func newRegistry(kube *version.Version, data string) (*Registry, error) {
	source, gates, err := decode(data)
	if err != nil {
		return nil, err
	}
	specs := make(map[featuregate.Feature]featuregate.VersionedSpecs, len(gates))
	requires := map[featuregate.Feature][]featuregate.Feature{}
	for _, g := range gates {
		specs[featuregate.Feature(g.Name)] = addable(g.Specs)
		for _, name := range g.Requires {
			f := featuregate.Feature(g.Name)
			requires[f] = append(requires[f], featuregate.Feature(name))
		}
	}
	fg := featuregate.NewVersionedFeatureGate(kube)
	if err := fg.AddVersioned(specs); err != nil {
		return nil, err
	}
	if err := fg.AddDependencies(requires); err != nil {
		return nil, err
	}
	inForce := fg.GetAll()
	for i := range gates {
		spec, ok := inForce[featuregate.Feature(gates[i].Name)]
		if !ok {
			continue // not before a later version
		}
		gates[i].Stage = stageText(spec)
		gates[i].Default = spec.Default
		gates[i].Locked = spec.LockToDefault
	}
	return &Registry{kube: kube, source: source, gates: gates, gate: fg}, nil
}

// addable returns specs in a form that AddVersioned accepts. It wants the state
// before a gate that began as deprecated, which Kubernetes 1.32 did not state
// yet. Any will do, since it is not in force in a version that has the gate.
func addable(specs featuregate.VersionedSpecs) featuregate.VersionedSpecs {
	if first := specs[0]; first.PreRelease == featuregate.Deprecated && first.Version.Minor() > 0 {
		before := featuregate.FeatureSpec{Version: version.MajorMinor(1, 0), PreRelease: featuregate.GA, Default: !first.Default}
		return append(featuregate.VersionedSpecs{before}, specs...)
	}
	return specs
}

// stageText returns spec's stage in lower case, and "ga" where component-base
// has an empty text.
func stageText(spec featuregate.FeatureSpec) string {
	if spec.PreRelease == featuregate.GA {
		return "ga"
	}
	return strings.ToLower(string(spec.PreRelease))
}
