package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) showCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the effective gates, who set each, and the lock",
		Long: `Show the configuration files, the feature gates that are set with the place that
sets each, what each component is given, and the lock. Works without a running
cluster, and shows what it can when the configuration is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			out, lookErr := startup.Look(o)
			if err := a.print(viewOf(out), func(p *page) { showDevice(p, out, all) }); err != nil {
				return err
			}
			if a.output == "text" {
				a.printDiagnostics(out)
			}
			return failed(lookErr)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the gates that nobody sets, too (JSON and YAML always do)")
	return cmd
}

func showDevice(p *page, out *startup.Outcome, all bool) {
	version := "MicroShift " + out.Options.Version.String()
	if out.Result != nil {
		version += ", Kubernetes " + out.Result.Registry().Version().String()
	}
	p.heading("%s", version)
	if r := out.Refusal(); r != nil {
		p.line("A start is refused: %s", r)
	}
	showFiles(p, out)
	showSection(p, out.Config)
	if out.Result != nil {
		showGates(p, out, all)
		showComponents(p, out.Result)
	}
	showLock(p, out.Lock)
	showRollout(p, rolloutViewOf(out))
}

func showFiles(p *page, out *startup.Outcome) {
	p.heading("Files, in the order in which they are merged:")
	switch {
	case out.Unconfigured:
		p.line("  none: neither %s nor a drop-in in %s", out.Options.Paths.Config, out.Options.Paths.Dir)
	case len(out.Files) == 0:
		p.line("  none could be read")
	}
	for _, f := range out.Files {
		note := ""
		if len(strings.TrimSpace(string(f.Data))) == 0 {
			note = "  (empty)"
		}
		p.line("  %s%s", diag.PrintableFile(f.Name), note)
	}
}

func showSection(p *page, cfg *config.Config) {
	fg := cfg.FeatureGates
	if fg.FeatureSet.V == gates.Default {
		p.heading("Feature set: none")
	} else {
		p.heading("Feature set: %s  (%s)", diag.Printable(fg.FeatureSet.V), fg.FeatureSet.Origin.Pos)
		p.line("  for development and test systems, never for production")
	}
	for _, old := range fg.FeatureSet.Replaced {
		p.line("  replaces %s of %s", diag.Quote(old.V), old.Origin.Pos)
	}
	for _, list := range []config.Names{fg.CustomNoUpgrade.Enabled, fg.CustomNoUpgrade.Disabled, fg.Exceptions.Enabled, fg.Exceptions.Disabled} {
		for _, old := range list.Replaced {
			var names []string
			for _, n := range old.V {
				names = append(names, fmt.Sprintf("%s (%s)", diag.Printable(n.V), n.Origin.Pos))
			}
			p.line("  %s of %s replaces %s", list.Origin.Path, list.Origin.Pos, strings.Join(names, ", "))
		}
	}
}

func showGates(p *page, out *startup.Outcome, all bool) {
	list := out.Result.Settings
	if all {
		list = out.Result.All()
	}
	var rows [][]string
	for _, s := range list {
		rows = append(rows, []string{s.Gate.Name, fmt.Sprint(s.Enabled), s.Gate.Stage, string(s.Reason), componentsText(s.Gate), setBy(s, out.Config)})
	}
	p.gap()
	if len(rows) == 0 {
		p.line("No gate is set.")
	} else {
		p.table([]string{"GATE", "VALUE", "STAGE", "REASON", "COMPONENTS", "SET BY"}, rows...)
	}
	if names := out.Result.Unrecognized; len(names) > 0 {
		p.heading("Known only to OpenShift's own components, so left out (%d):", len(names))
		p.wrap("  ", strings.Join(names, ", "))
	}
	if len(out.Result.Skipped) > 0 {
		p.heading("Left out, since this Kubernetes can't take them:")
	}
	for _, s := range out.Result.Skipped {
		p.line("  %s=%t: %s", s.Name, s.Enabled, s.Why)
	}
}

// setBy says who sets a gate, and what kubelet.featureGates says against it.
func setBy(s resolve.Setting, cfg *config.Config) string {
	by := ""
	if at := place(s.Origin); at != nil {
		by = at.String()
	} else if s.Reason == resolve.Required {
		by = "MicroShift itself"
	}
	if k, ok := cfg.Kubelet[s.Gate.Name]; ok && k.V != s.Enabled {
		by = strings.TrimPrefix(fmt.Sprintf("%s; kubelet.featureGates says %t and wins (%s)", by, k.V, k.Origin.Pos), "; ")
	}
	return by
}

// componentsText names the components that recognise a gate.
func componentsText(g gates.Gate) string {
	switch len(g.Components) {
	case 0:
		return "unknown to all"
	case len(gates.Components()):
		return "all"
	}
	return joined(g.Components)
}

// joined returns names in a row.
func joined[S ~string](names []S) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, ", ")
}

func showComponents(p *page, r *resolve.Result) {
	var rows [][]string
	for _, c := range gates.Components() {
		rows = append(rows, []string{string(c), r.Flag(c)})
	}
	p.gap()
	p.table([]string{"COMPONENT", "IS GIVEN"}, rows...)
}
