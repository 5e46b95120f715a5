package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// gateOnDevice returns what a device's configuration says about a gate.
func gateOnDevice(name string, out *startup.Outcome) gateDeviceView {
	v := gateDeviceView{FeatureSet: out.Config.FeatureGates.FeatureSet.V, Written: []writtenView{}, Problems: diag.List{}, out: out}
	for _, item := range written(out.Config) {
		if item.name == name {
			v.Written = append(v.Written, writtenView{item.origin.Path, item.enabled, item.origin.Pos})
		}
	}
	if s, ok := effective(out.Result, name); ok {
		g := gateViewOf(s, out.Config)
		v.Gate, v.setting = &g, s
	}
	mentions := regexp.MustCompile(`(^|[^A-Za-z0-9.-])` + regexp.QuoteMeta(name) + `($|[^A-Za-z0-9-])`)
	for _, d := range out.Diagnostics {
		if mentions.MatchString(d.Message) {
			v.Problems = append(v.Problems, d)
		}
	}
	v.Start, v.Reason = startOf(out)
	v.Guarded = guardedViewOf(name, out)
	return v
}

// effective returns the setting of a gate, be it its default. It is not ok for
// a gate that no component recognises and nobody sets.
func effective(r *resolve.Result, name string) (s resolve.Setting, ok bool) {
	all := r.All()
	i := slices.IndexFunc(all, func(s resolve.Setting) bool { return s.Gate.Name == name })
	if i < 0 {
		return resolve.Setting{}, false
	}
	return all[i], true
}

// What a start would do.
const (
	startAccepted = "accepted"
	startRejected = "rejected" // for the configuration
	startLocked   = "locked"   // stopped by the lock
	startUnknown  = "unknown"  // not all could be read
)

// startOf says in a word what a start would do, and unless it is accepted, why.
func startOf(out *startup.Outcome) (word, reason string) {
	r := out.Refusal()
	switch {
	case r == nil && out.Unread != nil:
		return startUnknown, inOneLine(out.Unread)
	case r == nil:
		return startAccepted, ""
	case r.ByLock:
		return startLocked, r.Error()
	default:
		return startRejected, r.Error()
	}
}

// item is a gate that the configuration names.
type item struct {
	name    string
	enabled bool
	origin  config.Origin
}

// written returns the gates that a configuration names, in the order of the
// four lists, and after those kubelet.featureGates.
func written(cfg *config.Config) []item {
	var items []item
	fg := cfg.FeatureGates
	for _, l := range []struct {
		config.Names
		enabled bool
	}{
		{fg.CustomNoUpgrade.Enabled, true}, {fg.CustomNoUpgrade.Disabled, false},
		{fg.Exceptions.Enabled, true}, {fg.Exceptions.Disabled, false},
	} {
		for _, n := range l.V {
			items = append(items, item{n.V, l.enabled, n.Origin})
		}
	}
	first := len(items)
	for name, k := range cfg.Kubelet {
		items = append(items, item{name, k.V, k.Origin})
	}
	slices.SortFunc(items[first:], func(a, b item) int { return a.origin.Pos.Compare(b.origin.Pos) })
	return items
}

// inOneLine returns, without line breaks, the text of an error that may be several joined ones.
func inOneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
