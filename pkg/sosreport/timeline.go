package sosreport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// timeline puts the starts of several journals into one order. Journals
// overlap: sos collects that of the service, of each boot, and all. Within a
// journal the order is certain; between journals the clock decides, which may
// have been wrong.
func timeline(journals [][]Start) []Start {
	all := merge(journals)
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

// merge returns the starts of all journals, each once, in an order that agrees
// with all of them. Where two journals disagree, that with more starts counts.
func merge(journals [][]Start) []Start {
	slices.SortStableFunc(journals, func(a, b []Start) int { return len(b) - len(a) })
	starts, queues := distinct(journals)
	in := make([]int, len(starts))   // how many journals have the start
	next := make([]int, len(starts)) // in how many of them it is the next one
	for _, q := range queues {
		for _, id := range q {
			in[id]++
		}
		next[q[0]]++
	}
	var out []Start
	taken := make([]bool, len(starts))
	for len(out) < len(starts) {
		pick := -1
		for i, q := range queues {
			for len(q) > 0 && taken[q[0]] {
				if q = q[1:]; len(q) > 0 {
					next[q[0]]++
				}
			}
			queues[i] = q
		}
		queues = slices.DeleteFunc(queues, func(q []int) bool { return len(q) == 0 })
		for _, q := range queues {
			if id := q[0]; next[id] == in[id] && (pick < 0 || starts[id].Time.Before(starts[pick].Time)) {
				pick = id
			}
		}
		if pick < 0 {
			pick = queues[0][0]
		}
		taken[pick] = true
		out = append(out, starts[pick])
	}
	return out
}

// distinct returns each start once, in its fullest account, and for each
// journal that has any, which of these it tells of.
func distinct(journals [][]Start) (starts []Start, queues [][]int) {
	type key struct {
		pid, version string
		at           time.Time
		nth          int // of those in its journal that are alike
	}
	ids := map[key]int{}
	for _, j := range journals {
		var queue []int
		alike := map[key]int{}
		for _, s := range j {
			k := key{s.pid, s.MicroShift, s.Time, 0}
			alike[k]++
			k.nth = alike[k]
			id, known := ids[k]
			if known {
				starts[id] = fuller(starts[id], s)
			} else {
				id = len(starts)
				ids[k] = id
				starts = append(starts, s)
			}
			queue = append(queue, id)
		}
		if len(queue) > 0 {
			queues = append(queues, queue)
		}
	}
	return starts, queues
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
	changed := func(what, from, to, none, at string) {
		if from == "" {
			from = none
		}
		if to == "" {
			to = none
		}
		if from != to {
			s.Changes = append(s.Changes, fmt.Sprintf("%s: %s → %s%s", what, from, to, place(at)))
		}
	}
	if !s.Time.IsZero() && s.Time.Before(before.Time) {
		s.Changes = append(s.Changes, fmt.Sprintf("clock: set back by %s", before.Time.Sub(s.Time)))
	}
	if s.MicroShift != "" && known.MicroShift != "" {
		changed("MicroShift", known.MicroShift, s.MicroShift, "", "")
	}
	if !s.complete || !known.complete || s.MicroShift == "" {
		return
	}
	changed("feature set", known.FeatureSet, s.FeatureSet, "none", s.SetAt)
	now, then := byText(s.Gates), byText(known.Gates)
	for _, text := range slices.Sorted(maps.Keys(now)) {
		if _, before := then[text]; !before {
			s.Changes = append(s.Changes, "added "+text+place(now[text]))
		}
	}
	for _, text := range slices.Sorted(maps.Keys(then)) {
		if _, still := now[text]; !still {
			s.Changes = append(s.Changes, "removed "+text+place(then[text]))
		}
	}
	if files := append(missing("+", s.Files, known.Files), missing("-", known.Files, s.Files)...); len(files) > 0 {
		s.Changes = append(s.Changes, "files: "+strings.Join(files, " "))
	}
}

// byText returns where gates are set, by what is set.
func byText(gates []Gate) map[string]string {
	places := map[string]string{}
	for _, g := range gates {
		places[g.List+": "+g.Name] = g.At
	}
	return places
}

// place returns a place to put behind a text.
func place(at string) string {
	if at == "" {
		return ""
	}
	return " (" + at + ")"
}

// missing returns the names that are not in the other list, behind a sign.
func missing(sign string, names, other []string) []string {
	known := map[string]bool{}
	for _, n := range other {
		known[n] = true
	}
	var out []string
	for _, n := range names {
		if !known[n] {
			out = append(out, sign+n)
		}
	}
	return out
}
