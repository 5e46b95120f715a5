package main

import (
	"fmt"
	"slices"
	"strings"
)

// roff returns the page in the language of man(7), one of all pages of a command.
func (p page) roff(all []page, f facts) string {
	w := &writer{}
	w.macro("TH", strings.ToUpper(p.name()), "1", "", p.words[0], "")
	w.WriteString(".nh\n.ad l\n") // a name that is broken can't be copied
	w.macro("SH", "NAME")
	summary := p.summary
	if summary == "" {
		summary = p.about[0]
	}
	w.text(escape(p.name()) + ` \- ` + escape(firstSentence(summary)))
	w.macro("SH", "SYNOPSIS")
	for i, u := range p.usage {
		if i > 0 {
			w.macro("br")
		}
		w.macro("B", u)
	}
	w.macro("SH", "DESCRIPTION")
	for i, paragraph := range p.about {
		if i > 0 {
			w.macro("PP")
		}
		w.text(escape(paragraph))
	}
	if len(p.commands) > 0 {
		w.macro("SH", "COMMANDS")
		w.terms(p.commands)
	}
	w.options("OPTIONS", p.flags)
	w.options("GLOBAL OPTIONS", p.global)
	w.macro("SH", "EXIT STATUS")
	w.terms(f.exits)
	var also []string
	if len(p.words) == 1 { // the others refer to it
		w.macro("SH", "FILES")
		w.terms(f.files)
		also = slices.Clone(f.also)
	}
	for _, other := range all {
		if other.name() != p.name() && (len(p.words) == 1 || len(other.words) == 1) {
			also = append(also, other.name())
		}
	}
	for i, name := range also {
		also[i] = fmt.Sprintf(`\fB%s\fP(1)`, escape(name))
	}
	w.macro("SH", "SEE ALSO")
	w.text(strings.Join(also, ",\n"))
	return w.String()
}

// firstSentence is for the line that whatis(1) shows, without its full stop.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	first, _, _ := strings.Cut(text+" ", ". ")
	first, _, _ = strings.Cut(first, ": ")
	first = strings.TrimSuffix(strings.TrimSpace(first), ".")
	return strings.ToLower(first[:1]) + first[1:]
}

type writer struct{ strings.Builder }

// macro writes a request with its arguments in quotes.
func (w *writer) macro(name string, args ...string) {
	w.WriteString("." + name)
	for _, a := range args {
		w.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`)
	}
	w.WriteByte('\n')
}

// text writes lines that are escaped already.
func (w *writer) text(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line // a control character would make it a request
		}
		w.WriteString(line + "\n")
	}
	if !strings.HasSuffix(w.String(), "\n") {
		w.WriteByte('\n')
	}
}

func (w *writer) terms(list [][2]string) {
	for _, t := range list {
		w.macro("TP")
		w.macro("B", t[0])
		w.text(escape(t[1]))
	}
}

func (w *writer) options(heading string, list []flag) {
	if len(list) == 0 {
		return
	}
	w.macro("SH", heading)
	for _, f := range list {
		w.terms([][2]string{{f.spec, f.text}})
	}
}

// escape makes text stand for itself (groff_char(7)). A hyphen is escaped
// everywhere: pages are searched for options, which are copied to shells.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\[u2026]`, "→", `\[->]`).Replace(text)
}
