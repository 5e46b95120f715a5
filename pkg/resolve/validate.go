package resolve

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/component-base/featuregate"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// The two gates that stand for all gates of a stage. Every component
// recognises them.
const (
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// validator checks a section and gathers the settings of its valid part.
type validator struct {
	cfg      *config.Config
	reg      *gates.Registry
	settings map[string]Setting
	diags    diag.List
}

func (v *validator) report(d diag.Diagnostic) { v.diags = append(v.diags, d) }

func (v *validator) at(s diag.Severity, code string, o config.Origin, message, hint string, related ...diag.Position) {
	v.report(diag.Diagnostic{Severity: s, Code: code, Pos: o.Pos, Path: o.Path, Message: message, Hint: hint, Related: related})
}

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// featureSet checks the name of the set, and that lists go with it.
func (v *validator) featureSet() {
	fg := v.cfg.FeatureGates
	set := fg.FeatureSet
	if !slices.Contains(gates.FeatureSetNames(), set.V) {
		v.at(diag.Error, "feature-set-unknown", set.Origin, fmt.Sprintf("there is no feature set %s", quote(set.V)), featureSetHint(set.V))
		return
	}
	hasLists := !fg.CustomNoUpgrade.Empty() || !fg.Exceptions.Empty()
	switch {
	case set.V == gates.CustomNoUpgrade && !hasLists:
		v.at(diag.Warning, "custom-empty", set.Origin,
			"CustomNoUpgrade without any gate: the device gets locked against upgrades and no gate is set",
			"list gates under customNoUpgrade, or remove featureSet before the first start with it")
	case set.V != gates.CustomNoUpgrade && hasLists:
		v.strayLists(set)
	}
}

// strayLists reports each list that has gates although the set is not CustomNoUpgrade.
func (v *validator) strayLists(set config.Value[string]) {
	message := "gates are listed, but there is no featureSet"
	hint := "add featureSet: CustomNoUpgrade beside the lists (it locks the device against upgrades), or remove them"
	if set.V != gates.Default {
		message = "gates are listed, but the feature set is " + set.V
		hint = "lists go only with featureSet: CustomNoUpgrade; remove them, or change the set"
	}
	for _, l := range v.groups() {
		if len(l.V) == 0 {
			continue
		}
		var related []diag.Position
		if set.Present() {
			related = append(related, set.Origin.Pos)
		}
		v.at(diag.Error, "lists-without-set", l.Origin, message, hint, related...)
	}
}

// group is one of the four lists.
type group struct {
	config.Names
	enabled bool
	reason  Reason
}

func (v *validator) groups() []group {
	fg := v.cfg.FeatureGates
	return []group{
		{fg.CustomNoUpgrade.Enabled, true, Custom},
		{fg.CustomNoUpgrade.Disabled, false, Custom},
		{fg.Exceptions.Enabled, true, Exception},
		{fg.Exceptions.Disabled, false, Exception},
	}
}

func featureSetHint(set string) string {
	all := "use CustomNoUpgrade, TechPreviewNoUpgrade, DevPreviewNoUpgrade, or remove the key"
	bare := strings.ToLower(strings.TrimSpace(set))
	names := gates.FeatureSetNames()[1:]
	near := diag.Nearest(bare, names)
	for _, name := range names {
		if len(bare) >= 3 && strings.HasPrefix(strings.ToLower(name), bare) {
			near = name
		}
	}
	if near != "" {
		return fmt.Sprintf("did you mean %s? Otherwise %s", near, all)
	}
	if bare == "default" || bare == "okd" || bare == "none" {
		return "without a feature set, the key is absent or empty: remove it; else " + all
	}
	return all
}

// lists checks each item and turns the valid ones into settings.
func (v *validator) lists() {
	for _, g := range v.groups() {
		seen := map[string]diag.Position{}
		for _, item := range g.V {
			if !v.nameOK(item, g) {
				continue
			}
			if first, twice := seen[item.V]; twice {
				v.at(diag.Warning, "gate-repeated", item.Origin, fmt.Sprintf("%s is in this list twice", item.V), "remove one of the two", first)
				continue
			}
			seen[item.V] = item.Origin.Pos
			v.item(item, g)
		}
	}
}

// item checks one valid name and enters its setting.
func (v *validator) item(item config.Value[string], g group) {
	name := item.V
	if old, ok := v.settings[name]; ok && old.Reason == Rollout {
		v.guarded(item, old, g.enabled)
		return
	}
	if old, ok := v.settings[name]; ok && old.Reason != Required && old.Enabled != g.enabled {
		if old.Reason != FeatureSet { // with a preview set, lists are an error already
			v.at(diag.Error, "gate-conflict", item.Origin,
				fmt.Sprintf("%s is both enabled and disabled: in %s and in %s", name, old.Origin.Path, item.Origin.Path),
				"remove it from one of the two lists", old.Origin.Pos)
		}
		return
	}
	if !g.enabled && slices.Contains(RequiredGates(), name) {
		v.at(diag.Error, "gate-required", item.Origin, name+" is required by MicroShift and can't be disabled", "remove it from the list")
		return
	}
	gate, known := v.gate(name)
	switch {
	case name == allAlpha || name == allBeta:
		v.allOfStage(item.Origin, name, g.enabled)
	case !known:
		v.unknown(item.Origin, name)
	case v.locked(item.Origin, gate, g.enabled), v.waits(item.Origin, gate, g.enabled):
		return
	}
	v.settings[name] = Setting{Gate: gate, Enabled: g.enabled, Reason: g.reason, Origin: item.Origin}
}

// gate returns what is known of a name.
func (v *validator) gate(name string) (gates.Gate, bool) {
	if name == allAlpha || name == allBeta {
		return gates.Gate{Name: name, Components: gates.Components()}, true
	}
	if g, ok := v.reg.Gate(name); ok {
		return g, true
	}
	return gates.Gate{Name: name}, false
}

func (v *validator) allOfStage(o config.Origin, name string, enabled bool) {
	stage := strings.ToLower(strings.TrimPrefix(name, "All"))
	state, hint := "off", "list the gates that you need instead"
	if enabled {
		state = "on"
		var waiting []string
		for _, g := range v.reg.Gates() {
			if g.Stage == stage && g.UnservedAPI != "" {
				waiting = append(waiting, g.Name)
			}
		}
		if len(waiting) > 0 {
			hint += "; kube-apiserver never becomes ready with " + strings.Join(waiting, " or ") + " on"
		}
	}
	v.at(diag.Warning, "gate-all", o, fmt.Sprintf("%s switches every %s gate %s that is not listed by itself", name, stage, state), hint)
}

// locked reports a gate that is set to another value than it is locked to.
func (v *validator) locked(o config.Origin, g gates.Gate, enabled bool) bool {
	if !g.Locked || g.Default == enabled {
		return false
	}
	v.at(diag.Error, "gate-locked", o, fmt.Sprintf("%s can't be %s: it is %s, and kube-apiserver would not start", g.Name, onOff[enabled], v.reg.Refusal(g, enabled)),
		"remove it; it is "+onOff[g.Default]+" anyway")
	return true
}

// waits reports a gate with which kube-apiserver would not become ready.
func (v *validator) waits(o config.Origin, g gates.Gate, enabled bool) bool {
	if !enabled || g.UnservedAPI == "" {
		return false
	}
	v.at(diag.Error, "gate-needs-api", o, fmt.Sprintf("%s can't be enabled: %s", g.Name, v.reg.Refusal(g, enabled)), "remove it")
	return true
}

var onOff = map[bool]string{true: "enabled", false: "disabled"}

// unknown warns of a name that no component of this Kubernetes recognises.
func (v *validator) unknown(o config.Origin, name string) {
	kube := v.reg.Version()
	if since, ok := gates.Removed(name, kube); ok {
		v.at(diag.Warning, "gate-removed", o, fmt.Sprintf("%s was removed in Kubernetes %s and does nothing in %s", name, since, kube),
			"remove it from the configuration")
		return
	}
	message := fmt.Sprintf("no component of Kubernetes %s knows a feature gate %s", kube, quote(name))
	hint := "check the name, or remove it: a gate that no longer exists does nothing; kube-apiserver gets it as it is and only logs that it is unknown"
	if near := v.reg.Suggest(name); near != "" {
		hint = "did you mean " + near + "?"
	} else if later := firstLater(name, v.reg); later != "" {
		hint = "it first appears in Kubernetes " + later
	}
	v.at(diag.Warning, "gate-unknown", o, message, hint)
}

// firstLater returns the first later Kubernetes version that has the gate, or "".
func firstLater(name string, reg *gates.Registry) string {
	for _, kube := range gates.Versions() {
		if !kube.GreaterThan(reg.Version()) {
			continue
		}
		later, _, err := gates.ForVersion(kube)
		if err != nil {
			return ""
		}
		if _, ok := later.Gate(name); ok {
			return kube.String()
		}
	}
	return ""
}

// dependencies reports each gate that is on although one that it needs is off.
func (v *validator) dependencies(fg featuregate.FeatureGate) {
	for _, g := range v.reg.Gates() {
		if !fg.Enabled(featuregate.Feature(g.Name)) {
			continue
		}
		for _, missing := range unmet(g, fg) {
			dependent, dependency := v.settings[g.Name].Origin, v.settings[missing].Origin
			hint := fmt.Sprintf("enable %s too, or do not enable %s", missing, g.Name)
			if need, ok := v.reg.Gate(missing); ok && v.reg.Refusal(need, true) != "" {
				hint = fmt.Sprintf("do not enable %s: %s can't be enabled", g.Name, missing)
			}
			if dependent.Path == "" {
				dependent, dependency = dependency, dependent
				hint = fmt.Sprintf("disable %s too, or do not disable %s", g.Name, missing)
			}
			if dependent.Path == "" { // by AllAlpha or AllBeta
				dependent = v.cfg.FeatureGates.FeatureSet.Origin
			}
			var related []diag.Position
			if dependency.Path != "" {
				related = append(related, dependency.Pos)
			}
			v.at(diag.Error, "gate-needs", dependent,
				fmt.Sprintf("%s is on, but needs %s, which is off: Kubernetes %s would not start", g.Name, missing, v.reg.Version()), hint, related...)
		}
	}
}

// kubeletVersion is the form that nodes.config.openshift.io demands.
var kubeletVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

func (v *validator) minimumKubeletVersion() {
	m := v.cfg.FeatureGates.MinimumKubeletVersion
	if m.V == "" || len(m.V) <= 8 && kubeletVersion.MatchString(m.V) {
		return
	}
	v.at(diag.Error, "minimum-kubelet-version", m.Origin, fmt.Sprintf("%s is not a Kubernetes version", quote(m.V)),
		`write three numbers of at most 8 characters in all, such as "1.36.0"`)
}
