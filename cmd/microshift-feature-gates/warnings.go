package main

import (
	"fmt"
	"slices"
	"strings"
)

// warnings returns what someone should know before setting a gate, a plain
// sentence or two each, the gravest first.
func (v *explainView) warnings() []string {
	list := []string{"Feature gates are for development and test systems, never for production."}
	if v.OpenShiftOnly {
		return append(list, "Setting it does nothing on MicroShift: only OpenShift's own components know it, and kube-apiserver logs that it does not.", lockWarning)
	}
	list = append(list, v.runningWarnings()...)
	list = append(list, v.laterWarnings()...)
	if len(v.Requires) > 0 {
		list = append(list, fmt.Sprintf("It needs %s: with it on and one of those off, a start is refused.", strings.Join(v.Requires, ", ")))
	}
	if len(v.RequiredBy) > 0 {
		list = append(list, fmt.Sprintf("Before you switch it off: %s would have to be off as well.", strings.Join(v.RequiredBy, ", ")))
	}
	if v.Required {
		list = append(list, "MicroShift can't do without it; a configuration that disables it is rejected.")
	}
	return append(list, lockWarning)
}

const lockWarning = "It takes a feature set, and that locks the device: from the first start on, MicroShift refuses to start " +
	"with another set or none, or with another version. The only other way back is to wipe the device: microshift-cleanup-data --all."

// runningWarnings are about the gate in the Kubernetes of the running version.
func (v *explainView) runningWarnings() []string {
	i := slices.IndexFunc(v.Versions, func(g gateVersionView) bool { return g.Running })
	if i < 0 {
		return nil
	}
	g := v.Versions[i]
	if g.State != stateKnown {
		return []string{fmt.Sprintf("It does nothing in Kubernetes %s, which does not have it.", g.Kubernetes)}
	}
	var list []string
	switch {
	case g.Locked:
		return []string{fmt.Sprintf("It is locked %s in Kubernetes %s: the other value is rejected, since kube-apiserver would not start.", onOff(g.Default), g.Kubernetes)}
	case g.UnservedAPI != "":
		list = append(list, fmt.Sprintf("Switching it on is rejected in Kubernetes %s: kube-apiserver would wait for the API %s, which MicroShift does not serve.", g.Kubernetes, g.UnservedAPI))
	case v.all > 0:
		list = append(list, fmt.Sprintf("It sets all %s gates that are not set by themselves, %d of them in Kubernetes %s, whether they go together or not. "+
			"kube-apiserver is known not to become ready with AllAlpha.", g.Stage, v.all, g.Kubernetes))
	}
	return append(list, stageWarning(g.Stage))
}

func stageWarning(stage string) string {
	switch stage {
	case "alpha":
		return "It is alpha: it may lose data or change the cluster for good, has known faults, and may change or vanish in any version."
	case "beta":
		return "It is beta: it is tested, but may still lose data or change the cluster for good, and what it stores may not fit the next version."
	case "deprecated":
		return "It is deprecated: it exists to go back to an old behaviour for a while, and a later version removes it."
	default:
		return "It is GA: a later version locks it and then removes it, and no longer takes the other value."
	}
}

// laterWarnings are about what becomes of the gate after the running version.
func (v *explainView) laterWarnings() []string {
	var list []string
	i := slices.IndexFunc(v.Versions, func(g gateVersionView) bool { return g.Running })
	locked := i >= 0 && v.Versions[i].Locked
	waits := i >= 0 && v.Versions[i].UnservedAPI != ""
	for _, g := range v.Versions[i+1:] {
		in := "Kubernetes " + g.Kubernetes
		if len(g.MicroShift) > 0 {
			in += " (MicroShift " + strings.Join(g.MicroShift, ", ") + ")"
		}
		switch {
		case g.State == stateRemoved:
			return append(list, "It is removed in "+in+": from there on, setting it does nothing.")
		case g.UnservedAPI != "" && !waits:
			waits = true
			list = append(list, fmt.Sprintf("Switching it on is rejected in %s: kube-apiserver would wait for the API %s there, which MicroShift does not serve.", in, g.UnservedAPI))
		case g.State == stateKnown && g.Locked && !locked:
			locked = true
			list = append(list, fmt.Sprintf("It is locked %s in %s: a configuration that sets it %s is rejected there.", onOff(g.Default), in, onOff(!g.Default)))
		}
	}
	return list
}
