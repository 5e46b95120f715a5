package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// refine makes a syntax error say what is really the matter, where the text
// around it shows that.
func refine(src *source, d *diag.Diagnostic, f fault, w where) {
	text := src.line(d.Pos.Line)
	tab := strings.IndexByte(text[:indent(text)], '\t')
	switch {
	case conflictMarker(src, d):
	case tab >= 0:
		d.Code, d.Pos = "yaml-tab", src.inLine(d.Pos.Line, tab)
		d.Message, d.Hint = "a tab indents this line; YAML allows only spaces", "replace each tab by spaces"
	case strings.Contains(text, "{{"), strings.Contains(text, "{%"):
		d.Pos = place(src, d.Pos.Line, `(\{[{%])`)
		d.Message, d.Hint = template(d.Message, d.Hint, text)
	case oddSpace().MatchString(text):
		d.Pos = place(src, d.Pos.Line, oddSpace().String())
		d.Message = "a space that is none for YAML stands here: " + oddSpaceName(text)
		d.Hint = "replace it by an ordinary space"
	case strings.HasPrefix(src.text, "%") && !strings.Contains(src.text, "---"):
		d.Message = "a document with % lines has to begin with a line \"---\""
		d.Hint = "remove the % lines, or add \"---\" below them"
	case f.problem == "mapping values are not allowed":
		missingColon(src, d)
	case f.problem == "could not find expected ':'":
		d.Hint = colonHint(text)
	case f.problem == "did not find expected key":
		mismatch(src, d)
		missingColon(src, d)
	case f.problem == "did not find expected ',' or", f.problem == "did not find expected node content" && w.atEnd:
		unclosed(src, d, w)
	case f.problem == "did not find expected <document start>" && !strings.Contains(src.text, "..."):
		d.Hint = "make it one mapping; braces or quotes around a part of it end the document"
	}
}

// colonHint says how to write a line that lacks a colon. It names the key if
// that is one of ours.
func colonHint(line string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return !strings.ContainsRune("_-.", r) && !unicode.IsLetter(r) })
	ours := slices.Concat([]string{keyAPIServer, keyKubelet, keyFeatureGates}, sectionKeys, listsKeys)
	key := "key"
	if len(words) > 0 && slices.Contains(ours, words[0]) {
		key = words[0]
	}
	if !bareWord().MatchString(line) {
		return "write \"" + key + ": value\""
	}
	return "write \"" + key + ":\" if that is a key, \"- item\" if it is a list item"
}

// mismatch looks for quotes and brackets that do not match, in the line where
// the library stopped and in the one before.
func mismatch(src *source, d *diag.Diagnostic) {
	before := contentBefore(src, d.Pos.Line)
	_, here := documents([]byte(strings.TrimSpace(src.line(d.Pos.Line))))
	_, there := documents([]byte(strings.TrimSpace(src.line(before))))
	switch {
	case there != nil && strings.Contains(there.Error(), "unexpected end of stream"):
		d.Pos = place(src, before, quoteBegin)
		d.Message = "the quote that opens here is closed in another line, or not at all"
	case here != nil:
		d.Message = "the quotes or brackets in this line do not match, or something follows the closing one"
	default:
		return
	}
	d.Hint = "close each quote and bracket once; inside single quotes write '' for ', inside double quotes \\\" for \""
}

// contentBefore returns the number of the last line before another one that
// has more than space and a comment.
func contentBefore(src *source, i int) int {
	for i--; i > 1 && !hasContent(src.line(i)); {
		i--
	}
	return i
}

// template returns other words where a line holds a template that nobody has
// filled in.
func template(message, hint, line string) (string, string) {
	if !strings.Contains(line, "{{") && !strings.Contains(line, "{%") {
		return message, hint
	}
	return "this looks like a template whose values were not filled in",
		"render the template first, and install its result"
}

// conflictMarker looks for what a version control system leaves in a file that
// it could not merge.
func conflictMarker(src *source, d *diag.Diagnostic) bool {
	at := regexp.MustCompile(`(?m)^(<{7}|>{7}) .*`).FindStringIndex(src.text)
	if at == nil {
		return false
	}
	d.Pos = src.at(at[0])
	d.Message = "this is the mark of a merge conflict"
	d.Hint = "keep one of both versions, and remove the lines <<<<<<<, ======= and >>>>>>>"
	return true
}

// oddSpace matches spaces that YAML takes for letters, such as the
// non-breaking one.
var oddSpace = pattern(`([\x{A0}\x{1680}\x{2000}-\x{200B}\x{202F}\x{205F}\x{3000}\x{FEFF}])`)

func oddSpaceName(text string) string {
	r := []rune(oddSpace().FindString(text))[0]
	if r == 0xA0 {
		return "the non-breaking space U+00A0"
	}
	return fmt.Sprintf("the character %U", r)
}

// bareWord matches lines that are one word.
var bareWord = pattern(`^ *[\w.-]+\s*(?:#.*)?$`)

// missingColon moves d to the line before where that has no colon, so that the
// library took both for one text.
func missingColon(src *source, d *diag.Diagnostic) {
	i := contentBefore(src, d.Pos.Line)
	before, deeper := src.line(i), indent(src.line(d.Pos.Line))-indent(src.line(i))
	switch {
	case deeper > 0 && bareWord().MatchString(before):
		d.Message = "a colon is missing at the end of this line, since the next one is indented below it"
		d.Hint = colonHint(before)
	case deeper == 0 && hasContent(before) && !lineWithKey().MatchString(before):
		d.Message = "this is no \"key: value\": a colon with a space behind it is missing"
		d.Hint = colonHint(before)
	default:
		return
	}
	d.Pos = place(src, i, "")
}

// lineWithKey matches lines that have a key, or are list items.
var lineWithKey = pattern(`:(\s|$)|^\s*(-\s|[\]}"'])`)

// unclosed moves d to the opening bracket where it looks as if that were not
// closed: at the end of the file, or where a line follows that is not indented
// deeper. Otherwise it names the bracket as related.
func unclosed(src *source, d *diag.Diagnostic, w where) {
	opening := src.inLine(w.begin, openBracket(src.line(w.begin)))
	switch {
	case w.atEnd, w.stop > w.begin && indent(src.line(w.stop)) <= indent(src.line(w.begin)):
		d.Pos = opening
		d.Message, d.Hint = "the bracket that opens here is not closed", "close it"
	case w.stop == w.begin:
		d.Pos = opening
		d.Message = "behind the bracket that opens here, a comma or the closing bracket is missing"
	default:
		d.Related = []diag.Position{opening}
	}
}

// openBracket returns the offset of the last bracket in a line that the line
// does not close, at least by the look of it.
func openBracket(line string) int {
	var open []int
	for i, c := range line {
		switch c {
		case '[', '{':
			open = append(open, i)
		case ']', '}':
			open = open[:max(len(open)-1, 0)]
		}
	}
	if len(open) > 0 {
		return open[len(open)-1]
	}
	return max(strings.IndexAny(line, "[{"), 0)
}
