package startup

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
)

// maxLogged is how many files, and how many problems, are logged one by one. Of
// a service that logs too much at once, journald drops what comes last
// (RateLimitBurst=10000 in journald.conf(5)), and that is why it does not start.
const maxLogged = 200

// log gives the account of a start, always in this order: version, files,
// section, flags, lock, problems, and why the start fails.
func (out *Outcome) log(err error) {
	log := out.Options.Log
	version := log.WithField("microshift", out.Options.Version.String())
	if out.Result != nil {
		version = version.WithField("kubernetes", out.Result.Registry().Version().String())
	}
	version.Info("checking feature gates")
	if out.Unconfigured {
		log.Infof("no configuration: neither %s nor a drop-in in %s", out.Options.Paths.Config, out.Options.Paths.Dir)
	}
	for _, f := range out.Files[:min(len(out.Files), maxLogged)] {
		log.WithField("file", f.Name).Info("read configuration file")
	}
	if more := len(out.Files) - maxLogged; more > 0 {
		log.Infof("read %d more configuration files", more)
	}
	out.logSection()
	if err == nil {
		out.logFlags()
	}
	out.logRollout()
	out.logLock(err != nil)
	out.logDiagnostics()
	if err != nil {
		out.logFailure(err)
	}
}

func (out *Outcome) logSection() {
	log, fg := out.Options.Log, out.Config.FeatureGates
	if fg.FeatureSet.V == gates.Default {
		log.Info("no feature set is configured")
	} else {
		log.WithFields(logrus.Fields{"featureSet": fg.FeatureSet.V, "at": fg.FeatureSet.Origin.Pos.String()}).
			Warn("a feature set is configured; feature gates are for development and test systems, never for production")
	}
	for _, list := range []config.Names{fg.CustomNoUpgrade.Enabled, fg.CustomNoUpgrade.Disabled, fg.Exceptions.Enabled, fg.Exceptions.Disabled} {
		for _, name := range list.V {
			log.WithFields(logrus.Fields{"gate": name.V, "path": name.Origin.Path, "at": name.Origin.Pos.String()}).Info("configured feature gate")
		}
	}
	if out.Result == nil {
		return
	}
	if n := len(out.Result.Unrecognized); n > 0 {
		log.WithField("count", n).Info("gates of the feature set that only OpenShift's own components know are left out")
	}
	for _, s := range out.Result.Skipped {
		log.WithFields(logrus.Fields{"gate": s.Name, "reason": s.Why}).Info("a gate of the feature set can't be set and is left out")
	}
}

func (out *Outcome) logFlags() {
	for _, c := range gates.Components() {
		out.Options.Log.WithFields(logrus.Fields{"component": string(c), "flag": out.Result.Flag(c)}).Info("feature gates of component")
	}
}

// logLock tells what the lock says. A start that fails has not changed it.
func (out *Outcome) logLock(failed bool) {
	verdict, path := out.Lock.Verdict, out.Lock.Path
	if out.Lock.Unusable != nil || verdict.Running == (lock.Version{}) {
		return // a diagnostic or the error says why there is no verdict
	}
	now := out.Lock.Current()
	if failed {
		now = out.Lock.Lock
	}
	log := out.Options.Log.WithField("lock", path)
	switch {
	case failed && now == nil:
		log.Info("there is no lock")
	case failed:
		log.WithFields(logrus.Fields{"featureSet": now.FeatureSet, "version": now.Version.String()}).Info("this device is locked")
	case verdict.Kind == lock.Changed: // a diagnostic tells the changes
		log.Warn(verdict.Lock.Summary(path) + "; it is brought up to date")
	case verdict.Next != nil:
		log.Warn(verdict.Summary(path))
	default:
		log.Info(verdict.Summary(path))
	}
	if now == nil {
		return
	}
	for _, e := range now.History {
		entry := out.Options.Log.WithFields(logrus.Fields{"version": e.Version, "change": e.Change})
		if !e.Time.IsZero() {
			entry = entry.WithField("when", e.Time.Format(time.RFC3339)) // "time" is that of the log line
		}
		entry.Info("lock history")
	}
}

// logDiagnostics tells every problem in its order. Where there are too many,
// errors go before warnings.
func (out *Outcome) logDiagnostics() {
	log := out.Options.Log
	list := slices.DeleteFunc(slices.Clone(out.Diagnostics), func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && slices.Contains(lockCodes, d.Code) // logFailure tells that in full
	})
	more := len(list) - maxLogged
	if more > 0 {
		list = append(list.Errors(), list.Warnings()...)[:maxLogged]
	}
	for _, d := range list {
		logDiagnostic(log, d)
	}
	if more > 0 {
		log.Warnf("and %d more problems; microshift-feature-gates validate -o json lists all", more)
	}
}

func logDiagnostic(log logrus.FieldLogger, d diag.Diagnostic) {
	fields := logrus.Fields{"code": d.Code}
	if at := d.Pos.String(); at != "" {
		fields["at"] = at
	}
	if d.Path != "" {
		fields["path"] = d.Path
	}
	if d.Hint != "" {
		fields["hint"] = d.Hint
	}
	var also []string
	for _, p := range d.Related {
		also = append(also, p.String())
	}
	if len(also) > 0 {
		fields["see"] = strings.Join(also, ", ")
	}
	if d.Severity == diag.Error {
		log.WithFields(fields).Error(d.Message)
	} else {
		log.WithFields(fields).Warn(d.Message)
	}
}

// logFailure ends the account: what stops the start comes last, where
// systemctl status shows it.
func (out *Outcome) logFailure(err error) {
	log := out.Options.Log
	refusal := new(Refusal)
	if !errors.As(err, &refusal) {
		log.Error("MicroShift does not start: " + strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	if refusal.ByLock {
		for line := range strings.Lines(refusal.Text) {
			if line = strings.TrimRight(line, "\n"); line != "" {
				log.Error(line)
			}
		}
	} else if l := out.Lock.Lock; l != nil {
		log.Errorf("the lock %s holds feature set %q since MicroShift %s: it must stay configured", out.Lock.Path, l.FeatureSet, l.Version)
	}
	log.Error("MicroShift does not start: " + refusal.Error())
}
