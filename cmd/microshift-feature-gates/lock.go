package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) lockCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lock",
		Short: "Show the lock and its history",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			out, lookErr := startup.Look(o)
			err = a.print(lockViewOf(out.Lock), func() error {
				w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
				showLock(w, out.Lock)
				return w.Flush()
			})
			if err != nil {
				return err
			}
			return failed(lookErr)
		},
	}
}

func showLock(w io.Writer, s startup.LockState) {
	fmt.Fprintf(w, "\nLock: %s (%s)\n", s, s.Path)
	switch {
	case s.Unusable != nil:
		fmt.Fprintf(w, "  it %s\n", s.Unusable.Reason)
	case s.Verdict.Refused():
		fmt.Fprintf(w, "  %s\n", s.Verdict.Summary(s.Path))
	}
	l := s.Lock
	if l == nil {
		return
	}
	fmt.Fprintf(w, "  feature set %q, MicroShift %s\n", l.FeatureSet, l.Version)
	showGroup(w, "  ", l.Gates)
	if len(l.History) > 0 {
		fmt.Fprintln(w, "  history:")
	}
	for _, e := range l.History {
		when := "-"
		if !e.Time.IsZero() {
			when = e.Time.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "    %s\t%q\t%q\n", when, e.Version, e.Change)
		showGroup(w, "      added ", e.Added)
		showGroup(w, "      removed ", e.Removed)
	}
}

// showGroup prints the lists of a group that have names. A lock can hold any
// text, so names are quoted.
func showGroup(w io.Writer, prefix string, g lock.Gates) {
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
			quoted := make([]string, len(l.names))
			for i, n := range l.names {
				quoted[i] = fmt.Sprintf("%q", n)
			}
			fmt.Fprintf(w, "%s%s: %s\n", prefix, l.path, strings.Join(quoted, ", "))
		}
	}
}
