package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) flagsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "flags COMPONENT",
		Short: "Print exactly what a component is given",
		Long: `Print exactly what a component is given: as one flag, as an argument list in
JSON, or for the kubelet as featureGates of a KubeletConfiguration. Components:
kube-apiserver, kube-controller-manager, kube-scheduler, kubelet.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: componentNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := component(args[0])
			if err != nil {
				return err
			}
			if !slices.Contains([]string{"flag", "args", "kubelet-config"}, format) {
				return usageError("--format %q: want one of flag, args, kubelet-config", format)
			}
			if format == "kubelet-config" && c != gates.Kubelet {
				return usageError("--format kubelet-config is for the kubelet only")
			}
			out, err := a.accepted()
			if err != nil {
				return err
			}
			return a.print(flagsView(out.Result, c), func() error { return a.printFlags(out.Result, c, format) })
		},
	}
	cmd.Flags().StringVar(&format, "format", "flag", "flag, args (a JSON list) or kubelet-config")
	return cmd
}

func (a *app) printFlags(r *resolve.Result, c gates.Component, format string) error {
	text := r.Flag(c)
	switch format {
	case "args":
		quoted := make([]string, 0, len(r.Args(c)))
		for _, arg := range r.Args(c) {
			quoted = append(quoted, fmt.Sprintf("%q", arg))
		}
		text = "[" + strings.Join(quoted, ",") + "]"
	case "kubelet-config":
		data, err := yaml.Marshal(map[string]any{"featureGates": r.Map(c)})
		if err != nil {
			return err
		}
		text = strings.TrimSuffix(string(data), "\n")
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}

func componentNames() []string {
	var names []string
	for _, c := range gates.Components() {
		names = append(names, string(c))
	}
	return names
}

// component returns the component of that name.
func component(name string) (gates.Component, error) {
	if !slices.Contains(gates.Components(), gates.Component(name)) {
		return "", usageError("unknown component %q: want one of %s", name, strings.Join(componentNames(), ", "))
	}
	return gates.Component(name), nil
}

// accepted looks at the device, and fails with the diagnostics printed unless
// a start would go on.
func (a *app) accepted() (*startup.Outcome, error) {
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	out, err := startup.Look(o)
	if err != nil {
		return nil, failed(err)
	}
	if err := verdict(out); err != nil {
		a.printDiagnostics(out)
		return nil, err
	}
	return out, nil
}
