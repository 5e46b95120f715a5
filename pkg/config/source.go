package config

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// source finds positions in the text of one file.
type source struct {
	name string
	data []byte
	offs []int // offset of each line's first byte; filled at first use
}

// lines fills s.offs. A line ends as YAML 1.1 has it (section 4.2): LF, CR LF,
// CR, NEL, LS or PS.
func (s *source) lines() []int {
	if s.offs != nil {
		return s.offs
	}
	s.offs = []int{0}
	for i := 0; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '\n',
			c == '\r' && (i+1 == len(s.data) || s.data[i+1] != '\n'),
			c == 0x85 && i > 0 && s.data[i-1] == 0xC2,                                       // NEL
			(c == 0xA8 || c == 0xA9) && i > 1 && s.data[i-1] == 0x80 && s.data[i-2] == 0xE2: // LS, PS
			s.offs = append(s.offs, i+1)
		}
	}
	return s.offs
}

// line returns line i (from 1) without its line break; empty where there is none.
func (s *source) line(i int) string {
	offs := s.lines()
	if i < 1 || i > len(offs) {
		return ""
	}
	end := len(s.data)
	if i < len(offs) {
		end = offs[i]
	}
	text := strings.TrimPrefix(string(s.data[offs[i-1]:end]), "\uFEFF")
	return strings.TrimRight(text, "\r\n\u0085\u2028\u2029")
}

// at returns the position of the byte at an offset.
func (s *source) at(offset int) diag.Position {
	line := 0
	for line < len(s.lines()) && s.offs[line] <= offset {
		line++
	}
	prefix := bytes.TrimPrefix(s.data[s.offs[line-1]:offset], []byte("\uFEFF"))
	return diag.Position{File: s.name, Line: line, Column: utf8.RuneCount(prefix) + 1}
}

// valuePosition returns where the value of a node begins: behind its anchor
// and tag where those stand on the same line.
func (s *source) valuePosition(y *yaml.Node) diag.Position {
	p := diag.Position{File: s.name, Line: y.Line, Column: y.Column}
	if y.Anchor == "" && y.Style&yaml.TaggedStyle == 0 {
		return p
	}
	runes := []rune(s.line(y.Line))
	if y.Column > len(runes) {
		return p
	}
	rest := string(runes[y.Column-1:])
	column := y.Column
	for rest != "" && (rest[0] == '&' || rest[0] == '!') {
		word := rest
		if end := strings.IndexAny(rest, " \t"); end >= 0 {
			word = rest[:end]
		}
		behind := strings.TrimLeft(rest[len(word):], " \t")
		column += utf8.RuneCountInString(rest) - utf8.RuneCountInString(behind)
		rest = behind
	}
	if rest != "" && rest[0] != '#' {
		p.Column = column
	}
	return p
}

// Line returns the text of line i (from 1) of a file, as positions count
// lines; empty where there is none.
func (f File) Line(i int) string {
	s := source{name: f.Name, data: f.Data}
	return s.line(i)
}
