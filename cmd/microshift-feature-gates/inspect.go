package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/sosreport"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) inspectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect SOSREPORT",
		Short: "Tell from a sosreport what is set, and how MicroShift started",
		Long: `Tell from a sosreport what "show" tells on the device, and every start of
MicroShift that its journals have: when, which version, how it ended, with which
feature set, and what had changed. SOSREPORT is a directory or an archive (tar,
plain or compressed with xz or gzip).

What the report lacks is said, and is no error; what the device may have all the
same is unknown. The exit code tells only whether the report could be read: it is
0 for a device whose configuration is rejected, too.`,
		Args: oneArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.root != "/" {
				return usageError("inspect takes the sosreport as its argument, not --root")
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()                 // and what was unpacked is removed before that
			context.AfterFunc(ctx, stop) // a second signal ends it at once
			report, err := sosreport.Open(ctx, args[0])
			if err != nil {
				return failed(err)
			}
			return failed(errors.Join(a.inspect(args[0], report), report.Close()))
		},
	}
	// It has the name of the global flag, and another default.
	cmd.Flags().StringVar(&a.version, "microshift-version", "", "`VERSION` of MicroShift on the device (default: what the report tells)")
	return cmd
}

// inspectView is what inspect prints as JSON.
type inspectView struct {
	Source string `json:"source"`
	// MicroShiftVersion is the one that Device is judged for, and VersionFrom
	// the file of the report that tells it; that is empty for the flag's.
	MicroShiftVersion string `json:"microshiftVersion"`
	VersionFrom       string `json:"versionFrom,omitempty"`
	// Configuration says whether the report has the configuration: read, absent
	// (the device has none) or unknown.
	Configuration string `json:"configuration"`
	// Device is what show prints; null where the version is unknown.
	Device *deviceView       `json:"device"`
	Starts []sosreport.Start `json:"starts"`
	Notes  []string          `json:"notes"`
}

// What is known of the configuration.
const (
	configurationRead    = "read"
	configurationAbsent  = "absent"
	configurationUnknown = "unknown"
)

func (a *app) inspect(source string, report *sosreport.Report) error {
	v := inspectView{Source: source, MicroShiftVersion: a.version, Configuration: configurationUnknown, Starts: report.Starts, Notes: report.Notes}
	if a.version == "" {
		v.MicroShiftVersion, v.VersionFrom = report.Version, report.VersionFrom
	}
	out, err := a.deviceOf(report, v.MicroShiftVersion)
	if err != nil {
		v.Notes = append(v.Notes, err.Error())
	}
	if out != nil {
		v.Configuration = doubt(out, report)
		d := viewOf(out)
		if v.Configuration == configurationUnknown {
			d.Gates, d.Components = []gateView{}, map[string]componentView{}
		}
		v.Device = &d
	}
	v.Starts, v.Notes = append([]sosreport.Start{}, v.Starts...), append([]string{}, v.Notes...)
	if err := a.print(v, func(p *page) { showInspection(p, v, out, report) }); err != nil {
		return err
	}
	if out != nil && a.output == "text" {
		a.printDiagnostics(out)
	}
	return nil
}

// doubt makes unknown what is not in the report and may be on the device, with
// all that was concluded from its absence. It says what is known of the
// configuration.
func doubt(out *startup.Outcome, report *sosreport.Report) (configuration string) {
	if out.Lock.String() == "absent" && !report.NoLock {
		out.Lock = startup.LockState{Path: out.Lock.Path, Unread: errors.New(notInReport(report.LockTold()))}
		out.Diagnostics = slices.DeleteFunc(out.Diagnostics, func(d diag.Diagnostic) bool { return d.Code == "lock-missing" })
	}
	switch {
	case !out.Unconfigured:
		return configurationRead
	case report.NoConfiguration:
		return configurationAbsent
	}
	out.Lock.Verdict = lock.Verdict{}
	out.Diagnostics = slices.DeleteFunc(out.Diagnostics, func(d diag.Diagnostic) bool { return d.Code != "lock-unusable" })
	return configurationUnknown
}

// notInReport says that something is not in the report, and what the starts
// tell of it, if anything.
func notInReport(told string) string {
	return strings.TrimSuffix("not in the report; "+told, "; ")
}

