package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// explainView is everything that there is to know about a gate before it is used.
type explainView struct {
	Name              string `json:"name"`
	MicroShiftVersion string `json:"microshiftVersion"`
	KubernetesVersion string `json:"kubernetesVersion"`
	// OpenShiftOnly is a gate that is in a feature set, and that no component
	// of any embedded Kubernetes recognises.
	OpenShiftOnly bool `json:"openshiftOnly"`
	// OpenShift is a gate that OpenShift adds to Kubernetes.
	OpenShift   bool              `json:"openshift"`
	Since       string            `json:"since,omitempty"` // the first Kubernetes that had it
	Required    bool              `json:"required"`        // by MicroShift
	Versions    []gateVersionView `json:"versions"`
	FeatureSets []setStateView    `json:"featureSets"`
	// Requires and RequiredBy are about the Kubernetes of the running version.
	Requires   []string       `json:"requires"`
	RequiredBy []string       `json:"requiredBy"`
	Device     gateDeviceView `json:"device"`
	Warnings   []string       `json:"warnings"`

	all int // gates of its stage that AllAlpha or AllBeta stands for
}

// gateVersionView is a gate in one version of Kubernetes.
type gateVersionView struct {
	Kubernetes string   `json:"kubernetes"`
	MicroShift []string `json:"microshift"`
	Running    bool     `json:"running"`
	State      string   `json:"state"` // known, not-yet or removed
	Stage      string   `json:"stage"` // empty unless known
	Default    bool     `json:"default"`
	Locked     bool     `json:"locked"`
	// UnservedAPI is the API that kube-apiserver would wait for in vain.
	UnservedAPI string            `json:"unservedAPI,omitempty"`
	Components  []gates.Component `json:"components"`
}

// What a version of Kubernetes makes of a gate.
const (
	stateKnown   = "known"
	stateNotYet  = "not-yet"
	stateRemoved = "removed"
)

// setStateView is what a feature set does to a gate.
type setStateView struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// gateDeviceView is what is configured on this device, and what comes of it.
type gateDeviceView struct {
	FeatureSet string        `json:"featureSet"`
	Gate       *gateView     `json:"gate,omitempty"` // absent where no component knows it and nobody sets it
	Written    []writtenView `json:"written"`
	Start      string        `json:"start"` // accepted, rejected, locked or unknown
	Reason     string        `json:"reason,omitempty"`
	Problems   diag.List     `json:"diagnostics"` // those about this gate
	Guarded    *guardedView  `json:"guarded,omitempty"`
	out        *startup.Outcome
	setting    resolve.Setting
}

// writtenView is a place in the configuration that names the gate.
type writtenView struct {
	Path    string        `json:"path"`
	Enabled bool          `json:"enabled"`
	Origin  diag.Position `json:"origin"`
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain GATE",
		Short: "Explain a feature gate, to be read before it is switched on",
		Long: `Explain a feature gate: its stage, default and locked state in each version of
Kubernetes, the components that recognise it, the feature sets that it is in,
the gates that it needs, what is configured on this device and what a start
would make of that. Works with a wrong configuration, too.`,
		Args: oneArgument,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return allGateNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			out, lookErr := startup.Look(o)
			if out.Result == nil {
				return failed(lookErr)
			}
			v, err := explain(args[0], out)
			if err != nil {
				return err
			}
			if err := a.print(v, func(p *page) { showExplained(p, v) }); err != nil {
				return err
			}
			return failed(lookErr)
		},
	}
}

// explain gathers what there is to say about the gate of that name.
func explain(name string, out *startup.Outcome) (*explainView, error) {
	reg := out.Result.Registry()
	v := &explainView{
		Name:              name,
		MicroShiftVersion: out.Options.Version.String(),
		KubernetesVersion: reg.Version().String(),
		Required:          slices.Contains(resolve.RequiredGates(), name),
		Requires:          []string{}, RequiredBy: []string{},
	}
	var err error
	if err = v.versions(name, reg); err != nil {
		return nil, failed(err)
	}
	if v.FeatureSets, err = setStates(name, out.Options.Version.Major); err != nil {
		return nil, failed(err)
	}
	known := slices.ContainsFunc(v.Versions, func(g gateVersionView) bool { return g.State == stateKnown })
	inSet := slices.ContainsFunc(v.FeatureSets, func(s setStateView) bool { return s.State != stateAbsent })
	if v.OpenShiftOnly = inSet && !known; !known && !inSet {
		return nil, unknownGate(name)
	}
	for _, g := range reg.Gates() {
		switch {
		case g.Name == name:
			v.Requires = append(v.Requires, g.Requires...)
		case slices.Contains(g.Requires, name):
			v.RequiredBy = append(v.RequiredBy, g.Name)
		}
		if name == allOf(g.Stage) && g.Name != name {
			v.all++
		}
	}
	v.Device = gateOnDevice(name, out)
	v.Warnings = v.warnings()
	return v, nil
}

// unknownGate is the error for a name that is no gate anywhere.
func unknownGate(name string) error {
	err := fmt.Errorf("no component of any known Kubernetes and no feature set has a gate %s", diag.Quote(name))
	if near := diag.Nearest(name, allGateNames()); near != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return &exitError{exitRejected, err}
}

// versions finds what each embedded Kubernetes knows of the gate. It is removed
// in a version after one that knows it, and not yet there before.
func (v *explainView) versions(name string, running *gates.Registry) error {
	state := stateNotYet
	for _, kube := range gates.Versions() {
		reg, _, err := gates.ForVersion(kube)
		if err != nil {
			return err
		}
		g, ok := reg.Gate(name)
		if ok {
			state, v.Since, v.OpenShift = stateKnown, g.Since, g.OpenShift
		} else if state == stateKnown {
			state = stateRemoved
		}
		v.Versions = append(v.Versions, gateVersionView{
			Kubernetes: kube.String(), MicroShift: gates.ReleasesOf(kube), Running: kube.EqualTo(running.Version()), State: state,
			Stage: g.Stage, Default: g.Default, Locked: g.Locked, UnservedAPI: g.UnservedAPI, Components: append([]gates.Component{}, g.Components...),
		})
	}
	return nil
}

// setStates returns what each feature set of OpenShift does to a gate.
func setStates(name string, major int) ([]setStateView, error) {
	var list []setStateView
	for _, set := range []string{gates.TechPreviewNoUpgrade, gates.DevPreviewNoUpgrade, defaultSet} {
		s, err := setOf(set, major)
		if err != nil {
			return nil, err
		}
		state := stateAbsent
		if slices.Contains(s.Enabled, name) {
			state = stateEnabled
		} else if slices.Contains(s.Disabled, name) {
			state = stateDisabled
		}
		list = append(list, setStateView{set, state})
	}
	return list, nil
}

// allOf returns the gate that stands for all gates of a stage, or "".
func allOf(stage string) string {
	switch stage {
	case "alpha":
		return "AllAlpha"
	case "beta":
		return "AllBeta"
	default:
		return ""
	}
}
