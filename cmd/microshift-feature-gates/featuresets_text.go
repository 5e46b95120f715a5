package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

func showSet(p *page, v setView) {
	p.heading("%s in MicroShift %s, Kubernetes %s", v.Name, v.MicroShiftVersion, v.KubernetesVersion)
	p.line("%s", v.Description)
	if v.Name == gates.CustomNoUpgrade {
		p.line("It has no gates of its own; `microshift-feature-gates show` lists those of this device.")
		return
	}
	showSetGates(p, "Switches on", v.Enabled)
	showSetGates(p, "Switches off", v.Disabled)
	if len(v.Skipped) > 0 {
		p.heading("Left out, since this Kubernetes can't take them (%d):", len(v.Skipped))
	}
	for _, s := range v.Skipped {
		p.line("  %s=%t: %s", s.Name, s.Enabled, s.Why)
	}
	for _, l := range []struct {
		word  string
		names []string
	}{{"on", v.OpenShiftOnly.Enabled}, {"off", v.OpenShiftOnly.Disabled}} {
		if len(l.names) > 0 {
			p.heading("Known only to OpenShift's own components, %s (%d):", l.word, len(l.names))
			p.wrap("  ", strings.Join(l.names, ", "))
		}
	}
}

func showSetGates(p *page, title string, list []setGateView) {
	if len(list) == 0 {
		p.heading("%s: nothing that a component of this Kubernetes recognises", title)
		return
	}
	p.heading("%s (%d):", title, len(list))
	var rows [][]string
	for _, g := range list {
		rows = append(rows, []string{g.Name, g.Stage, fmt.Sprint(g.Default), componentsText(gates.Gate{Components: g.Components})})
	}
	p.table([]string{"GATE", "STAGE", "DEFAULT", "COMPONENTS"}, rows...)
}

// differenceView is how two sets differ.
type differenceView struct {
	Set               string           `json:"set"`
	Against           string           `json:"against"`
	MicroShiftVersion string           `json:"microshiftVersion"`
	KubernetesVersion string           `json:"kubernetesVersion"`
	Gates             []differenceGate `json:"gates"`
}

// differenceGate is a gate with what each set does to it.
type differenceGate struct {
	Name       string            `json:"name"`
	Set        string            `json:"set"`
	Against    string            `json:"against"`
	Components []gates.Component `json:"components"` // empty where only OpenShift's own know it
}

// compareSets shows the gates that two sets treat differently.
func (a *app) compareSets(name, against string) error {
	if err := setExists(against); err != nil {
		return err
	}
	if name == gates.CustomNoUpgrade || against == gates.CustomNoUpgrade {
		return usageError("%s has no gates of its own that could be compared", gates.CustomNoUpgrade)
	}
	v, out, err := a.set(name)
	if err != nil {
		return err
	}
	a.printDiagnostics(out)
	w, _, err := a.set(against)
	if err != nil {
		return err
	}
	diff := differenceOf(v, w, out.Result.Registry())
	return a.print(diff, func(p *page) { showDifference(p, diff) })
}

func differenceOf(v, w setView, reg *gates.Registry) differenceView {
	diff := differenceView{Set: v.Name, Against: w.Name, MicroShiftVersion: v.MicroShiftVersion,
		KubernetesVersion: v.KubernetesVersion, Gates: []differenceGate{}}
	states, others := v.states(), w.states()
	all := maps.Clone(states)
	maps.Copy(all, others)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		known, _ := reg.Gate(name)
		g := differenceGate{name, cmp.Or(states[name], stateAbsent), cmp.Or(others[name], stateAbsent),
			append([]gates.Component{}, known.Components...)}
		if g.Set != g.Against {
			diff.Gates = append(diff.Gates, g)
		}
	}
	return diff
}

// What a set does to a gate. A gate that is skipped or absent is left alone.
const (
	stateEnabled  = "enabled"
	stateDisabled = "disabled"
	stateSkipped  = "skipped"
	stateAbsent   = "absent"
)

// states returns what the set does to each of its gates.
func (v setView) states() map[string]string {
	states := map[string]string{}
	for _, g := range v.Enabled {
		states[g.Name] = stateEnabled
	}
	for _, g := range v.Disabled {
		states[g.Name] = stateDisabled
	}
	for _, s := range v.Skipped {
		states[s.Name] = stateSkipped
	}
	for _, n := range v.OpenShiftOnly.Enabled {
		states[n] = stateEnabled
	}
	for _, n := range v.OpenShiftOnly.Disabled {
		states[n] = stateDisabled
	}
	return states
}

func showDifference(p *page, v differenceView) {
	p.heading("%s against %s in MicroShift %s, Kubernetes %s", v.Set, v.Against, v.MicroShiftVersion, v.KubernetesVersion)
	var ours, theirs [][]string
	for _, g := range v.Gates {
		row := []string{g.Name, g.Set, g.Against}
		if len(g.Components) > 0 {
			ours = append(ours, append(row, componentsText(gates.Gate{Components: g.Components})))
		} else {
			theirs = append(theirs, row)
		}
	}
	if len(ours) == 0 {
		p.line("no difference for the components of this Kubernetes")
	} else {
		p.gap()
		p.table([]string{"GATE", v.Set, v.Against, "COMPONENTS"}, ours...)
	}
	if len(theirs) > 0 {
		p.heading("Known only to OpenShift's own components (%d):", len(theirs))
		p.table([]string{"GATE", v.Set, v.Against}, theirs...)
	}
}