// deviceOf looks at the device that a report is of. The outcome is nil where
// that can't be done; it may be there together with an error.
func (a *app) deviceOf(report *sosreport.Report, version string) (*startup.Outcome, error) {
	if version == "" {
		return nil, errors.New("the report does not tell the version of MicroShift: give it with --microshift-version to see the device")
	}
	b := *a
	b.root, b.version = report.Root, version
	if err := b.checkRoot(); err != nil {
		return nil, err
	}
	if _, err := lock.ParseVersion(version); err != nil && a.version == "" {
		return nil, fmt.Errorf("the report tells the version of MicroShift as %.100q, which is none: give it with --microshift-version", version)
	}
	o, err := b.options()
	if err != nil {
		return nil, err
	}
	out, err := startup.Look(o)
	if err != nil {
		err = fmt.Errorf("not all of the device could be read: %s", inOneLine(err))
	}
	return out, err
}

func showInspection(p *page, v inspectView, out *startup.Outcome, report *sosreport.Report) {
	p.line("Sosreport %s", v.Source)
	if v.VersionFrom != "" {
		p.line("The version is from %s.", v.VersionFrom)
	}
	if len(v.Notes) > 0 {
		p.heading("Notes:")
	}
	for _, n := range v.Notes {
		p.item("%s", n)
	}
	switch {
	case out == nil:
	case v.Configuration == configurationUnknown:
		p.heading("MicroShift %s", out.Options.Version)
		p.heading("Configuration: unknown")
		p.line("  %s", notInReport(report.ConfigurationTold()))
		showLock(p, out.Lock)
		showRollout(p, rolloutViewOf(out))
	default:
		showDevice(p, out, false)
	}
	showStarts(p, v.Starts)
}

// showStarts prints a timeline. Starts that end alike for the same reason, and
// between which nothing changed, are one entry.
func showStarts(p *page, starts []sosreport.Start) {
	if len(starts) == 0 {
		return
	}
	p.heading("Starts in the journals, oldest first (times in UTC, by the clock of the device):")
	for i := 0; i < len(starts); {
		j := i + 1
		for j < len(starts) && alike(starts[i], starts[j]) {
			j++
		}
		first, last := starts[i], starts[j-1]
		first.Later = last.Later
		if quiet(first) && j < len(starts) {
			first.Later = nil
		}
		showStart(p, first, last.Time, j-i)
		i = j
	}
}

func alike(a, b sosreport.Start) bool {
	return a.Outcome == b.Outcome && a.Reason == b.Reason && a.MicroShift == b.MicroShift && !b.LockWritten &&
		len(b.Changes) == 0 && quiet(a) && quiet(b) && slices.Equal(a.Problems, b.Problems)
}

// quiet reports whether nothing happened after a start but that the service
// was stopped, as it is before the next one.
func quiet(s sosreport.Start) bool {
	return len(s.Later) == 0 || len(s.Later) == 1 && s.Later[0] == sosreport.Stopped
}

// endings has the words for how a start ended.
var endings = map[sosreport.Outcome]string{
	sosreport.Started:  "started",
	sosreport.Accepted: "accepted (the journal does not say whether MicroShift came up)",
	sosreport.Crashed:  "accepted, but MicroShift did not come up",
	sosreport.Rejected: "stopped by the configuration",
	sosreport.Locked:   "stopped by the lock",
	sosreport.Failed:   "stopped, since the check could not be done",
	sosreport.CutOff:   "cut off; the power went, or the journal has lost the rest",
}

func showStart(p *page, s sosreport.Start, last time.Time, times int) {
	version := "?"
	if s.MicroShift != "" {
		version = s.MicroShift
	}
	set := "no feature set"
	if s.FeatureSet != "" {
		set = s.FeatureSet
	}
	many := ""
	if times > 1 {
		many = fmt.Sprintf(", %d times until %s", times, clock(last))
	}
	p.line("  %s  MicroShift %s, %s: %s%s", clock(s.Time), version, set, endings[s.Outcome], many)
	for _, c := range s.Changes {
		p.wrap("      ", c)
	}
	if s.Reason != "" {
		p.wrap("      reason: ", s.Reason)
	}
	if s.LockWritten {
		p.wrap("      lock: ", s.Lock)
	}
	for _, d := range s.Problems {
		if d.Severity == "error" && strings.Contains(s.Reason, d.Message) {
			continue
		}
		at := ""
		if d.At != "" {
			at = d.At + ": "
		}
		p.wrap("      "+d.Severity+": ", fmt.Sprintf("%s%s [%s]", at, d.Message, d.Code))
	}
	for _, l := range s.Later {
		p.wrap("      then: ", l)
	}
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time " // as wide as the time
	}
	return t.Format("2006-01-02 15:04:05")
}
