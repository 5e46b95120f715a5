package config

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

const bom = "\uFEFF" // the byte order mark, which counts as no column

// source finds positions in the text of one file.
type source struct {
	name string
	text string // without a byte order mark
	offs []int  // offset of each line's first byte; filled at first use
}

func newSource(f File) *source {
	return &source{name: f.Name, text: strings.TrimPrefix(string(f.Data), bom)}
}

// lineBreak returns the length of the line break at the beginning of text, 0
// where there is none. YAML 1.1 (section 4.2) has LF, CR LF, CR, NEL, LS, PS.
func lineBreak(text string) int {
	for _, b := range [...]string{"\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if strings.HasPrefix(text, b) {
			return len(b)
		}
	}
	return 0
}

// lines fills s.offs.
func (s *source) lines() []int {
	if s.offs != nil {
		return s.offs
	}
	s.offs = []int{0}
	for i := 0; i < len(s.text); {
		if c := s.text[i]; c != '\n' && c != '\r' && c != 0xC2 && c != 0xE2 {
			i++
			continue
		}
		if n := lineBreak(s.text[i:]); n > 0 {
			i += n
			s.offs = append(s.offs, i)
			continue
		}
		i++
	}
	return s.offs
}

// line returns line i (from 1) without its line break; empty where there is none.
func (s *source) line(i int) string {
	offs := s.lines()
	if i < 1 || i > len(offs) {
		return ""
	}
	end := len(s.text)
	if i < len(offs) {
		end = offs[i]
	}
	return strings.TrimRight(s.text[offs[i-1]:end], "\r\n\u0085\u2028\u2029")
}

// at returns the position of the byte at an offset.
func (s *source) at(offset int) diag.Position {
	line, found := slices.BinarySearch(s.lines(), offset)
	if !found {
		line-- // the line that begins before the offset
	}
	column := utf8.RuneCountInString(s.text[s.offs[line]:offset]) + 1
	return diag.Position{File: s.name, Line: line + 1, Column: column}
}

// inLine returns the position of a byte of line i, by its offset in that line.
func (s *source) inLine(i, offset int) diag.Position {
	return s.at(s.lines()[i-1] + offset)
}

// cursor walks over the text of a source, forwards only.
type cursor struct {
	rest         string
	line, column int
}

// to moves to a position, as long as it lies ahead.
func (c *cursor) to(line, column int) {
	for c.rest != "" && (c.line < line || c.line == line && c.column < column) {
		c.next()
	}
}

func (c *cursor) next() {
	if n := lineBreak(c.rest); n > 0 {
		c.rest = c.rest[n:]
		c.line, c.column = c.line+1, 1
		return
	}
	_, size := utf8.DecodeRuneInString(c.rest)
	c.rest = c.rest[size:]
	c.column++
}

func (c *cursor) on(chars string) bool {
	return c.rest != "" && strings.IndexByte(chars, c.rest[0]) >= 0
}

func (c *cursor) onSpace() bool { return c.on(" \t") || lineBreak(c.rest) > 0 }

// skip moves over an anchor or a tag, and the space and comments behind it.
func (c *cursor) skip() {
	isAnchor := c.on("&")
	for c.next(); c.rest != "" && !c.onSpace() && !(isAnchor && c.on(",]}?:%@`")); {
		c.next()
	}
	for c.onSpace() || c.on("#") {
		if c.on("#") {
			for c.rest != "" && lineBreak(c.rest) == 0 {
				c.next()
			}
			continue
		}
		c.next()
	}
}

// moveToValues changes the positions of the nodes below y from their anchors
// and tags to their values. An empty value stays where its anchor or tag is.
func moveToValues(s *source, y *yaml.Node) {
	c := &cursor{rest: s.text, line: 1, column: 1}
	var walk func(y *yaml.Node)
	walk = func(y *yaml.Node) {
		c.to(y.Line, y.Column)
		isEmpty := y.Kind == yaml.ScalarNode && y.Value == "" && y.Style&^yaml.TaggedStyle == 0
		// What stands before a block mapping may belong to its first key.
		anchor, tag := y.Anchor != "", y.Style&yaml.TaggedStyle != 0 || y.Kind == yaml.ScalarNode
		for !isEmpty && (anchor && c.on("&") || tag && c.on("!")) {
			anchor, tag = anchor && !c.on("&"), tag && !c.on("!")
			c.skip()
			y.Line, y.Column = c.line, c.column
		}
		for _, child := range y.Content {
			walk(child)
		}
	}
	walk(y)
}

// isTagged reports whether a tag stands at the position of a node, be it the
// tag "!" which the library does not tell.
func (s *source) isTagged(y *yaml.Node) bool {
	c := &cursor{rest: s.text, line: 1, column: 1}
	c.to(y.Line, y.Column)
	return c.on("!")
}

// Line returns the text of line i (from 1) of a file, as positions count
// lines; empty where there is none. It can hold a secret; for what may be
// shown, see SourceLines.
func (f File) Line(i int) string { return newSource(f).line(i) }
