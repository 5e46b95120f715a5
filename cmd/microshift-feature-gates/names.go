package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// allGateNames returns every gate of any embedded Kubernetes or feature set,
// sorted. What can't be read is left out; the command that needs it says so.
func allGateNames() []string {
	names := map[string]bool{}
	for _, kube := range gates.Versions() {
		reg, _, err := gates.ForVersion(kube)
		if err != nil {
			continue
		}
		for _, g := range reg.Gates() {
			names[g.Name] = true
		}
	}
	for _, major := range []int{4, 5} {
		for _, set := range previewSets() {
			s, err := gates.FeatureSet(set, major)
			if err != nil {
				continue
			}
			for _, name := range append(slices.Clone(s.Enabled), s.Disabled...) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// previewSets returns the sets that OpenShift defines, Default included.
func previewSets() []string {
	return []string{gates.TechPreviewNoUpgrade, gates.DevPreviewNoUpgrade, gates.Default}
}

// fixed completes a flag with words of a list.
func fixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// completeFlags lets the shell complete the values of the flags of cmd and of
// the commands below it. Files are offered only for --root and validate.
func completeFlags(cmd *cobra.Command) {
	words := map[string][]string{
		"output":         {"text", "json", "yaml"},
		"log-format":     {"text", "json"},
		"log-level":      {"error", "warn", "info", "debug"},
		"color":          {"auto", "always", "never"},
		"upgrade-policy": {"none", "z-stream"},
		"format":         {"flag", "args", "kubelet-config"},
		"component":      componentNames(),
		"stage":          stages(),
		"against":        setNames(),
	}
	complete := func(cmd *cobra.Command) {
		for name, list := range words {
			if cmd.LocalFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, fixed(list...)) // fails only for flags that there are not
			}
		}
	}
	complete(cmd)
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
	cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("microshift-version", fixed())
	_ = cmd.MarkPersistentFlagDirname("root")
}
