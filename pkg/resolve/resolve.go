// Package resolve decides what a configuration means for each feature gate and
// each component, and reports what is wrong with it.
package resolve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/component-base/featuregate"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// Reason tells why a gate has its value.
type Reason string

// The reasons, weakest first.
const (
	Default    Reason = "default"     // nobody sets it
	FeatureSet Reason = "feature-set" // the preview set of featureSet
	Required   Reason = "required"    // MicroShift itself
	Custom     Reason = "custom"      // customNoUpgrade
	Exception  Reason = "exception"   // specialHandlingSupportExceptionRequired
	Rollout    Reason = "rollout"     // the rollout by minimumKubeletVersion, against which the lists don't count
)

// RequiredGates returns the gates that MicroShift can't do without, sorted.
// They are always on, for each component that still recognises them.
func RequiredGates() []string {
	return []string{"UserNamespacesPodSecurityStandards", "UserNamespacesSupport"}
}

// Setting is the value of one feature gate.
type Setting struct {
	// Gate is what the registry knows. A gate that it does not know has a
	// Name and no Components.
	Gate    gates.Gate
	Enabled bool
	Reason  Reason
	// Origin is where the configuration says so; zero for Default and Required.
	Origin config.Origin
}

// Known reports whether any component of this Kubernetes recognises the gate.
func (s Setting) Known() bool { return len(s.Gate.Components) > 0 }

// Skipped is a gate of a preview set that this Kubernetes can't be given.
type Skipped struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"` // what the set says
	Why     string `json:"why"`     // such as "locked to true in Kubernetes 1.36"
}

// Result is what a configuration means.
type Result struct {
	// FeatureSet is the configured set; empty where there is none.
	FeatureSet config.Value[string]
	// Settings are the gates that are set explicitly, sorted by name.
	Settings []Setting
	// Unrecognized are the gates of the preview set that no component of this
	// Kubernetes recognises (OpenShift's own operators do), sorted.
	Unrecognized []string
	// Skipped are the gates of the preview set that would keep this Kubernetes
	// from starting, sorted.
	Skipped []Skipped

	registry  *gates.Registry
	effective featuregate.FeatureGate
}

// Gates decides what cfg means for the Kubernetes of reg, as part of MicroShift
// of a major version (preview sets differ between those). The list holds every
// problem of the section; with an Error in it, the result is what the valid
// part of the section means, good enough to be shown and not to be started.
//
// The error is not nil only if the embedded data is damaged.
func Gates(cfg *config.Config, reg *gates.Registry, major int) (*Result, diag.List, error) {
	return GatesUnder(cfg, reg, major, nil)
}

// GatesUnder is Gates on a device whose guarded gates are in the hands of a
// rollout, which has decided on each of them. What needs a gate that the
// rollout has off is off as well. The rollout never makes a problem an Error.
func GatesUnder(cfg *config.Config, reg *gates.Registry, major int, guarded map[string]bool) (*Result, diag.List, error) {
	v := validator{cfg: cfg, reg: reg, settings: map[string]Setting{}}
	r := &Result{FeatureSet: cfg.FeatureGates.FeatureSet, registry: reg}
	for _, name := range RequiredGates() {
		if g, ok := reg.Gate(name); ok {
			v.settings[name] = Setting{Gate: g, Enabled: true, Reason: Required}
		}
	}
	v.rollout(guarded)
	v.featureSet()
	if set := r.FeatureSet.V; set == gates.TechPreviewNoUpgrade || set == gates.DevPreviewNoUpgrade {
		s, err := gates.FeatureSet(set, major)
		if err != nil {
			return nil, nil, err
		}
		r.expand(&v, s)
	}
	v.lists()
	v.minimumKubeletVersion()
	v.kubelet()
	if err := r.settle(&v); err != nil {
		return nil, nil, err
	}
	v.diags.Sort()
	return r, v.diags, nil
}

// expand turns the gates of a preview set into settings.
func (r *Result) expand(v *validator, set gates.Set) {
	add := func(names []string, enabled bool) {
		for _, name := range names {
			g, ok := v.reg.Gate(name)
			_, taken := v.settings[name]
			refusal := v.reg.Refusal(g, enabled)
			switch {
			case !ok:
				r.Unrecognized = append(r.Unrecognized, name)
			case refusal != "":
				r.skip(name, enabled, refusal)
			case !taken: // a required gate stays on
				v.settings[name] = Setting{Gate: g, Enabled: enabled, Reason: FeatureSet, Origin: r.FeatureSet.Origin}
			}
		}
	}
	add(set.Enabled, true)
	add(set.Disabled, false)
	slices.Sort(r.Unrecognized)
}

