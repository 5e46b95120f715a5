package config

import (
	"fmt"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// maxSearches is for how many aliases other files are searched, so that the
// time stays linear in the number of files. maxRelated is how many other places
// of an anchor or a key are named.
const (
	maxSearches = 10
	maxRelated  = 10
)

// relate adds the places in other files that define the anchor which d misses.
func relate(d *diag.Diagnostic, anchor string, files []File) {
	for _, f := range files {
		if f.Name == d.Pos.File || len(d.Related) == maxRelated || !strings.Contains(string(f.Data), "&"+anchor) {
			continue
		}
		src := newSource(f)
		if offset := findWord(src.text, "&"+anchor, 0); offset >= 0 {
			d.Related = append(d.Related, src.at(offset))
		}
	}
}

// unknownAlias reports an alias whose anchor is not in the same file.
func unknownAlias(src *source, name string) diag.Diagnostic {
	shown := diag.Printable(name)
	d := diag.Diagnostic{Severity: diag.Error, Code: "yaml-alias", Pos: diag.Position{File: src.name},
		Message: fmt.Sprintf("alias *%s: this file has no anchor &%s before it", shown, shown),
		Hint:    "anchors do not reach across files; write the value out, or define the anchor earlier in this file"}
	if offset := findAlias(src, name); offset >= 0 {
		d.Pos = src.at(offset)
		d.Path = sectionPath(src, d.Pos.Line)
	}
	return d
}

// findAlias returns the offset of the alias at which the library stopped: the
// first *name up to which the text fails for the same reason. -1 means that it
// can't be found.
func findAlias(src *source, name string) int {
	const tries = 10 // "*name" may stand in comments and quotes too
	want := "unknown anchor '" + name + "' referenced"
	first, from := -1, 0
	for range tries {
		offset := findWord(src.text, "*"+name, from)
		if offset < 0 {
			break
		}
		if first < 0 {
			first = offset
		}
		from = offset + 1 + len(name)
		if _, err := documents([]byte(src.text[:from])); err != nil {
			if _, problem := split(err); problem == want {
				return offset
			}
		}
	}
	return first
}

// findWord returns the offset of word in text at or behind from where no
// letter, digit, "_" or "-" follows it, or -1.
func findWord(text, word string, from int) int {
	for {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		from += i + len(word)
		if from == len(text) || !isWordChar(text[from]) {
			return from - len(word)
		}
	}
}

func isWordChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
