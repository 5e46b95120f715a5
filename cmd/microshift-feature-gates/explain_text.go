package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

func showExplained(p *page, v *explainView) {
	p.heading("%s: %s", v.Name, v.summary())
	if v.OpenShift {
		p.line("OpenShift adds it to Kubernetes, so the Kubernetes documentation does not have it.")
	}
	if !v.OpenShiftOnly {
		p.gap()
		var rows [][]string
		for _, g := range v.Versions {
			rows = append(rows, g.row())
		}
		p.table([]string{"KUBERNETES", "MICROSHIFT", "STAGE", "DEFAULT", "LOCKED", "COMPONENTS"}, rows...)
	}
	p.gap()
	pairs := [][2]string{
		{"Needs:", or(strings.Join(v.Requires, ", "), "no other gate")},
		{"Needed by:", or(strings.Join(v.RequiredBy, ", "), "no other gate")},
	}
	for i, s := range v.FeatureSets {
		title := ""
		if i == 0 {
			title = "Feature sets:"
		}
		text := s.Name + ": " + map[string]string{stateEnabled: "enables it", stateDisabled: "disables it", stateAbsent: "does not have it"}[s.State]
		if s.Name == defaultSet {
			text += " (OpenShift's default, which MicroShift does not inherit)"
		}
		pairs = append(pairs, [2]string{title, text})
	}
	required := "no"
	if v.Required {
		required = "yes, so it is always on where Kubernetes still has it"
	}
	p.terms(append(pairs, [2]string{"Required by MicroShift:", required})...)
	showGateOnDevice(p, v)
	p.heading("Before you set it:")
	for _, w := range v.Warnings {
		p.item("%s", w)
	}
}

// summary describes the gate as the Kubernetes of the running version has it.
func (v *explainView) summary() string {
	for _, g := range v.Versions {
		switch {
		case v.OpenShiftOnly || !g.Running:
			continue
		case g.State == stateRemoved:
			return "removed before Kubernetes " + g.Kubernetes
		case g.State == stateNotYet:
			return "not yet in Kubernetes " + g.Kubernetes
		case v.all > 0:
			return fmt.Sprintf("stands for the other %d %s gates of Kubernetes %s", v.all, g.Stage, g.Kubernetes)
		case g.Locked:
			return fmt.Sprintf("%s in Kubernetes %s, locked %s", stageText(g.Stage), g.Kubernetes, onOff(g.Default))
		default:
			return fmt.Sprintf("%s in Kubernetes %s, %s by default", stageText(g.Stage), g.Kubernetes, onOff(g.Default))
		}
	}
	return "a gate of OpenShift's own components, which MicroShift does not have"
}

func (g gateVersionView) row() []string {
	kube := g.Kubernetes
	if g.Running {
		kube += " (here)"
	}
	row := []string{kube, strings.Join(g.MicroShift, ", "), g.Stage, fmt.Sprint(g.Default), yes(g.Locked), componentsText(gates.Gate{Components: g.Components})}
	switch g.State {
	case stateRemoved:
		row = append(row[:2], "removed", "", "", "")
	case stateNotYet:
		row = append(row[:2], "not yet", "", "", "")
	}
	return row
}

// showGateOnDevice shows what is configured here, and what a start would do.
func showGateOnDevice(p *page, v *explainView) {
	d := v.Device
	p.heading("On this device (MicroShift %s, Kubernetes %s):", v.MicroShiftVersion, v.KubernetesVersion)
	p.line("  %s", d.value())
	if d.Guarded != nil {
		p.line("  %s", d.Guarded.text())
	}
	for _, w := range d.Written {
		p.line("  %s says %t  (%s)", w.Path, w.Enabled, w.Origin)
	}
	if d.Gate != nil && d.Gate.Kubelet != nil {
		p.line("  %t wins for every component: they share one gate table, and the kubelet writes it last", d.Gate.Kubelet.Enabled)
	}
	switch d.Start {
	case startAccepted:
		p.line("  a start: goes on")
	case startUnknown:
		p.line("  a start: not known, since not all could be read: %s", d.Reason)
	case startRejected:
		p.line("  a start: is refused, since the configuration is rejected: %s", d.Reason)
	default:
		p.line("  a start: is refused by the lock: %s", d.Reason)
	}
	for _, problem := range d.Problems {
		if problem.Message != d.Reason {
			p.line("  %s: %s", problem.Severity, problem.Message)
		}
	}
}

// value says what value the section gives the gate, and why.
func (d gateDeviceView) value() string {
	if d.Gate == nil {
		return "no component here recognises it, and the configuration does not name it"
	}
	s := d.setting
	text := onOff(s.Enabled)
	switch s.Reason {
	case resolve.Default:
		if d.named() {
			return text + ", its default: what apiServer.featureGates says of it does not count"
		}
		return text + ", its default: nothing in apiServer.featureGates sets it"
	case resolve.Required:
		text += ", since MicroShift requires it"
	case resolve.Rollout:
		text += ", by the rollout by minimumKubeletVersion"
	case resolve.FeatureSet:
		text += fmt.Sprintf(", by the feature set %s  (%s)", d.FeatureSet, s.Origin.Pos)
	case resolve.Exception:
		text += ", with a support exception"
	default:
		text += ", by the configuration"
	}
	return text + "; given to " + givenTo(d.out.Result, s.Gate.Name)
}

// named reports whether a list of the section has the gate.
func (d gateDeviceView) named() bool {
	return slices.ContainsFunc(d.Written, func(w writtenView) bool { return strings.HasPrefix(w.Path, "apiServer.") })
}

// givenTo names the components that are given a gate.
func givenTo(r *resolve.Result, name string) string {
	var names []string
	for _, c := range gates.Components() {
		if _, ok := r.Map(c)[name]; ok {
			names = append(names, string(c))
		}
	}
	if len(names) == len(gates.Components()) {
		return "all components"
	}
	return or(strings.Join(names, ", "), "no component")
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// or returns text, or what stands for an empty one.
func or(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}

// stageText returns a stage as people write it.
func stageText(stage string) string {
	if stage == "ga" {
		return "GA"
	}
	return stage
}
