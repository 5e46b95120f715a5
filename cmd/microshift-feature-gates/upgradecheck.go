package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// upgradeView tells whether a device would start with another version.
type upgradeView struct {
	MicroShiftVersion string        `json:"microshiftVersion"`
	KubernetesVersion string        `json:"kubernetesVersion"`
	Target            targetView    `json:"target"`
	Start             string        `json:"start"` // accepted, rejected, locked or unknown
	Reason            string        `json:"reason,omitempty"`
	Notes             []string      `json:"notes"`
	Gates             []upgradeGate `json:"gates"`
	Lock              lockView      `json:"lock"` // as the target version judges it
	Diagnostics       diag.List     `json:"diagnostics"`
}

type targetView struct {
	MicroShiftVersion string `json:"microshiftVersion"`
	KubernetesVersion string `json:"kubernetesVersion"`
}

func (a *app) upgradeCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "upgrade-check VERSION",
		Short: "Tell whether this device would start after an update to VERSION",
		Long: `Tell whether this device would start with another version of MicroShift, newer
or older: what the lock says to it, and what becomes there of each gate that is
configured. Nothing is written. Ends as a start with that version would: with 0,
1 where the configuration would be rejected, 4 where the lock would stop it.`,
		Args:              oneArgument,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			target, err := lock.ParseVersion(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			o, err := a.options()
			if err != nil {
				return err
			}
			now, nowErr := startup.Look(o)
			o.Version = target
			then, thenErr := startup.Look(o)
			if err := errors.Join(nowErr, thenErr); now.Result == nil || then.Result == nil {
				return failed(err)
			}
			v := upgrade(now, then)
			if err := a.print(v, func(p *page) { showUpgrade(p, v, now, then) }); err != nil {
				return err
			}
			if a.output == "text" {
				a.printDiagnostics(then)
			}
			if thenErr != nil {
				return failed(thenErr) // the two read the same files
			}
			return verdict(then)
		},
	}
}

// upgrade compares a start of the running version with one of another. It
// takes from then the warning that is true of every update.
func upgrade(now, then *startup.Outcome) *upgradeView {
	missing := func(d diag.Diagnostic) bool { return d.Code == "lock-missing" }
	if !slices.ContainsFunc(now.Diagnostics, missing) {
		// That the data is of another version is no surprise here.
		then.Diagnostics = slices.DeleteFunc(then.Diagnostics, missing)
	}
	v := &upgradeView{
		MicroShiftVersion: now.Options.Version.String(),
		KubernetesVersion: now.Result.Registry().Version().String(),
		Target:            targetView{then.Options.Version.String(), then.Result.Registry().Version().String()},
		Notes:             upgradeNotes(now, then),
		Gates:             upgradeGates(now, then),
		Lock:              lockViewOf(then.Lock),
		Diagnostics:       append(diag.List{}, then.Diagnostics...),
	}
	v.Start, v.Reason = startOf(then)
	return v
}

// upgradeNotes says what the outcome of a start with the other version does not.
func upgradeNotes(now, then *startup.Outcome) []string {
	notes := []string{}
	from, to := now.Options.Version, then.Options.Version
	v := then.Lock.Verdict
	start, _ := startOf(then)
	if start == startRejected && v.Refused() {
		notes = append(notes, "the lock would stop it as well: "+v.Summary(then.Lock.Path))
	}
	if start != startRejected && v.VersionBlocked && v.Now.FeatureSet == gates.CustomNoUpgrade && !v.Blocking.IsZero() {
		notes = append(notes, "the lock would let the version pass with a support exception: apiServer.featureGates.specialHandlingSupportExceptionRequired needs "+
			exceptions(v.Blocking)+" as well")
	}
	if next := now.Lock.Verdict.Next; next != nil && now.Refusal() == nil && then.Refusal() == nil {
		later := lock.Check(next, lock.SectionOf(then.Config.FeatureGates), to, then.Options.Policy, then.Options.Now())
		if later.Refused() {
			notes = append(notes, fmt.Sprintf("the lock does not know this configuration yet: once MicroShift %s has started with it, MicroShift %s is refused", from, to))
		}
	}
	if r := now.Refusal(); r != nil {
		notes = append(notes, fmt.Sprintf("MicroShift %s would not start with this configuration either: %s", from, r.Error()))
	}
	return notes
}

// exceptions lists gates as in the configuration.
func exceptions(l lock.Lists) string {
	var parts []string
	if len(l.Enabled) > 0 {
		parts = append(parts, "enabled: ["+quoted(l.Enabled)+"]")
	}
	if len(l.Disabled) > 0 {
		parts = append(parts, "disabled: ["+quoted(l.Disabled)+"]")
	}
	return strings.Join(parts, " and ")
}
