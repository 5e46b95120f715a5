package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// rolloutView is the rollout by minimum kubelet version, as this device has it.
type rolloutView struct {
	Path       string   `json:"path"`
	Reason     string   `json:"reason,omitempty"` // why the file can't be used, or what could not be read
	Generation int64    `json:"generation"`       // 0 without a usable file
	Configured string   `json:"configured"`       // minimum kubelet version; empty for none
	Enforced   string   `json:"enforced"`
	Enabled    []string `json:"enabled"`
	Disabled   []string `json:"disabled"`
	LeftAlone  []string `json:"leftAlone"` // guarded gates that this Kubernetes lacks or locks
	// Restart is what a restart of MicroShift would change; absent where it is
	// not known what runs.
	Restart *restartView  `json:"restart,omitempty"`
	Cluster *rollout.Seen `json:"cluster,omitempty"` // as the controller saw it last
}

type restartView struct {
	Generation int64    `json:"generation"` // that MicroShift was started with
	Needed     bool     `json:"needed"`
	Enables    []string `json:"enables"`
	Disables   []string `json:"disables"`
}

// rolloutViewOf returns nil for a device without a rollout.
func rolloutViewOf(out *startup.Outcome) *rolloutView {
	s := out.Rollout
	if !s.Active || out.Result == nil {
		return nil
	}
	v := &rolloutView{
		Path: s.Path, Generation: s.File.Generation,
		Configured: minimumText(s.Configured), Enforced: minimumText(s.Enforced()),
		Enabled: list(s.Settings.Enabled), Disabled: list(s.Settings.Disabled), LeftAlone: list(s.Settings.Outside),
		Cluster: s.Seen,
	}
	if s.Unusable != nil {
		v.Reason = "the file can't be used: " + s.Unusable.Error()
	} else if s.Unread != nil {
		v.Reason = inOneLine(s.Unread)
	}
	if s.Started != nil {
		on, off := s.RestartChanges(guards(out.Result))
		v.Restart = &restartView{Generation: s.Started.Generation, Needed: s.RestartNeeded(), Enables: list(on), Disables: list(off)}
	}
	return v
}

// guards returns the guarded gates of the Kubernetes that a result is for.
func guards(r *resolve.Result) []rollout.Guard {
	return rollout.DefaultGuards(rollout.StandingIn(r.Registry()))
}

func minimumText(v rollout.Version) string {
	if v.IsZero() {
		return ""
	}
	return v.String()
}

// list is never nil, which JSON would have as null.
func list(names []string) []string { return append([]string{}, names...) }

func showRollout(p *page, v *rolloutView) {
	if v == nil {
		return
	}
	state := fmt.Sprintf("generation %d", v.Generation)
	switch {
	case v.Generation == 0 && v.Reason != "":
		state = "not known"
	case v.Generation == 0:
		state = "not begun on this device"
	}
	p.heading("Rollout by minimum kubelet version: %s (%s)", state, v.Path)
	if v.Reason != "" {
		p.line("  %s", v.Reason)
	}
	p.line("  minimum configured: %s, enforced: %s", or(v.Configured, "none"), or(v.Enforced, "none"))
	for _, l := range []struct {
		title string
		names []string
	}{{"on", v.Enabled}, {"off", v.Disabled}, {"left to this Kubernetes, which lacks or locks them", v.LeftAlone}} {
		if len(l.names) > 0 {
			p.line("  %s: %s", l.title, strings.Join(l.names, ", "))
		}
	}
	showRestart(p, v)
	showCluster(p, v.Cluster)
}

func showRestart(p *page, v *rolloutView) {
	switch r := v.Restart; {
	case r == nil:
		p.line("  what MicroShift runs is not known: since the boot, no start has recorded it for this user to read")
	case !r.Needed:
		p.line("  MicroShift runs it; a restart changes nothing")
	default:
		p.line("  MicroShift runs generation %d; a restart takes generation %d, turns on: %s, off: %s",
			r.Generation, v.Generation, or(strings.Join(r.Enables, ", "), "none"), or(strings.Join(r.Disables, ", "), "none"))
	}
}

// maxShown is how many nodes a line names; JSON has them all.
const maxShown = 10

func showCluster(p *page, c *rollout.Seen) {
	if c == nil {
		return
	}
	p.line("  the cluster, as seen at %s: %s, generation %d, %d nodes", c.Time.Format(time.RFC3339), c.Phase, c.Generation, c.Nodes)
	for _, l := range []struct {
		title string
		names []string
	}{
		{"waiting for", c.Waiting}, {"kubelet too old", c.Outdated},
		{"kubelet version not readable", c.Unreadable}, {"with a set that is no longer covered", c.Stale},
	} {
		if n := len(l.names); n > maxShown {
			p.line("    %s: %s and %d more", l.title, strings.Join(l.names[:maxShown], ", "), n-maxShown)
		} else if n > 0 {
			p.line("    %s: %s", l.title, strings.Join(l.names, ", "))
		}
	}
}

// guardedView is a gate that the rollout decides on.
type guardedView struct {
	Requires string `json:"requires"` // kubelet version
	State    string `json:"state"`    // on, off, left-alone, or none where there is no rollout
}

// guardedViewOf returns nil for any other gate.
func guardedViewOf(name string, out *startup.Outcome) *guardedView {
	for _, g := range guards(out.Result) {
		if g.Gate != name {
			continue
		}
		v := &guardedView{Requires: g.Requires.String(), State: "none"}
		settings := out.Rollout.Settings
		for state, names := range map[string][]string{"on": settings.Enabled, "off": settings.Disabled, "left-alone": settings.Outside} {
			for _, n := range names {
				if n == name {
					v.State = state
				}
			}
		}
		return v
	}
	return nil
}

// text is what explain says about the gate on this device.
func (v *guardedView) text() string {
	switch v.State {
	case "on", "off":
		return fmt.Sprintf("the rollout by minimumKubeletVersion has it %s; it needs every kubelet to be at least %s", v.State, v.Requires)
	case "left-alone":
		return "the rollout by minimumKubeletVersion leaves it alone, since this Kubernetes lacks or locks it"
	}
	return fmt.Sprintf("with minimumKubeletVersion configured, it is on only while that, and every kubelet, is at least %s", v.Requires)
}
