package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// upgradeGate is a configured gate with what changes for it in another version.
type upgradeGate struct {
	Name    string         `json:"name"`
	Enabled bool           `json:"enabled"`
	Path    string         `json:"path"`
	Origin  *diag.Position `json:"origin,omitempty"`
	Changes []change       `json:"changes"` // empty where all is fine
}

// change is one thing that is different in the other version.
type change struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// The kinds of changes.
const (
	changeRemoved   = "removed"   // no component recognises the gate any more
	changeAdded     = "added"     // a component recognises it now
	changeUnknown   = "unknown"   // no component recognises it in either version
	changeRefused   = "refused"   // kube-apiserver would not become ready, so the configuration is rejected
	changeSkipped   = "skipped"   // the feature set has it, and that Kubernetes can't take it
	changeLocked    = "locked"    // locked to the configured value
	changeGraduated = "graduated" // a later stage
	changeStage     = "stage"     // an earlier stage
	changeDefault   = "default"   // another default
	changeRequires  = "requires"  // needs a gate that it did not need
	changeValue     = "value"     // the feature set gives it another value
)

// upgradeGates returns what changes for each gate that the configuration
// names or its feature set has, sorted by name and place.
func upgradeGates(now, then *startup.Outcome) []upgradeGate {
	list := []upgradeGate{}
	for _, i := range written(now.Config) {
		g := upgradeGate{Name: i.name, Enabled: i.enabled, Path: i.origin.Path, Origin: &i.origin.Pos}
		g.Changes = changes(i.name, i.enabled, now.Result, then.Result)
		list = append(list, g)
	}
	for name, enabled := range setValues(then.Result, setValues(now.Result, map[string]bool{})) {
		set := now.Config.FeatureGates.FeatureSet.Origin
		g := upgradeGate{Name: name, Enabled: enabled, Path: set.Path, Origin: &set.Pos}
		g.Changes = setChanges(name, enabled, now.Result, then.Result)
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b upgradeGate) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.Origin.Compare(*b.Origin))
	})
	return list
}

// setValues adds to values what a preview set gives to gates that values lacks.
func setValues(r *resolve.Result, values map[string]bool) map[string]bool {
	for _, s := range r.Settings {
		if _, ok := values[s.Gate.Name]; !ok && s.Reason == resolve.FeatureSet {
			values[s.Gate.Name] = s.Enabled
		}
	}
	return values
}

// setChanges is changes for a gate of a preview set, which adapts to the
// version: it leaves out what Kubernetes can't take.
func setChanges(name string, enabled bool, now, then *resolve.Result) []change {
	for _, s := range then.Skipped {
		if s.Name == name {
			return []change{{changeSkipped, "left out of the set there: " + s.Why}}
		}
	}
	list := changes(name, enabled, now, then)
	before, had := now.Setting(name)
	if after, has := then.Setting(name); had && has && before.Enabled != after.Enabled {
		list = append(list, change{changeValue, fmt.Sprintf("the set makes it %t there", after.Enabled)})
	}
	return list
}

// changes returns what is different for a gate that is set to enabled.
func changes(name string, enabled bool, now, then *resolve.Result) []change {
	before, had := now.Registry().Gate(name)
	after, has := then.Registry().Gate(name)
	kube := then.Registry().Version().String()
	switch {
	case !had && !has:
		return []change{{changeUnknown, "unknown to Kubernetes in both versions"}}
	case !had:
		return append([]change{{changeAdded, "takes effect there: new since Kubernetes " + after.Since}}, refused(then, after, enabled)...)
	case !has:
		text := "does nothing there: Kubernetes " + kube + " does not have it yet"
		if since, ok := gates.Removed(name, then.Registry().Version()); ok {
			text = "does nothing there: removed in Kubernetes " + since.String()
		}
		return []change{{changeRemoved, text}}
	}
	list := refused(then, after, enabled)
	if after.Locked && !before.Locked && len(list) == 0 {
		list = append(list, change{changeLocked, fmt.Sprintf("locked to %t there, so the setting can go", after.Default)})
	}
	if before.Stage != after.Stage {
		kind := changeGraduated
		if slices.Index(stages(), after.Stage) < slices.Index(stages(), before.Stage) {
			kind = changeStage
		}
		list = append(list, change{kind, fmt.Sprintf("%s there, %s here", stageText(after.Stage), stageText(before.Stage))})
	}
	if before.Default != after.Default {
		list = append(list, change{changeDefault, fmt.Sprintf("its default is %t there, %t here", after.Default, before.Default)})
	}
	for _, needed := range after.Requires {
		if enabled && !slices.Contains(before.Requires, needed) {
			s, _ := effective(then, needed)
			list = append(list, change{changeRequires, fmt.Sprintf("needs %s there, which is %s", needed, onOff(s.Enabled))})
		}
	}
	return append([]change{}, list...)
}

// refused returns that a setting would be rejected, if so.
func refused(then *resolve.Result, g gates.Gate, enabled bool) []change {
	if why := then.Registry().Refusal(g, enabled); why != "" {
		return []change{{changeRefused, "would be rejected: " + why}}
	}
	return nil
}
