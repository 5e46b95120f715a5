package main

import (
	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// The views are what -o json and -o yaml print. Their fields are stable.

type deviceView struct {
	MicroShiftVersion string                   `json:"microshiftVersion"`
	KubernetesVersion string                   `json:"kubernetesVersion"`
	Files             []fileView               `json:"files"`
	FeatureSet        featureSetView           `json:"featureSet"`
	Gates             []gateView               `json:"gates"`
	Components        map[string]componentView `json:"components"`
	// Unrecognized are gates of the preview set that only OpenShift's own
	// components know; Skipped are those that this Kubernetes can't take.
	Unrecognized []string          `json:"unrecognized"`
	Skipped      []resolve.Skipped `json:"skipped"`
	Lock         lockView          `json:"lock"`
	Rollout      *rolloutView      `json:"rollout,omitempty"` // absent on a device without one
	Diagnostics  diag.List         `json:"diagnostics"`
}

type fileView struct {
	Path string `json:"path"`
}

type featureSetView struct {
	Value    string          `json:"value"`
	Origin   *diag.Position  `json:"origin,omitempty"`
	Replaced []diag.Position `json:"replaced,omitempty"`
}

type gateView struct {
	Name       string            `json:"name"`
	Enabled    bool              `json:"enabled"`
	Reason     resolve.Reason    `json:"reason"`
	Stage      string            `json:"stage,omitempty"`
	Components []gates.Component `json:"components"`
	Origin     *diag.Position    `json:"origin,omitempty"`
	// Kubelet is what kubelet.featureGates says, where that differs.
	Kubelet *kubeletView `json:"kubelet,omitempty"`
}

type kubeletView struct {
	Enabled bool          `json:"enabled"`
	Origin  diag.Position `json:"origin"`
}

type componentView struct {
	FeatureGates map[string]bool `json:"featureGates"`
	Flag         string          `json:"flag"`
	Args         []string        `json:"args"`
}

type lockView struct {
	Path       string       `json:"path"`
	State      string       `json:"state"`
	Reason     string       `json:"reason,omitempty"` // why it is unusable, blocks or is not known
	FeatureSet string       `json:"featureSet"`
	Version    string       `json:"version"`
	History    []lock.Entry `json:"history"`
	lock.Gates
}

func viewOf(out *startup.Outcome) deviceView {
	v := deviceView{
		MicroShiftVersion: out.Options.Version.String(),
		Files:             []fileView{},
		Gates:             []gateView{},
		Components:        map[string]componentView{},
		Unrecognized:      []string{},
		Skipped:           []resolve.Skipped{},
		Lock:              lockViewOf(out.Lock),
		Rollout:           rolloutViewOf(out),
		Diagnostics:       append(diag.List{}, out.Diagnostics...),
	}
	for _, f := range out.Files {
		v.Files = append(v.Files, fileView{f.Name})
	}
	set := out.Config.FeatureGates.FeatureSet
	v.FeatureSet = featureSetView{Value: set.V, Origin: place(set.Origin)}
	for _, old := range set.Replaced {
		v.FeatureSet.Replaced = append(v.FeatureSet.Replaced, old.Origin.Pos)
	}
	if r := out.Result; r != nil {
		v.KubernetesVersion = r.Registry().Version().String()
		v.Unrecognized = append(v.Unrecognized, r.Unrecognized...)
		v.Skipped = append(v.Skipped, r.Skipped...)
		for _, s := range r.All() {
			v.Gates = append(v.Gates, gateViewOf(s, out.Config))
		}
		for _, c := range gates.Components() {
			v.Components[string(c)] = flagsView(r, c)
		}
	}
	return v
}

func gateViewOf(s resolve.Setting, cfg *config.Config) gateView {
	g := gateView{Name: s.Gate.Name, Enabled: s.Enabled, Reason: s.Reason, Stage: s.Gate.Stage,
		Components: append([]gates.Component{}, s.Gate.Components...), Origin: place(s.Origin)}
	if k, ok := cfg.Kubelet[s.Gate.Name]; ok && k.V != s.Enabled {
		g.Kubelet = &kubeletView{k.V, k.Origin.Pos}
	}
	return g
}

// place returns where a value is, or nil where nothing sets it.
func place(o config.Origin) *diag.Position {
	if o.Path == "" || o.Pos == (diag.Position{}) {
		return nil
	}
	return &o.Pos
}

func flagsView(r *resolve.Result, c gates.Component) componentView {
	return componentView{FeatureGates: r.Map(c), Flag: r.Flag(c), Args: r.Args(c)}
}

func lockViewOf(s startup.LockState) lockView {
	v := lockView{Path: s.Path, State: s.String(), History: []lock.Entry{}}
	switch {
	case s.Unread != nil:
		v.Reason = s.Unread.Error()
	case s.Unusable != nil:
		v.Reason = s.Unusable.Reason
	case s.Verdict.Refused():
		v.Reason = s.Verdict.Summary(s.Path)
	}
	if l := s.Lock; l != nil {
		v.FeatureSet, v.Version, v.Gates = l.FeatureSet, l.Version.String(), l.Gates
		v.History = append(v.History, l.History...)
	}
	return v
}
