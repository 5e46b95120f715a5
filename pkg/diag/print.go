package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxPrinted is how many diagnostics a Printer prints where Max is 0.
const maxPrinted = 200

// Printer prints diagnostics as compilers do: what is wrong, where, the line
// itself with a caret, and what to do about it. Whatever the configuration
// holds, only printable characters come out.
type Printer struct {
	// Color marks the parts with terminal colours.
	Color bool
	// Max is how many diagnostics are printed; 0 means 200. Where there are
	// more, errors go before warnings.
	Max int
	// Source returns the text of the line at a position, or "" where there is
	// none or where it must not be shown. Nil shows no lines.
	Source func(Position) string
}

// Print writes l to w in the order of l.
func (p Printer) Print(w io.Writer, l List) error {
	limit := p.Max
	if limit <= 0 {
		limit = maxPrinted
	}
	shown := l
	if len(l) > limit {
		shown = append(l.Errors(), l.Warnings()...)[:limit]
	}
	var b strings.Builder
	for _, d := range shown {
		p.diagnostic(&b, d)
	}
	if more := len(l) - len(shown); more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Terminal colours: bold red, bold yellow, bold blue, and back to normal.
const (
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	blue   = "\x1b[1;34m"
	normal = "\x1b[0m"
)

func (p Printer) paint(color, text string) string {
	if !p.Color {
		return text
	}
	return color + text + normal
}

func (p Printer) diagnostic(b *strings.Builder, d Diagnostic) {
	color := red
	if d.Severity == Warning {
		color = yellow
	}
	fmt.Fprintf(b, "%s: %s [%s]\n", p.paint(color, d.Severity.String()), visible(d.Message), visible(d.Code))
	p.place(b, "-->", d)
	for i, line := range strings.Split(d.Hint, "\n") {
		switch {
		case d.Hint == "":
		case i == 0:
			fmt.Fprintf(b, "  hint: %s\n", visible(line))
		default:
			fmt.Fprintf(b, "        %s\n", visible(line))
		}
	}
	for _, at := range d.Related {
		fmt.Fprintf(b, "  see also %s\n", at)
		p.source(b, at)
	}
}

// place prints where d is.
func (p Printer) place(b *strings.Builder, arrow string, d Diagnostic) {
	at, path := d.Pos.String(), visible(d.Path)
	switch {
	case at == "" && path == "":
		return
	case at == "":
		fmt.Fprintf(b, "  %s %s\n", p.paint(blue, arrow), path)
	case path == "":
		fmt.Fprintf(b, "  %s %s\n", p.paint(blue, arrow), at)
	default:
		fmt.Fprintf(b, "  %s %s  (%s)\n", p.paint(blue, arrow), at, path)
	}
	p.source(b, d.Pos)
}

// source prints the line at a position, and a caret below the column.
func (p Printer) source(b *strings.Builder, at Position) {
	if p.Source == nil || at.Line == 0 {
		return
	}
	line := p.Source(at)
	if strings.TrimSpace(line) == "" {
		return
	}
	text, caret := window(line, at.Column)
	fmt.Fprintf(b, "%s %s\n", p.paint(blue, fmt.Sprintf("%6d |", at.Line)), text)
	if caret >= 0 {
		fmt.Fprintf(b, "%s %s%s\n", p.paint(blue, "       |"), strings.Repeat(" ", caret), p.paint(red, "^"))
	}
}

// The part of a long line that is printed: this many characters before the
// column, and this many altogether.
const (
	windowBefore = 60
	windowSize   = 120
)

// window returns line as it is printed, cut around column where it is long,
// and how many terminal cells stand before column there; -1 where column is
// unknown or lies beyond the line.
func window(line string, column int) (text string, caret int) {
	first := 1
	if column > windowSize-windowBefore/2 {
		first = column - windowBefore
	}
	var b strings.Builder
	caret = -1
	i, cells := 1, 0
	for offset := 0; offset < len(line) && i < first+windowSize; i++ {
		r, size := utf8.DecodeRuneInString(line[offset:])
		shown := visibleChar(r, line[offset:offset+size])
		if i == column {
			caret = cells
		}
		switch {
		case i == first && first > 1, i == first+windowSize-1 && offset+size < len(line):
			shown = "…"
			fallthrough
		case i >= first:
			b.WriteString(shown)
			cells += width(shown)
		}
		offset += size
	}
	if i == column { // just behind the last character
		caret = cells
	}
	return b.String(), caret
}
