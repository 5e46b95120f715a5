package resolve

import (
	"fmt"
	"slices"

	"k8s.io/component-base/featuregate"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// rollout enters what the rollout has decided. Gates that this Kubernetes does
// not know or has locked are outside its hands.
func (v *validator) rollout(guarded map[string]bool) {
	for name, enabled := range guarded {
		if g, ok := v.reg.Gate(name); ok && !g.Locked {
			v.settings[name] = Setting{Gate: g, Enabled: enabled, Reason: Rollout, Origin: v.minimum()}
		}
	}
}

// minimum is where the minimum is configured; zero where it is not any more.
func (v *validator) minimum() config.Origin {
	if m := v.cfg.FeatureGates.MinimumKubeletVersion; m.Present() {
		return m.Origin
	}
	return config.Origin{}
}

// guarded warns of a gate that is listed although the rollout decides on it.
func (v *validator) guarded(item config.Value[string], s Setting, enabled bool) {
	if s.Enabled == enabled {
		return
	}
	state := map[bool]string{true: "on", false: "off"}
	var related []diag.Position
	if s.Origin.Path != "" {
		related = append(related, s.Origin.Pos)
	}
	v.at(diag.Warning, "gate-guarded", item.Origin,
		fmt.Sprintf("%s is %s whatever is listed: it is turned on and off with minimumKubeletVersion, when every kubelet is new enough", s.Gate.Name, state[s.Enabled]),
		"remove it from the list", related...)
}

// holdBack turns off whatever is on and needs a gate that the rollout has off:
// nobody but the rollout knows when that will be on, and a start must not fail
// of it. It reports whether there was anything.
func (v *validator) holdBack(fg featuregate.FeatureGate) (held bool) {
	for _, g := range v.reg.Gates() {
		old := v.settings[g.Name]
		if g.Locked || !fg.Enabled(featuregate.Feature(g.Name)) {
			continue
		}
		missing := unmet(g, fg)
		i := slices.IndexFunc(missing, func(name string) bool { return v.settings[name].Reason == Rollout })
		if i < 0 {
			continue
		}
		if old.Reason == Custom || old.Reason == Exception {
			v.at(diag.Warning, "gate-held-back", old.Origin,
				fmt.Sprintf("%s stays off: it needs %s, which is off until every kubelet is new enough", g.Name, missing[i]),
				"see microshift-feature-gates show for what the rollout waits for")
		}
		v.settings[g.Name] = Setting{Gate: g, Enabled: false, Reason: Rollout, Origin: v.minimum()}
		held = true
	}
	return held
}
