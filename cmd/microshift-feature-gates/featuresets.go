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

// setView is what a feature set means for the Kubernetes of the running version.
type setView struct {
	Name              string            `json:"name"`
	Description       string            `json:"description"`
	MicroShiftVersion string            `json:"microshiftVersion"`
	KubernetesVersion string            `json:"kubernetesVersion"`
	Enabled           []setGateView     `json:"enabled"`
	Disabled          []setGateView     `json:"disabled"`
	Skipped           []resolve.Skipped `json:"skipped"`
	OpenShiftOnly     openShiftGates    `json:"openshiftOnly"`
}

type setGateView struct {
	Name       string            `json:"name"`
	Stage      string            `json:"stage"`
	Default    bool              `json:"default"`
	Components []gates.Component `json:"components"`
}

// openShiftGates are gates that no component of Kubernetes recognises.
type openShiftGates struct {
	Enabled  []string `json:"enabled"`
	Disabled []string `json:"disabled"`
}

// setSummaryView is a line of the list of all sets.
type setSummaryView struct {
	Name          string `json:"name"`
	Enabled       int    `json:"enabled"`       // for a component of this Kubernetes
	Disabled      int    `json:"disabled"`      // for a component of this Kubernetes
	OpenShiftOnly int    `json:"openshiftOnly"` // for OpenShift's own components
	Description   string `json:"description"`
}

// defaultSet is how OpenShift's manifests name the set of a cluster that has none.
const defaultSet = "Default"

// setNames returns the sets as the command line has them.
func setNames() []string {
	names := gates.FeatureSetNames()
	names[0] = defaultSet
	return names
}

func (a *app) featureSetsCommand() *cobra.Command {
	var against string
	cmd := &cobra.Command{
		Use:   "feature-sets [SET]",
		Short: "Show what a feature set switches on and off, or how two differ",
		Long: `List the feature sets; or show what one switches on and off for the components
of this Kubernetes, and which of its gates only OpenShift's own components know;
or with --against, which gates differ between two sets. MicroShift does not
inherit the set Default of OpenShift; it is there to compare with.`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: setNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && against != "":
				return usageError("--against compares with a SET, and none is given")
			case len(args) == 0:
				return a.listSets()
			}
			if err := setExists(args[0]); err != nil {
				return err
			}
			if against != "" {
				return a.compareSets(args[0], against)
			}
			v, out, err := a.set(args[0])
			if err != nil {
				return err
			}
			a.printDiagnostics(out)
			return a.print(v, func(p *page) { showSet(p, v) })
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "show only what differs from this `SET`")
	return cmd
}

// setExists returns the usage error for a set that there is not.
func setExists(name string) error {
	if slices.Contains(setNames(), name) {
		return nil
	}
	if near := diag.Nearest(name, setNames()); near != "" {
		return usageError("there is no feature set %q; did you mean %s?", name, near)
	}
	return usageError("there is no feature set %q: want one of %s", name, joined(setNames()))
}

// set returns what the set of that name means, and a start with it.
func (a *app) set(name string) (setView, *startup.Outcome, error) {
	configured := name
	if name == defaultSet || name == gates.CustomNoUpgrade {
		configured = gates.Default // these two add nothing to a configuration
	}
	out, err := a.known(configured)
	if err != nil {
		return setView{}, nil, err
	}
	v, err := setViewOf(name, out)
	return v, out, err
}

// setViewOf sorts the gates of a set by who recognises them. out is a start
// with that set.
func setViewOf(name string, out *startup.Outcome) (setView, error) {
	reg := out.Result.Registry()
	v := setView{
		Name: name, Description: setDescription(name),
		MicroShiftVersion: out.Options.Version.String(), KubernetesVersion: reg.Version().String(),
		Enabled: []setGateView{}, Disabled: []setGateView{},
		Skipped:       append([]resolve.Skipped{}, out.Result.Skipped...),
		OpenShiftOnly: openShiftGates{Enabled: []string{}, Disabled: []string{}},
	}
	set, err := setOf(name, out.Options.Version.Major)
	if err != nil {
		return v, err
	}
	sort := func(names []string, recognised *[]setGateView, others *[]string) {
		for _, n := range names {
			g, known := reg.Gate(n)
			switch {
			case !known:
				*others = append(*others, n)
			case !slices.ContainsFunc(v.Skipped, func(s resolve.Skipped) bool { return s.Name == n }):
				*recognised = append(*recognised, setGateView{n, g.Stage, g.Default, g.Components})
			}
		}
	}
	sort(set.Enabled, &v.Enabled, &v.OpenShiftOnly.Enabled)
	sort(set.Disabled, &v.Disabled, &v.OpenShiftOnly.Disabled)
	return v, nil
}

// setOf returns the gates of a set as OpenShift has them for a major version
// of MicroShift; none for CustomNoUpgrade.
func setOf(name string, major int) (gates.Set, error) {
	switch name {
	case gates.CustomNoUpgrade:
		return gates.Set{Name: name}, nil
	case defaultSet:
		name = gates.Default
	}
	set, err := gates.FeatureSet(name, major)
	return set, failed(err)
}

func setDescription(name string) string {
	switch name {
	case gates.CustomNoUpgrade:
		return "the gates that the configuration lists, on top of Kubernetes' own defaults"
	case gates.TechPreviewNoUpgrade:
		return "OpenShift's technology previews"
	case gates.DevPreviewNoUpgrade:
		return "OpenShift's technology previews, and its developer previews"
	default:
		return "what OpenShift has without a feature set; MicroShift does not inherit it"
	}
}

// listSets shows all sets, one on each line.
func (a *app) listSets() error {
	list := []setSummaryView{}
	for i, name := range setNames() {
		v, out, err := a.set(name)
		if err != nil {
			return err
		}
		if i == 0 { // the others warn of the same
			a.printDiagnostics(out)
		}
		list = append(list, setSummaryView{name, len(v.Enabled), len(v.Disabled),
			len(v.OpenShiftOnly.Enabled) + len(v.OpenShiftOnly.Disabled), v.Description})
	}
	return a.print(list, func(p *page) {
		var rows [][]string
		for _, s := range list {
			n := []string{fmt.Sprint(s.Enabled), fmt.Sprint(s.Disabled), fmt.Sprint(s.OpenShiftOnly)}
			if s.Name == gates.CustomNoUpgrade {
				n = []string{"", "", ""}
			}
			rows = append(rows, append(append([]string{s.Name}, n...), s.Description))
		}
		p.table([]string{"SET", "ON", "OFF", "OPENSHIFT ONLY", "WHAT IT IS"}, rows...)
		p.gap()
		p.line("Each set but Default locks the device when it is used. For development and test systems, never for production.")
	})
}
