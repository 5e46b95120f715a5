package lock

import (
	"fmt"
	"strconv"
	"strings"
)

// Site is what a text for people says about the device.
type Site struct {
	Path   string   // of the lock, as on the device
	Files  []string // configuration files that were read, in merge order
	OSTree bool     // the system is updated by ostree or bootc
}

// Summary returns the verdict on one line, for a log.
func (v Verdict) Summary(path string) string {
	set := strconv.Quote(v.Now.FeatureSet)
	switch v.Kind {
	case None:
		return "no feature set is configured, and there is no lock"
	case Created:
		return fmt.Sprintf("upgrades are now blocked: %s locks this device to feature set %s and MicroShift %s", path, set, v.Running)
	case Held:
		return v.Lock.Summary(path)
	case Changed:
		still := ""
		if counts := v.Next.History[len(v.Next.History)-1].CountsAgainstUpgrade; !counts.IsZero() {
			still = "; still counting against an upgrade: " + strings.Join(counts.listed(""), "; ")
		}
		return fmt.Sprintf("the feature gates differ from %s, which is brought up to date: %s%s", path, v.difference(), still)
	case MovedByException:
		return fmt.Sprintf("MicroShift %s starts on data locked to %s, because a support exception (%s) exempts every gate; %s moves to this version",
			v.Running, v.Lock.Version, keyExceptions, path)
	case MovedByPolicy:
		return fmt.Sprintf("MicroShift %s starts on data locked to %s, because the upgrade policy allows another patch version; %s moves to this version",
			v.Running, v.Lock.Version, path)
	}
	return v.headline(path)
}

// Summary returns what l holds on one line, for a log.
func (l *Lock) Summary(path string) string {
	return fmt.Sprintf("%s locks this device to feature set %s since MicroShift %s", path, strconv.Quote(l.FeatureSet), l.Version)
}

// difference lists what was added and removed, on one line.
func (v Verdict) difference() string {
	var parts []string
	for _, d := range []struct {
		word string
		Gates
	}{{"added", v.Added}, {"removed", v.Removed}} {
		for _, l := range d.listed() {
			parts = append(parts, d.word+" "+l)
		}
	}
	return strings.Join(parts, "; ")
}

// listed returns a line for each list that has names, such as
// customNoUpgrade.enabled: "A", "B".
func (g Gates) listed() []string {
	return append(g.CustomNoUpgrade.listed(keyCustom+"."), g.Exceptions.listed(keyExceptions+".")...)
}

func (l Lists) listed(prefix string) []string {
	var lines []string
	if len(l.Enabled) > 0 {
		lines = append(lines, prefix+keyEnabled+": "+quoted(l.Enabled))
	}
	if len(l.Disabled) > 0 {
		lines = append(lines, prefix+keyDisabled+": "+quoted(l.Disabled))
	}
	return lines
}

// quoted returns names so that none can carry a line feed or an escape sequence.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}
