package main

import (
	"fmt"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func showUpgrade(p *page, v *upgradeView, now, then *startup.Outcome) {
	word := "the same version again"
	switch c := then.Options.Version.Compare(now.Options.Version); {
	case c > 0:
		word = "an upgrade"
	case c < 0:
		word = "a downgrade"
	}
	p.heading("From MicroShift %s (Kubernetes %s) to %s (Kubernetes %s): %s", v.MicroShiftVersion, v.KubernetesVersion,
		v.Target.MicroShiftVersion, v.Target.KubernetesVersion, word)
	switch {
	case v.Start == startAccepted && then.Lock.Lock == nil:
		p.line("This device would start: no lock stops it.")
	case v.Start == startAccepted:
		p.line("This device would start: %s.", then.Lock.Verdict.Summary(then.Lock.Path))
	case v.Start == startRejected:
		p.line("This device would not start, since the configuration is rejected there: %s", v.Reason)
	case v.Start == startUnknown:
		p.line("It is not known whether this device would start, since not all could be read: %s", v.Reason)
	default:
		p.line("This device would not start, since the lock stops it: %s", v.Reason)
	}
	for _, note := range v.Notes {
		p.item("%s", note)
	}
	p.gap()
	if len(v.Gates) == 0 {
		p.line("No gate is configured.")
		return
	}
	var rows [][]string
	for _, g := range v.Gates {
		what := "fine"
		if len(g.Changes) > 0 {
			texts := make([]string, len(g.Changes))
			for i, c := range g.Changes {
				texts[i] = c.Text
			}
			what = strings.Join(texts, "; ")
		}
		rows = append(rows, []string{g.Name, fmt.Sprint(g.Enabled), g.Origin.String(), what})
	}
	p.table([]string{"GATE", "VALUE", "SET BY", "WHAT CHANGES"}, rows...)
}
