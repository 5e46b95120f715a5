package config

import (
	"slices"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// gateNames are gate names found in a value of a wrong form, as far as they
// are good for a hint.
type gateNames struct {
	on, off []string
}

// gatesIn finds gate names in the forms that people write elsewhere: the flag
// "A=true,B=false", "A, B", "-A -B", lists of those, and mappings to booleans.
func gatesIn(n *node) (g gateNames) {
	switch n.kind {
	case scalar:
		for _, word := range strings.FieldsFunc(n.text, func(r rune) bool { return strings.ContainsRune(", \t\n;[]{}\"'", r) }) {
			name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
			g.add(name, value != "false")
		}
	case sequence:
		for _, item := range n.items {
			more := gatesIn(item)
			g.on, g.off = append(g.on, more.on...), append(g.off, more.off...)
		}
	case mapping:
		if name := n.lookup("name"); name != nil {
			return gatesIn(name.value)
		}
		for _, e := range n.entries {
			on, isBool := e.value.scalarBool()
			g.add(e.key, on || !isBool)
		}
	}
	return g
}

func (g *gateNames) add(name string, on bool) {
	switch {
	case name == "":
	case on:
		g.on = append(g.on, name)
	default:
		g.off = append(g.off, name)
	}
}

// list writes names as a YAML list, the first few of them.
func list(names []string) string {
	const few = 5
	var shown []string
	for _, name := range names[:min(len(names), few)] {
		shown = append(shown, diag.Printable(name))
	}
	if len(names) > few {
		shown = append(shown, "…")
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

// lists writes g as the mapping of a group.
func (g gateNames) lists() string {
	switch {
	case len(g.on)+len(g.off) == 0:
		return "{enabled: [GateName]}"
	case len(g.off) == 0:
		return "{enabled: " + list(g.on) + "}"
	case len(g.on) == 0:
		return "{disabled: " + list(g.off) + "}"
	default:
		return "{enabled: " + list(g.on) + ", disabled: " + list(g.off) + "}"
	}
}

// sectionHint says what to write instead of a featureGates that is no mapping.
func sectionHint(n *node) string {
	switch {
	case strings.HasSuffix(n.text, "NoUpgrade") && !strings.ContainsAny(n.text, ":,= "):
		return "write {featureSet: " + diag.Printable(n.text) + "}"
	case strings.Contains(n.text, ":"):
		return "put a space behind each colon, and each key on a line of its own"
	}
	return "write {featureSet: CustomNoUpgrade, customNoUpgrade: " + gatesIn(n).lists() + "}"
}

// listsHint says what to write instead of a group that is no mapping.
func listsHint(n *node) string {
	return "put the gates below it, in the lists enabled and disabled: " + gatesIn(n).lists()
}

// namesHint says what to write instead of a list of names that is no list.
func namesHint(n *node) string {
	g := gatesIn(n)
	switch {
	case len(g.off) > 0:
		return "write the gates as lists: " + g.lists()
	case len(g.on) == 0:
		return "write the gates as a list: [GateName]"
	default:
		return "write the gates as a list: " + list(g.on)
	}
}

// nameHint says how to write the name that a wrong list item seems to mean.
func nameHint(item *node) string {
	g := gatesIn(item)
	name := "GateName"
	if all := slices.Concat(g.on, g.off); len(all) > 0 {
		name = diag.Printable(all[0])
	}
	switch {
	case item.kind == null:
		return "remove the empty item, or write a name behind the dash"
	case item.kind == mapping:
		return "write the bare name: \"- " + name + "\"; the list already says whether it is enabled"
	case item.kind == sequence:
		return "write each name as an item of the outer list: \"- " + name + "\""
	default:
		return "write the name of a feature gate; booleans and numbers are none"
	}
}

// setHint says how to write a feature set that is no string.
func setHint(n *node) string {
	if n.kind == sequence && len(n.items) == 1 && n.items[0].kind == scalar {
		return "write it without brackets or dash: featureSet: " + diag.Printable(n.items[0].text)
	}
	return "write the name of one feature set, such as CustomNoUpgrade"
}

// kubeletHint says what to write instead of kubelet.featureGates that is no
// mapping.
func kubeletHint(n *node) string {
	g := gatesIn(n)
	var lines []string
	for _, name := range g.on {
		lines = append(lines, diag.Printable(name)+": true")
	}
	for _, name := range g.off {
		lines = append(lines, diag.Printable(name)+": false")
	}
	if len(lines) == 0 || len(lines) > 5 {
		lines = []string{"GateName: true"}
	}
	return "write a line for each gate: {" + strings.Join(lines, ", ") + "}"
}
