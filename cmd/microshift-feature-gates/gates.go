package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// knownGateView is a gate of the running version's Kubernetes.
type knownGateView struct {
	Name       string            `json:"name"`
	Stage      string            `json:"stage"`
	Default    bool              `json:"default"`
	Locked     bool              `json:"locked"`
	Requires   []string          `json:"requires"`
	Components []gates.Component `json:"components"`
	Since      string            `json:"since"`
}

func (a *app) gatesCommand() *cobra.Command {
	var componentName, stageName string
	cmd := &cobra.Command{
		Use:   "gates",
		Short: "List all feature gates that this Kubernetes knows",
		Long: `List all feature gates that the Kubernetes of the running MicroShift knows, or
those of a component or a stage. What is configured does not matter here.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if componentName != "" {
				if _, err := component(componentName); err != nil {
					return err
				}
			}
			if stageName != "" && !slices.Contains(stages(), stageName) {
				return usageError("unknown stage %q: want one of %s", stageName, strings.Join(stages(), ", "))
			}
			out, err := a.known(gates.Default)
			if err != nil {
				return err
			}
			a.printDiagnostics(out)
			list := []knownGateView{}
			for _, g := range out.Result.Registry().Gates() {
				if (componentName == "" || g.Has(gates.Component(componentName))) && (stageName == "" || g.Stage == stageName) {
					list = append(list, knownGateViewOf(g))
				}
			}
			return a.print(list, func(p *page) { showKnownGates(p, out, list) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&componentName, "component", "", "only the gates that this `COMPONENT` recognises")
	f.StringVar(&stageName, "stage", "", "only the gates of this `STAGE`: alpha, beta, ga or deprecated")
	return cmd
}

// stages returns the stages of a gate's life, in their order.
func stages() []string { return []string{"alpha", "beta", "ga", "deprecated"} }

// known returns what a start of the running version would find on a device
// that has only the feature set configured. Its diagnostics say at most that
// the Kubernetes of that version is not known exactly.
func (a *app) known(featureSet string) (*startup.Outcome, error) {
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	var files []config.File
	if featureSet != gates.Default {
		section := "apiServer: {featureGates: {featureSet: " + featureSet + "}}\n"
		files = append(files, config.File{Name: o.Paths.Config, Data: []byte(section)})
	}
	out, err := startup.Check(o, files)
	return out, failed(err)
}

func knownGateViewOf(g gates.Gate) knownGateView {
	return knownGateView{Name: g.Name, Stage: g.Stage, Default: g.Default, Locked: g.Locked, Since: g.Since,
		Requires: append([]string{}, g.Requires...), Components: append([]gates.Component{}, g.Components...)}
}

func showKnownGates(p *page, out *startup.Outcome, list []knownGateView) {
	p.heading("%s of Kubernetes %s, in MicroShift %s", count(len(list), "feature gate"), out.Result.Registry().Version(), out.Options.Version)
	if len(list) == 0 {
		return
	}
	var rows [][]string
	for _, g := range list {
		rows = append(rows, []string{g.Name, g.Stage, fmt.Sprint(g.Default), yes(g.Locked), g.Since,
			componentsText(gates.Gate{Components: g.Components}), strings.Join(g.Requires, ", ")})
	}
	p.gap()
	p.table([]string{"GATE", "STAGE", "DEFAULT", "LOCKED", "SINCE", "COMPONENTS", "NEEDS"}, rows...)
}

// yes marks what holds, and leaves what does not to the table's dash.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
