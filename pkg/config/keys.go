package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// misplaced reports keys that look like ours at a place where they do not
// count, or that only MicroShift's case-insensitive decoder would take as ours.
func (d *decoder) misplaced(root *node) {
	for _, e := range root.entries {
		if !e.present() {
			continue
		}
		switch {
		case e.key == keyAPIServer:
			d.misplacedInAPIServer(e.value)
		case e.key == keyKubelet:
			d.wrongCases(e.value, keyKubelet, keyFeatureGates, diag.Warning)
		case strings.EqualFold(e.key, keyAPIServer):
			d.wrongCase(e, root.lookup(keyAPIServer), "", keyAPIServer, diag.Error)
		case strings.EqualFold(e.key, keyKubelet) && e.in(keyFeatureGates) != nil:
			d.wrongCase(e, root.lookup(keyKubelet), "", keyKubelet, diag.Error)
		case looksLike(e.key, keyFeatureGates), slices.ContainsFunc(sectionKeys, func(k string) bool { return looksLike(e.key, k) }):
			d.misplacedKey(e, "")
		case e.in(keyFeatureGates) != nil:
			d.misplacedKey(e.in(keyFeatureGates), e.key)
		}
	}
}

func (d *decoder) misplacedInAPIServer(n *node) {
	d.wrongCases(n, keyAPIServer, keyFeatureGates, diag.Error)
	for _, e := range n.entries {
		inSection := slices.ContainsFunc(slices.Concat(sectionKeys, listsKeys), func(k string) bool { return looksLike(e.key, k) })
		nearly := looksLike(e.key, keyFeatureGates) && !strings.EqualFold(e.key, keyFeatureGates)
		if e.present() && (inSection || nearly) {
			d.misplacedKey(e, keyAPIServer)
		}
	}
}

func (d *decoder) misplacedKey(e *entry, parent string) {
	path := join(parent, e.key)
	where := pathFeatureGates
	if !looksLike(e.key, keyFeatureGates) {
		where = join(pathFeatureGates, ourSpelling(e.key, slices.Concat(sectionKeys, listsKeys)...))
	}
	if slices.Contains(listsKeys, e.key) {
		where = join(pathFeatureGates, keyCustomNoUpgrade+"."+e.key)
	}
	d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Warning, Code: "misplaced", Pos: e.pos, Path: path,
		Message: fmt.Sprintf("nothing in %s applies: it belongs to %s", printable(path), where),
		Hint:    "move it there; indentation decides to which key it belongs",
		Related: e.earlier})
}

// wrongCases reports the keys of n that differ from want in case only.
func (d *decoder) wrongCases(n *node, parent, want string, severity diag.Severity) {
	for _, e := range n.entries {
		if e.key != want && e.present() && strings.EqualFold(e.key, want) {
			d.wrongCase(e, n.lookup(want), parent, want, severity)
		}
	}
}

// wrongCase reports one such key; right is the entry of the wanted key beside
// it, or nil.
func (d *decoder) wrongCase(e, right *entry, parent, want string, severity diag.Severity) {
	var related []diag.Position
	if right != nil {
		related = []diag.Position{right.pos}
	}
	d.diags = append(d.diags, diag.Diagnostic{Severity: severity, Code: "key-case", Pos: e.pos, Path: join(parent, e.key),
		Message: fmt.Sprintf("%s must be written %s", join(parent, e.key), join(parent, want)),
		Hint:    fmt.Sprintf("write %s; keys are case-sensitive here", want),
		Related: related})
}

// unknownKey reports a key that our section does not have.
func (d *decoder) unknownKey(e *entry, parent string, known []string) {
	if e.deleted {
		return
	}
	hint := "the keys here are " + strings.Join(known, ", ")
	if near := nearest(e.key, known); near != "" {
		hint = "write " + near
	} else if slices.Contains(listsKeys, e.key) {
		hint = fmt.Sprintf("indent it below %s or %s", keyCustomNoUpgrade, keyExceptions)
	} else if on, ok := e.value.yamlValue().(bool); ok && e.value.kind == scalar {
		list := keyDisabled
		if on {
			list = keyEnabled
		}
		hint = fmt.Sprintf("gates are list items: with featureSet: CustomNoUpgrade, write customNoUpgrade: {%s: [%s]}", list, printable(e.key))
	}
	d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Error, Code: "unknown-key", Pos: e.pos, Path: join(parent, e.key),
		Message: fmt.Sprintf("unknown key %s in %s", quote(e.key), parent), Hint: hint, Related: e.earlier})
}

// nearest returns the known key that a misspelled one most likely means: one
// that differs in case, punctuation, a plural s, or by at most two edits.
func nearest(key string, known []string) string {
	best, bestDistance := "", 3
	for _, k := range known {
		if looksLike(key, k) {
			return k
		}
		if dist := distance(strings.ToLower(key), strings.ToLower(k), bestDistance); dist < bestDistance {
			best, bestDistance = k, dist
		}
	}
	return best
}

// ourSpelling returns the known key that looks like the given one, or the
// given one.
func ourSpelling(key string, known ...string) string {
	for _, k := range known {
		if looksLike(key, k) {
			return k
		}
	}
	return key
}

// looksLike compares keys without regard to case, punctuation and a plural s.
func looksLike(key, known string) bool {
	return len(key) <= 2*len(known) && bare(key) == bare(known)
}

func bare(key string) string {
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(key))
	return strings.TrimSuffix(letters, "s")
}

// distance is the Levenshtein distance of a and b, or limit where it is not
// less than that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return min(row[len(b)], limit)
}

// quote returns text in quotes, on one line, shortened to 80 bytes.
func quote(text string) string {
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	return strconv.Quote(text)
}

// printable returns text as it is where that is harmless to print, else quoted.
func printable(text string) string {
	if q := quote(text); q != `"`+text+`"` {
		return q
	}
	return text
}
