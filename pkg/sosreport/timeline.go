package sosreport

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// timeline puts the starts of several journals into one order. Journals
// overlap: sos collects that of the service, of each boot, and all. Within a
// journal the order is certain; between journals the clock decides, which may
// have been wrong.
func timeline(journals [][]Start) []Start {
	slices.SortStableFunc(journals, func(a, b []Start) int { return len(b) - len(a) })
	var all []Start
	for _, j := range journals {
		all = merge(all, j)
	}
	var known Start // the configuration of the last start that told it
	for i := range all {
		s := &all[i]
		s.end()
		if i > 0 {
			s.compare(known, all[i-1])
		}
		if s.complete {
			known = *s
		}
	}
	return all
}

// merge returns the starts of both lists, each once, in an order that agrees
// with both.
func merge(a, b []Start) []Start {
	type key struct {
		pid, version string
		at           time.Time
	}
	keyOf := func(s Start) key { return key{s.pid, s.MicroShift, s.Time} }
	inA, inB := map[key]bool{}, map[key]bool{}
	for _, s := range a {
		inA[keyOf(s)] = true
	}
	for _, s := range b {
		inB[keyOf(s)] = true
	}
	var out []Start
	for len(a) > 0 && len(b) > 0 {
		switch x, y := keyOf(a[0]), keyOf(b[0]); {
		case x == y:
			out = append(out, fuller(a[0], b[0]))
			a, b = a[1:], b[1:]
		case inA[y] && inB[x]: // the two disagree; trust the first
			delete(inB, y)
			b = b[1:]
		case inB[x], !inA[y] && b[0].Time.Before(a[0].Time):
			out, b = append(out, b[0]), b[1:]
		default:
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

// fuller returns the one of two accounts of a start that tells more: a journal
// may begin or end in the middle of it.
func fuller(a, b Start) Start {
	if weight(b) > weight(a) {
		return b
	}
	return a
}

func weight(s Start) int {
	n := len(s.Files) + len(s.Gates) + len(s.Flags) + len(s.Problems) + len(s.Later)
	if s.Outcome != CutOff {
		n++
	}
	if s.Outcome == Started {
		n++
	}
	return n
}

// compare notes what changed since the start before. known is the last one
// that told of its configuration.
func (s *Start) compare(known, before Start) {
	changed := func(what, from, to, none string) {
		if from == "" {
			from = none
		}
		if to == "" {
			to = none
		}
		if from != to {
			s.Changes = append(s.Changes, fmt.Sprintf("%s: %s → %s", what, from, to))
		}
	}
	if !s.Time.IsZero() && s.Time.Before(before.Time) {
		s.Changes = append(s.Changes, fmt.Sprintf("clock: set back by %s", before.Time.Sub(s.Time)))
	}
	if s.MicroShift != "" && known.MicroShift != "" {
		changed("MicroShift", known.MicroShift, s.MicroShift, "")
	}
	if !s.complete || !known.complete || s.MicroShift == "" {
		return
	}
	changed("feature set", known.FeatureSet, s.FeatureSet, "none")
	now, then := listed(s.Gates), listed(known.Gates)
	for _, g := range now {
		if !slices.Contains(then, g) {
			s.Changes = append(s.Changes, "added "+g)
		}
	}
	for _, g := range then {
		if !slices.Contains(now, g) {
			s.Changes = append(s.Changes, "removed "+g)
		}
	}
	if added, removed := difference(s.Files, known.Files); added+removed != "" {
		s.Changes = append(s.Changes, strings.TrimSpace("files: "+added+removed))
	}
}

// listed returns gates as text, sorted, each once.
func listed(gates []Gate) []string {
	var out []string
	for _, g := range gates {
		out = append(out, g.List+": "+g.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func difference(now, then []string) (added, removed string) {
	for _, n := range now {
		if !slices.Contains(then, n) {
			added += "+" + n + " "
		}
	}
	for _, n := range then {
		if !slices.Contains(now, n) {
			removed += "-" + n + " "
		}
	}
	return added, removed
}
