package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
			err = a.print(viewOf(out), func() error {
				err := a.showText(out, all)
				a.printDiagnostics(out)
				return err
			})
			if err != nil {
				return err
			}
			return failed(lookErr)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the gates that nobody sets, too (JSON and YAML always do)")
	return cmd
}

func (a *app) showText(out *startup.Outcome, all bool) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "MicroShift %s", out.Options.Version)
	if out.Result != nil {
		fmt.Fprintf(w, ", Kubernetes %s", out.Result.Registry().Version())
	}
	fmt.Fprintln(w)
	showFiles(w, out)
	showSection(w, out.Config)
	if out.Result != nil {
		showGates(w, out, all)
		showComponents(w, out.Result)
	}
	showLock(w, out.Lock)
	return w.Flush()
}

func showFiles(w io.Writer, out *startup.Outcome) {
	fmt.Fprintln(w, "\nFiles, in the order in which they are merged:")
	if len(out.Files) == 0 {
		fmt.Fprintf(w, "  none: neither %s nor a drop-in in %s\n", out.Options.Paths.Config, out.Options.Paths.Dir)
	}
	for _, f := range out.Files {
		note := ""
		if len(strings.TrimSpace(string(f.Data))) == 0 {
			note = "\t(empty)"
		}
		fmt.Fprintf(w, "  %s%s\n", diag.Position{File: f.Name}, note)
	}
}

func showSection(w io.Writer, cfg *config.Config) {
	fg := cfg.FeatureGates
	if fg.FeatureSet.V == gates.Default {
		fmt.Fprintln(w, "\nFeature set: none")
	} else {
		fmt.Fprintf(w, "\nFeature set: %s  (%s)\n", fg.FeatureSet.V, fg.FeatureSet.Origin.Pos)
		fmt.Fprintln(w, "  for development and test systems, never for production")
	}
	for _, old := range fg.FeatureSet.Replaced {
		fmt.Fprintf(w, "  replaces %q of %s\n", old.V, old.Origin.Pos)
	}
	for _, list := range []config.Names{fg.CustomNoUpgrade.Enabled, fg.CustomNoUpgrade.Disabled, fg.Exceptions.Enabled, fg.Exceptions.Disabled} {
		for _, old := range list.Replaced {
			var names []string
			for _, n := range old.V {
				names = append(names, fmt.Sprintf("%s (%s)", n.V, n.Origin.Pos))
			}
			fmt.Fprintf(w, "  %s of %s replaces %s\n", list.Origin.Path, list.Origin.Pos, strings.Join(names, ", "))
		}
	}
}

func showGates(w io.Writer, out *startup.Outcome, all bool) {
	list := out.Result.Settings
	if all {
		list = out.Result.All()
	}
	fmt.Fprintln(w, "\nGATE\tVALUE\tSTAGE\tREASON\tCOMPONENTS\tSET BY")
	for _, s := range list {
		by := ""
		if p := place(s.Origin); p != nil {
			by = p.String()
		}
		if k, ok := out.Config.Kubelet[s.Gate.Name]; ok && k.V != s.Enabled {
			by += fmt.Sprintf("; kubelet.featureGates says %t and wins (%s)", k.V, k.Origin.Pos)
		}
		fmt.Fprintf(w, "%s\t%t\t%s\t%s\t%s\t%s\n", s.Gate.Name, s.Enabled, stage(s.Gate), s.Reason, componentsText(s.Gate), by)
	}
	if len(list) == 0 {
		fmt.Fprintln(w, "none is set")
	}
	if names := out.Result.Unrecognized; len(names) > 0 {
		fmt.Fprintf(w, "\nKnown only to OpenShift's own components, so left out: %s\n", strings.Join(names, ", "))
	}
	for _, s := range out.Result.Skipped {
		fmt.Fprintf(w, "Left out: %s=%t, %s\n", s.Name, s.Enabled, s.Why)
	}
}

func stage(g gates.Gate) string {
	if g.Stage == "" {
		return "-"
	}
	return g.Stage
}

// componentsText names the components that recognise a gate.
func componentsText(g gates.Gate) string {
	switch len(g.Components) {
	case 0:
		return "unknown to all"
	case len(gates.Components()):
		return "all"
	}
	names := make([]string, len(g.Components))
	for i, c := range g.Components {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

func showComponents(w io.Writer, r *resolve.Result) {
	fmt.Fprintln(w, "\nCOMPONENT\tIS GIVEN")
	for _, c := range gates.Components() {
		fmt.Fprintf(w, "%s\t%s\n", c, r.Flag(c))
	}
}
