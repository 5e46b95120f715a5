package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// page gathers a text for people. Everything that is put on it is made
// printable, so that names from files can't forge a line.
type page struct {
	text  strings.Builder
	color bool
}

// The terminal sequences for headings.
const (
	bold   = "\x1b[1m"
	normal = "\x1b[0m"
)

// line adds a line.
func (p *page) line(format string, args ...any) {
	p.put("", fmt.Sprintf(format, args...))
}

// heading adds a line that stands out, after an empty one unless it is the first.
func (p *page) heading(format string, args ...any) {
	p.gap()
	p.put(bold, fmt.Sprintf(format, args...))
}

// gap adds an empty line, unless the page is empty.
func (p *page) gap() {
	if p.text.Len() > 0 {
		p.text.WriteByte('\n')
	}
}

func (p *page) put(style, line string) {
	line = oneLine(strings.TrimRight(line, " "))
	if style != "" && p.color {
		line = style + line + normal
	}
	p.text.WriteString(line + "\n")
}

// table adds rows in aligned columns, below a heading row. An empty cell is
// shown as a dash.
func (p *page) table(header []string, rows ...[]string) {
	rows = append([][]string{header}, rows...)
	widths := make([]int, len(header))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = oneLine(cell)
			if cell == "" {
				row[i] = "-"
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		style := ""
		if n == 0 {
			style = bold
		}
		p.put(style, b.String())
	}
}

// terms adds lines of a term each, with its explanation in a second column.
func (p *page) terms(pairs ...[2]string) {
	width := 0
	for _, pair := range pairs {
		width = max(width, utf8.RuneCountInString(pair[0]))
	}
	for _, pair := range pairs {
		p.line("%s%s  %s", pair[0], strings.Repeat(" ", width-utf8.RuneCountInString(pair[0])), pair[1])
	}
}

// textWidth is where running text is broken, in characters.
const textWidth = 100

// item adds a paragraph that begins with a dash.
func (p *page) item(format string, args ...any) {
	p.wrap("  - ", fmt.Sprintf(format, args...))
}

// wrap adds a paragraph broken into lines, the first of which begins with
// prefix and the others with as many blanks.
func (p *page) wrap(prefix, text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(prefix+line+" "+word) > textWidth {
			p.line("%s%s", prefix, line)
			prefix, line = strings.Repeat(" ", utf8.RuneCountInString(prefix)), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	p.line("%s%s", prefix, line)
}
