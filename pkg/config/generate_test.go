package config

import (
	"fmt"
	"slices"
	"strings"
)

// generator writes YAML files. It takes its decisions from choices, and the
// plainest one when those have run out.
type generator struct {
	choices []byte
	anchors []string // of scalars that the file has so far
	lists   []string // anchors of lists
	maps    []string // anchors of mappings
}

func (g *generator) pick(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := g.choices[0]
	g.choices = g.choices[1:]
	return int(c) % n
}

// rarely is true once in n times.
func (g *generator) rarely(n int) bool { return g.pick(n) == n-1 }

func (g *generator) of(words ...string) string { return words[g.pick(len(words))] }

// file writes one file.
func (g *generator) file() []byte {
	g.anchors, g.lists, g.maps = nil, nil, nil
	var b strings.Builder
	if g.rarely(8) {
		b.WriteString("\uFEFF")
	}
	b.WriteString(g.of("", "", "", "# a comment\n", "---\n", "--- # one\n", "\n\n", "%YAML 1.1\n---\n"))
	switch {
	case g.rarely(25):
		b.WriteString(g.of("", "# nothing\n", "null\n", "- a\n", "a\n"))
	case g.rarely(6):
		g.flowMapping(&b, 0)
		b.WriteString("\n")
	default:
		g.mapping(&b, 0, 0)
	}
	b.WriteString(g.of("", "", "", "", "# the end\n", "...\n", "---\n", "\n"))
	text := b.String()
	switch g.pick(12) {
	case 9:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 10:
		text = strings.ReplaceAll(text, "\n", "\r")
	case 11:
		text = strings.ReplaceAll(text, "\n", g.of("\u0085", "\u2028", "\n\n"))
	}
	return []byte(text)
}

// The first eight of each are taken most often; bad ones are taken rarely.
var (
	generatedKeys = []string{"apiServer", "featureGates", "kubelet", "customNoUpgrade", "enabled", "a", "b", "c",
		"yes", "off", "n", "1", "0x10", "1.0", "1_0", "\"q\"", "'y'", "true", "2001-01-01", "é", "-1", ".5", "1e3", "+", "-", "!!str 7", "!x z"}
	badKeys = []string{"~", "<<", "*", "[a]", "{a: b}", ".inf", "18446744073709551615"}

	generatedScalars = []string{"text", "CustomNoUpgrade", "A", "yes", "No", "on", "Off", "7",
		"y", "N", "true", "FALSE", "True", "tRUE", "null", "~", "Null", "", "0", "-1", "+1", "0777", "0o17", "0x1F", "0b101",
		"1_000", "1_", "_1", "1.5", "1e3", "1.", ".5", "-.5e-3", "190:20:30", "0.1.2", "1e400", "18446744073709551615",
		"-9223372036854775809", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "\"quoted\"", "'it''s'", "\"\\u263A\\x41\\n\"",
		"\"yes\"", "'1'", "\"\"", "''", "two words", "a#b", "-a", "=", "<<", "http://x", "a:b", "\"multi\n line\"", "é ü", "日本",
		"\U0001F600", "\u00a0", "1\u00a0", "x\ty", "1e", "0x", "0b", "+", ".", "..", "...x", "--", "!!str 1", "!!int \"7\"",
		"!!bool yes", "!!bool \"no\"", "!!float 1", "!!null ''", "!!binary aGk=", "!!timestamp 2001-01-01", "!x 1", "! a", "!!str ",
		"!!str yes", "!<tag:yaml.org,2002:int> 3", "!!seq a", "!!merge <<"}
	badScalars = []string{"a: b", "-", "1,2", "[x", "a]", "@a", ".inf", "-.INF", ".nan", "!!int x", "!!null x", "!!binary x", "! 1", "*", "%", "|"}
)

func (g *generator) key(used map[string]bool) string {
	for range 3 {
		key := generatedKeys[g.pick(8)]
		switch {
		case g.rarely(60):
			key = g.of(badKeys...)
		case g.rarely(3):
			key = g.of(generatedKeys...)
		}
		if !used[key] {
			used[key] = true
			return key
		}
	}
	key := fmt.Sprintf("k%d", len(used)) // else most files had a key twice
	used[key] = true
	return key
}

func (g *generator) scalar() string {
	switch {
	case g.rarely(60):
		return g.of(badScalars...)
	case g.rarely(2):
		return g.of(generatedScalars...)
	}
	return generatedScalars[g.pick(8)]
}

