package main

import (
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// release is set by the build, to the version of the package.
var release = ""

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this command and the Kubernetes versions that it knows",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			view := struct {
				Version    string   `json:"version"`
				Kubernetes []string `json:"kubernetesVersions"`
			}{ownVersion(), nil}
			for _, v := range gates.Versions() {
				view.Kubernetes = append(view.Kubernetes, v.String())
			}
			return a.print(view, func(p *page) {
				p.line("microshift-feature-gates %s", view.Version)
				p.line("knows the feature gates of Kubernetes %s", strings.Join(view.Kubernetes, ", "))
			})
		},
	}
}

// ownVersion returns the version of the build, or else of the module.
func ownVersion() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
