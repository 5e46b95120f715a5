package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// dropIn is a configuration file for MicroShift; its zero value is an empty
// mapping, which changes nothing.
type dropIn struct {
	APIServer *apiServerSection `json:"apiServer,omitempty"`
	Kubelet   *kubeletSection   `json:"kubelet,omitempty"`
}

type apiServerSection struct {
	FeatureGates featureGatesSection `json:"featureGates"`
}

type featureGatesSection struct {
	FeatureSet      string        `json:"featureSet"`
	CustomNoUpgrade listsSection  `json:"customNoUpgrade"`
	Exceptions      *listsSection `json:"specialHandlingSupportExceptionRequired,omitempty"`
}

type listsSection struct {
	Enabled  []string `json:"enabled"`
	Disabled []string `json:"disabled"`
}

type kubeletSection struct {
	FeatureGates map[string]bool `json:"featureGates"`
}

func (a *app) renderCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "render",
		Short: "Print a drop-in with the same meaning that an unmodified MicroShift accepts",
		Long: `Print a drop-in that makes an unmodified MicroShift, which refuses the preview
sets, do what this device's configuration asks for: the preview set written out
as lists of CustomNoUpgrade, and kubelet.featureGates, since MicroShift itself
does not give the lists to the kubelet. It is for this version of MicroShift
alone, and takes the place of the configuration that it was made from.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			out, err := startup.Look(o)
			if err != nil {
				return failed(err)
			}
			if r := out.Refusal(); r != nil && !r.ByLock { // the lock does not judge what is only printed
				a.printDiagnostics(out)
				return verdict(out)
			}
			file := render(out)
			body, err := encodeYAML(file)
			if err != nil {
				return failed(err)
			}
			return a.print(file, func(p *page) {
				renderHeader(p, out)
				for line := range strings.Lines(body) {
					p.line("%s", strings.TrimSuffix(line, "\n"))
				}
			})
		},
	}
}

// render returns the drop-in for the configuration of a device.
func render(out *startup.Outcome) dropIn {
	fg := out.Config.FeatureGates
	section := featureGatesSection{FeatureSet: gates.CustomNoUpgrade}
	switch fg.FeatureSet.V {
	case gates.Default:
		return dropIn{}
	case gates.CustomNoUpgrade:
		section.CustomNoUpgrade = listsOf(fg.CustomNoUpgrade)
		if !fg.Exceptions.Empty() {
			exceptions := listsOf(fg.Exceptions)
			section.Exceptions = &exceptions
		}
	default:
		section.CustomNoUpgrade = listsSection{[]string{}, []string{}}
		for _, s := range out.Result.Settings {
			switch lists := &section.CustomNoUpgrade; {
			case s.Reason != resolve.FeatureSet: // MicroShift sets it by itself
			case s.Enabled:
				lists.Enabled = append(lists.Enabled, s.Gate.Name)
			default:
				lists.Disabled = append(lists.Disabled, s.Gate.Name)
			}
		}
	}
	return dropIn{&apiServerSection{section}, &kubeletSection{kubeletGates(out)}}
}

// listsOf returns the lists as configured, each gate once.
func listsOf(l config.Lists) listsSection {
	names := func(list config.Names) []string {
		out := []string{}
		for _, n := range list.V {
			if !slices.Contains(out, n.V) {
				out = append(out, n.V)
			}
		}
		return out
	}
	return listsSection{names(l.Enabled), names(l.Disabled)}
}

// kubeletGates returns kubelet.featureGates for the drop-in: what the kubelet
// is given, MicroShift's built-in gates, which would be lost otherwise, and
// above all what the configuration has there already. What the rollout decides
// is not for a file that no longer changes with it.
func kubeletGates(out *startup.Outcome) map[string]bool {
	all := map[string]bool{}
	for name, enabled := range resolve.BuiltInKubeletGates() {
		g, known := out.Result.Registry().Gate(name)
		if known && g.Has(gates.Kubelet) && !(g.Locked && g.Default != enabled) {
			all[name] = enabled
		}
	}
	for _, s := range out.Result.For(gates.Kubelet) {
		if s.Reason != resolve.Rollout {
			all[s.Gate.Name] = s.Enabled
		}
	}
	for name, k := range out.Config.Kubelet {
		all[name] = k.V
	}
	return all
}

// renderHeader says what the drop-in was made from and what it does.
func renderHeader(p *page, out *startup.Outcome) {
	set := out.Config.FeatureGates.FeatureSet
	p.line("# Made by microshift-feature-gates render for MicroShift %s, Kubernetes %s,", out.Options.Version, out.Result.Registry().Version())
	if set.V == gates.Default {
		p.line("# which has no feature set configured: so there is nothing to set.")
		p.line("# (An empty mapping, since an unmodified MicroShift fails on a file of comments alone.)")
		return
	}
	p.line("# from feature set %s (%s) and the files", set.V, set.Origin.Pos)
	for _, f := range out.Files {
		p.line("#   %s", diag.PrintableFile(f.Name))
	}
	p.line("# whose feature gates it replaces. It is for this version of MicroShift only.")
	p.line("# It LOCKS THE DEVICE: MicroShift refuses to start when the feature set is taken")
	p.line("# back, or with another version. For development and test systems, never for production.")
	for _, s := range out.Result.Skipped {
		p.line("# Left out: %s=%t, %s", s.Name, s.Enabled, s.Why)
	}
	if n := len(out.Result.Unrecognized); n > 0 {
		p.line("# Left out: %s", fmt.Sprintf("%s that only OpenShift's own components know", count(n, "gate")))
	}
	for _, s := range out.Result.Settings {
		if s.Reason == resolve.Rollout {
			p.line("# Left out: %s, which the rollout by minimumKubeletVersion decides", s.Gate.Name)
		}
	}
	if m := out.Config.FeatureGates.MinimumKubeletVersion; m.V != "" {
		p.line("# Left out: minimumKubeletVersion %s, which an unmodified MicroShift does not know", m.V)
	}
	if l := out.Lock.Lock; l != nil && l.FeatureSet != gates.CustomNoUpgrade {
		p.line("# THIS DEVICE can't take it as it is: %s holds feature set %q since MicroShift %s.", out.Lock.Path, l.FeatureSet, l.Version)
	}
}