func (r *Result) skip(name string, enabled bool, why string) {
	r.Skipped = append(r.Skipped, Skipped{Name: name, Enabled: enabled, Why: why})
	slices.SortFunc(r.Skipped, func(a, b Skipped) int { return cmp.Compare(a.Name, b.Name) })
}

// settle asks component-base what the settings amount to. Gates of a preview
// set that need a gate which is off are skipped; where the configuration's own
// lists ask for that, it is an error.
func (r *Result) settle(v *validator) error {
	for {
		fg := v.reg.FeatureGate()
		refused := set(fg, v.settings)
		if refused == nil {
			r.effective = fg
			break
		}
		loose, err := withoutDependencies(fg)
		if err != nil {
			return err
		}
		r.effective = loose
		if err := set(loose, v.settings); err != nil { // all that can be wrong with a gate alone was found before
			return fmt.Errorf("gates of Kubernetes %s: %w", v.reg.Version(), err)
		}
		if !v.holdBack(loose) && !r.skipUnmet(v, loose) {
			v.dependencies(loose)
			break
		}
	}
	for _, name := range slices.Sorted(keys(v.settings)) {
		r.Settings = append(r.Settings, v.settings[name])
	}
	return nil
}

// skipUnmet takes away the gates of a preview set that need a gate which is
// off. It reports whether there were any.
func (r *Result) skipUnmet(v *validator, fg featuregate.FeatureGate) bool {
	before := len(r.Skipped)
	for name, s := range v.settings {
		if s.Reason != FeatureSet || !s.Enabled {
			continue
		}
		if missing := unmet(s.Gate, fg); len(missing) > 0 {
			r.skip(name, s.Enabled, "needs "+missing[0]+", which is off")
			delete(v.settings, name)
		}
	}
	return len(r.Skipped) > before
}

// unmet returns the gates that g needs and that are off.
func unmet(g gates.Gate, fg featuregate.FeatureGate) []string {
	var missing []string
	for _, name := range g.Requires {
		if !fg.Enabled(featuregate.Feature(name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

// set gives fg the settings that it knows. It returns why fg refuses them.
func set(fg featuregate.MutableVersionedFeatureGate, settings map[string]Setting) error {
	values := make(map[string]bool, len(settings))
	for name, s := range settings {
		if s.Known() {
			values[name] = s.Enabled
		}
	}
	// The plain SetFromMap would log to stderr by itself.
	return fg.(featuregate.MutableFeatureGateWithLogger).SetFromMapWithLogger(logr.Discard(), values)
}

// withoutDependencies returns a copy of fg that accepts gates whose needs are
// not met, so that it can be asked what is on.
func withoutDependencies(fg featuregate.MutableVersionedFeatureGate) (featuregate.MutableVersionedFeatureGate, error) {
	loose := featuregate.NewVersionedFeatureGate(fg.EmulationVersion())
	specs := fg.GetAllVersioned()
	delete(specs, allAlpha) // every instance has these two by itself
	delete(specs, allBeta)
	if err := loose.AddVersioned(specs); err != nil {
		return nil, err
	}
	return loose, nil
}

// All returns every gate of the registry and every configured one, sorted by
// name, each with its effective value.
func (r *Result) All() []Setting {
	all := slices.Clone(r.Settings)
	for _, g := range r.registry.Gates() {
		if _, explicit := r.Setting(g.Name); !explicit {
			all = append(all, Setting{Gate: g, Enabled: r.effective.Enabled(featuregate.Feature(g.Name)), Reason: Default})
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return cmp.Compare(a.Gate.Name, b.Gate.Name) })
	return all
}

// Setting returns the explicit setting of a gate.
func (r *Result) Setting(name string) (Setting, bool) {
	i, ok := slices.BinarySearchFunc(r.Settings, name, func(s Setting, name string) int {
		return cmp.Compare(s.Gate.Name, name)
	})
	if !ok {
		return Setting{}, false
	}
	return r.Settings[i], true
}

// Registry returns the registry that the result was resolved with.
func (r *Result) Registry() *gates.Registry { return r.registry }
