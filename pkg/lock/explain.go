package lock

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Explain returns the text of a refusal: what the lock holds, what the
// configuration says, and the ways out. It is empty for other verdicts.
func (v Verdict) Explain(s Site) string {
	if !v.Refused() {
		return ""
	}
	w := &writer{}
	w.line("%s.", v.headline(s.Path))
	w.lock(v.Lock)
	w.start(v, s)
	goBack := "go back to MicroShift " + v.Lock.Version.String() + ", the locked version"
	if s.OSTree {
		goBack += " (the previous deployment, if it has that version)"
	}
	putBack := "put the configuration back as below"
	if v.Kind == RefusedSetChanged {
		putBack += ", in place of what sets " + strconv.Quote(v.Now.FeatureSet)
	}
	w.line("Ways out:")
	switch {
	case v.Kind == RefusedVersion:
		w.line("  1. To keep the data: %s.", goBack)
	case v.VersionBlocked:
		w.line("  1. To keep the data: %s; and %s.", putBack, goBack)
	default:
		w.line("  1. To keep the data: %s.", putBack)
	}
	w.wipe()
	w.rollback(s)
	if v.Kind != RefusedVersion {
		w.line("The configuration that the lock holds, to put into /etc/microshift/config.d/99-feature-gates.yaml for instance:")
		w.line("")
		w.WriteString(v.Lock.snippet())
	}
	return w.String()
}

// Explain returns the text of a refusal because of an unusable lock.
func (e *UnusableError) Explain(s Site) string {
	w := &writer{}
	w.line("The lock %s %s.", s.Path, e.Reason)
	w.line("It may have held a NoUpgrade feature set, so MicroShift does not start; the file is left as it is.")
	w.line("Ways out:")
	w.line("  1. To keep the data: put the lock back from a backup of the data, for instance from /var/lib/microshift-backups.")
	w.wipe()
	w.rollback(s)
	return w.String()
}

// headline says on one line why the start is refused.
func (v Verdict) headline(path string) string {
	switch v.Kind {
	case RefusedRemoved:
		return fmt.Sprintf("the lock %s holds feature set %s, and the configuration sets none",
			path, strconv.Quote(v.Lock.FeatureSet))
	case RefusedSetChanged:
		return fmt.Sprintf("the lock %s holds feature set %s, and the configuration sets %s",
			path, strconv.Quote(v.Lock.FeatureSet), strconv.Quote(v.Now.FeatureSet))
	}
	change := "an upgrade"
	if v.Running.Compare(v.Lock.Version) < 0 {
		change = "a downgrade to an older version"
	}
	return fmt.Sprintf("the lock %s holds MicroShift %s, and this is MicroShift %s: %s is not allowed with feature set %s",
		path, v.Lock.Version, v.Running, change, strconv.Quote(v.Lock.FeatureSet))
}

// snippet returns the configuration that the lock holds, as YAML.
func (l *Lock) snippet() string {
	section := mapping(nil,
		field{keyFeatureSet, textNode(l.FeatureSet)},
		field{keyCustom, listsNode(nil, l.CustomNoUpgrade, nil)},
		field{keyExceptions, listsNode(nil, l.Exceptions, nil)},
	)
	data, err := marshal(mapping(nil, field{"apiServer", mapping(nil, field{"featureGates", section})}))
	if err != nil {
		return "" // not for a lock that was read
	}
	return visible(string(data))
}

// visible escapes what does not print as itself, as YAML does in double quotes
// (YAML 1.2.2 section 5.7): a lock may hold any text, and this one goes to a
// terminal. Scalars with such characters are in double quotes.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// writer collects the lines of a text.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) lock(l *Lock) {
	w.line("The lock holds:")
	w.line("  feature set %s, MicroShift %s", strconv.Quote(l.FeatureSet), l.Version)
	for _, list := range l.listed() {
		w.line("  %s", list)
	}
	if len(l.History) > 0 && !l.History[0].Time.IsZero() {
		w.line("  on record since %s", l.History[0].Time.Format(time.RFC3339))
	}
}

// start says what this start has in the lock's place.
func (w *writer) start(v Verdict, s Site) {
	set := "no feature set"
	if v.Now.FeatureSet != "" {
		set = "feature set " + strconv.Quote(v.Now.FeatureSet)
	}
	w.line("This start has:")
	w.line("  %s, MicroShift %s", set, v.Running)
	for _, list := range v.Now.listed() {
		w.line("  %s", list)
	}
	if len(s.Files) == 0 {
		w.line("  no configuration file")
	} else {
		w.line("  configuration read from %s", paths(s.Files))
	}
	if v.Kind == RefusedVersion && !v.Blocking.IsZero() {
		w.line("Gates that are or were set without a support exception (%s):", keyExceptions)
		for _, list := range v.Blocking.listed("") {
			w.line("  %s", list)
		}
	}
}

// paths returns file names as they are, but for those with special characters.
func paths(files []string) string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f
		if q := strconv.Quote(f); q[1:len(q)-1] != f {
			out[i] = q
		}
	}
	return strings.Join(out, ", ")
}

func (w *writer) wipe() {
	w.line("  2. To start afresh, which deletes all data and workloads: run \"microshift-cleanup-data --all\", remove")
	w.line("     apiServer.featureGates from /etc/microshift/config.yaml and from every file in /etc/microshift/config.d,")
	w.line("     and restart with \"systemctl enable --now microshift\" (the clean-up disables the service).")
}

func (w *writer) rollback(s Site) {
	if s.OSTree {
		w.line("This system may roll back to its previous deployment by itself (greenboot) when MicroShift keeps failing.")
	}
}
