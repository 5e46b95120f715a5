package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) lockCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lock",
		Short: "Show the lock and its history",
		Long: `Show the lock, which a start with a feature set writes, and its history: absent,
held (a start may go on), blocked (a start would be refused), unusable, or
unknown (it could not be read).`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			out, lookErr := startup.Look(o)
			view := struct {
				lockView
				Rollout *rolloutView `json:"rollout,omitempty"`
			}{lockViewOf(out.Lock), rolloutViewOf(out)}
			err = a.print(view, func(p *page) {
				showLock(p, out.Lock)
				showRollout(p, view.Rollout)
			})
			if err != nil {
				return err
			}
			return failed(lookErr)
		},
	}
}

func showLock(p *page, s startup.LockState) {
	p.heading("Lock: %s (%s)", s, s.Path)
	switch {
	case s.Unread != nil:
		p.line("  %s", s.Unread)
	case s.Unusable != nil:
		p.line("  it %s", s.Unusable.Reason)
	case s.Verdict.Refused():
		p.line("  %s", s.Verdict.Summary(s.Path))
	}
	l := s.Lock
	if l == nil {
		return
	}
	p.line("  feature set %q, MicroShift %s", l.FeatureSet, l.Version)
	showGroup(p, "  ", l.Gates)
	if len(l.History) > 0 {
		p.line("  history:")
	}
	for _, e := range l.History {
		when := "at an unknown time" // as wide as the time
		if !e.Time.IsZero() {
			when = e.Time.Format(time.RFC3339)
		}
		p.line("    %-20s  MicroShift %s: %s", when, e.Version, e.Change)
		showGroup(p, "      added ", e.Added)
		showGroup(p, "      removed ", e.Removed)
	}
}

// showGroup shows the lists of a group that have names. A lock can hold any
// text, so names are quoted.
func showGroup(p *page, prefix string, g lock.Gates) {
	for _, l := range []struct {
		path  string
		names []string
	}{
		{"customNoUpgrade.enabled", g.CustomNoUpgrade.Enabled},
		{"customNoUpgrade.disabled", g.CustomNoUpgrade.Disabled},
		{"specialHandlingSupportExceptionRequired.enabled", g.Exceptions.Enabled},
		{"specialHandlingSupportExceptionRequired.disabled", g.Exceptions.Disabled},
	} {
		if len(l.names) > 0 {
			p.line("%s%s: %s", prefix, l.path, quoted(l.names))
		}
	}
}

// quoted returns the names in quotes, so that none passes for several.
func quoted(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(list, ", ")
}
