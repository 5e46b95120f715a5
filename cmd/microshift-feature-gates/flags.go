package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) flagsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "flags COMPONENT",
		Short: "Print exactly what a component is given",
		Long: `Print exactly what a component is given: as one flag, as an argument list in
JSON, for the kubelet as featureGates of a KubeletConfiguration, or for
kube-apiserver as a part of its --openshift-config file, with the minimum kubelet
version that is enforced. Components: kube-apiserver, kube-controller-manager,
kube-scheduler, kubelet.`,
		Args:      oneArgument,
		ValidArgs: componentNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := component(args[0])
			if err != nil {
				return err
			}
			if err := checkFormat(format, c); err != nil {
				return err
			}
			out, err := a.accepted()
			if err != nil {
				return err
			}
			text, err := flagsText(out, c, format)
			if err != nil {
				return failed(err)
			}
			if format == "openshift-config" {
				a.warnOfLockout(out)
			}
			return a.print(flagsView(out.Result, c), func(p *page) {
				for line := range strings.Lines(text) {
					p.line("%s", strings.TrimSuffix(line, "\n"))
				}
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "flag", "flag, args (a JSON list), kubelet-config or openshift-config")
	return cmd
}

// checkFormat checks that there is such a format, and for c.
func checkFormat(format string, c gates.Component) error {
	switch {
	case !slices.Contains([]string{"flag", "args", "kubelet-config", "openshift-config"}, format):
		return usageError("--format %q: want one of flag, args, kubelet-config, openshift-config", format)
	case format == "kubelet-config" && c != gates.Kubelet:
		return usageError("--format kubelet-config is for the kubelet only")
	case format == "openshift-config" && c != gates.KubeAPIServer:
		return usageError("--format openshift-config is for kube-apiserver only")
	}
	return nil
}

// flagsText returns what c is given in one of the formats, without a line
// break at its end.
func flagsText(out *startup.Outcome, c gates.Component, format string) (string, error) {
	r := out.Result
	switch format {
	case "openshift-config":
		text, err := encodeYAML(openshiftConfigOf(out))
		return strings.TrimSuffix(text, "\n"), err
	case "args":
		data, err := json.Marshal(r.Args(c))
		return string(data), err
	case "kubelet-config":
		text, err := encodeYAML(map[string]any{"featureGates": r.Map(c)})
		return strings.TrimSuffix(text, "\n"), err
	default:
		return r.Flag(c), nil
	}
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