// anchor sometimes gives the value that write writes a name.
func (g *generator) anchor(b *strings.Builder, list *[]string, write func()) {
	if !g.rarely(7) {
		write()
		return
	}
	name := fmt.Sprintf("n%d", g.pick(9))
	b.WriteString("&" + name + " ")
	write()
	*list = append(*list, name)
}

func (g *generator) comment() string {
	return g.of("", "", "", "", "", " # why", " #", "  # a: b", "\n# between", "\n\n", "\n      # deep")
}

// mapping writes a block mapping at an indentation.
func (g *generator) mapping(b *strings.Builder, indent, depth int) {
	pad := strings.Repeat(" ", indent)
	used := map[string]bool{}
	for range 1 + g.pick(4) {
		b.WriteString(pad)
		if len(g.maps) > 0 && g.rarely(4) {
			b.WriteString("<<: " + g.of("*"+g.of(g.maps...), "*"+g.of(g.maps...), "[*"+g.of(g.maps...)+", *"+g.of(g.maps...)+"]", "{a: 1}") + "\n")
			continue
		}
		switch {
		case g.rarely(20):
			b.WriteString("? " + g.key(used) + "\n" + pad + ":")
		case len(g.anchors) > 0 && g.rarely(25):
			b.WriteString("*" + g.of(g.anchors...) + " :")
		case g.rarely(25):
			b.WriteString("&k " + g.key(used) + ":")
		default:
			b.WriteString(g.key(used) + ":")
		}
		g.value(b, indent, depth)
	}
}

// value writes what stands behind a colon or a dash, and a line break.
func (g *generator) value(b *strings.Builder, indent, depth int) {
	pad := strings.Repeat(" ", indent)
	kind := g.pick(10)
	if depth > 3 {
		kind = 0
	}
	b.WriteString(" ")
	switch kind {
	case 6, 7, 8:
		g.anchor(b, &g.maps, func() {
			b.WriteString(g.of("", "", "", "!!map ", "!x ") + g.comment() + "\n")
			g.mapping(b, indent+1+g.pick(4), depth+1)
		})
	case 4, 5:
		g.anchor(b, &g.lists, func() {
			b.WriteString(g.comment() + "\n")
			deeper := indent + g.pick(3)
			for range 1 + g.pick(3) {
				b.WriteString(strings.Repeat(" ", deeper) + "-")
				g.value(b, deeper+1, depth+1)
			}
		})
	case 3:
		g.anchor(b, &g.anchors, func() {
			b.WriteString(g.of("|", ">", "|-", ">+", "> # c") + "\n")
			for range g.pick(3) {
				b.WriteString(pad + "  " + g.of("text", "a: b", "", "# no comment", "- x", "  more") + "\n")
			}
		})
	case 2:
		g.flowCollection(b, depth+1)
		b.WriteString(g.comment() + "\n")
	default:
		switch all := slices.Concat(g.anchors, g.lists, g.maps); {
		case len(all) > 0 && g.rarely(4):
			b.WriteString("*" + g.of(all...))
		default:
			g.anchor(b, &g.anchors, func() { b.WriteString(g.scalar()) })
		}
		b.WriteString(g.comment() + "\n")
	}
}

func (g *generator) flowCollection(b *strings.Builder, depth int) {
	if g.rarely(2) {
		g.anchor(b, &g.maps, func() { g.flowMapping(b, depth) })
		return
	}
	g.anchor(b, &g.lists, func() {
		b.WriteString("[")
		for range g.pick(4) {
			g.flowValue(b, depth+1)
			b.WriteString(g.of(", ", ",", " ,\n   ", ", # c\n  "))
		}
		b.WriteString("]")
	})
}

func (g *generator) flowValue(b *strings.Builder, depth int) {
	if depth < 4 && g.rarely(3) {
		g.flowCollection(b, depth)
		return
	}
	scalar := g.scalar()
	if scalar == "" || strings.HasSuffix(scalar, " ") {
		scalar = "x" // nothing can't be an item
	}
	b.WriteString(scalar)
}

func (g *generator) flowMapping(b *strings.Builder, depth int) {
	used := map[string]bool{}
	b.WriteString("{")
	for range g.pick(4) {
		b.WriteString(g.key(used) + g.of(": ", ": ", ":  ", " : "))
		g.flowValue(b, depth+1)
		b.WriteString(g.of(", ", ",", " ,\n   "))
	}
	b.WriteString("}")
}
