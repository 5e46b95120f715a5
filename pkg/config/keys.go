package config

import (
	"cmp"
	"fmt"
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
		case looksLike(e.key, keyFeatureGates), lookingLike(e.key, sectionKeys) != "":
			d.misplacedKey(e, "")
		case e.in(keyFeatureGates) != nil:
			d.misplacedKey(e.in(keyFeatureGates), join("", e.key))
		}
	}
}

func (d *decoder) misplacedInAPIServer(n *node) {
	d.wrongCases(n, keyAPIServer, keyFeatureGates, diag.Error)
	for _, e := range n.entries {
		nearly := looksLike(e.key, keyFeatureGates) && !strings.EqualFold(e.key, keyFeatureGates)
		if e.present() && (nearly || lookingLike(e.key, sectionKeys) != "" || lookingLike(e.key, listsKeys) != "") {
			d.misplacedKey(e, keyAPIServer)
		}
	}
}

// misplacedKey reports a key that looks like one of ours, below the path parent.
func (d *decoder) misplacedKey(e *entry, parent string) {
	if isFull(d.diags) {
		return
	}
	path, where := join(parent, e.key), pathFeatureGates
	if key := lookingLike(e.key, sectionKeys); key != "" {
		where = join(where, key)
	} else if key := lookingLike(e.key, listsKeys); key != "" {
		where = join(join(where, keyCustomNoUpgrade), key)
	}
	d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Warning, Code: "misplaced", Pos: e.pos, Path: path,
		Message: fmt.Sprintf("nothing in %s applies: it belongs to %s", path, where),
		Hint:    cmp.Or(spaceHint(e.key), "move it there; indentation decides to which key it belongs"),
		Related: few(e.earlier)})
}

// few returns the first few of places.
func few(places []diag.Position) []diag.Position { return places[:min(len(places), maxRelated)] }

// spaceHint explains a key with a space that YAML takes for a letter.
func spaceHint(key string) string {
	if !oddSpace().MatchString(key) {
		return ""
	}
	return "the key has " + oddSpaceName(key) + ", which YAML takes for a letter; indent with ordinary spaces"
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
	if e.deleted || isFull(d.diags) {
		return
	}
	hint := "the keys here are " + strings.Join(known, ", ")
	if near := nearest(e.key, known); near != "" {
		hint = "write " + near
	} else if key := lookingLike(e.key, listsKeys); key != "" {
		hint = fmt.Sprintf("indent it below %s or %s", keyCustomNoUpgrade, keyExceptions)
	} else if on, ok := e.value.scalarBool(); ok {
		var g gateNames
		g.add(e.key, on)
		hint = "gates are list items; with featureSet: CustomNoUpgrade, write customNoUpgrade: " + g.lists()
	}
	d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Error, Code: "unknown-key", Pos: e.pos, Path: join(parent, e.key),
		Message: fmt.Sprintf("unknown key %s in %s", diag.Quote(e.key), parent),
		Hint:    cmp.Or(spaceHint(e.key), hint),
		Related: few(e.earlier)})
}

// nearest returns the known key that a misspelled one most likely means, or "".
func nearest(key string, known []string) string {
	return cmp.Or(lookingLike(key, known), diag.Nearest(key, known))
}

// lookingLike returns the first of the known keys that key looks like, or "".
func lookingLike(key string, known []string) string {
	for _, k := range known {
		if looksLike(key, k) {
			return k
		}
	}
	return ""
}

// looksLike compares keys without regard to case, punctuation, spaces and a
// plural s.
func looksLike(key, known string) bool {
	key = strings.TrimSpace(key)
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
