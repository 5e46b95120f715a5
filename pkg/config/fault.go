package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// fault says what a problem that the YAML library has with a file means for
// the one who wrote it.
type fault struct {
	problem  string // how the library's text begins
	byParser bool   // the library's parser found it, not its scanner
	begin    bool   // it lies where the bracket, quote or key begins, not where the library stopped
	at       string // regular expression for its place in the line, as group 1
	message  string
	hint     string
}

// quoteBegin matches the first quote that begins a value or key in a line.
const quoteBegin = `(?:^|[\s\[{,])(["'])`

var faults = []fault{
	{problem: "mapping values are not allowed",
		at:      `^(?:.*?:\s.*?)(:)(?:\s|$)`,
		message: "a colon stands where no key can be",
		hint:    "indent the line like the other keys of its block; put a value that holds \": \" in quotes"},
	{problem: "could not find expected ':'", begin: true,
		message: "this is no \"key: value\": a colon with a space behind it is missing",
		hint:    "write \"key: value\" or \"- item\""},
	{problem: "did not find expected key", byParser: true,
		message: "this line is indented like no block above it",
		hint:    "indent it exactly like the other lines of its block; check the quotes and brackets in the line before too"},
	{problem: "did not find expected '-' indicator", byParser: true,
		message: "this line stands in a list but is no list item",
		hint:    "begin it with \"- \", or indent it like the key that it belongs to"},
	{problem: "did not find expected ',' or", byParser: true,
		message: "a comma or a closing bracket is missing before this",
		hint:    "put a comma between the items and close the bracket"},
	{problem: "did not find expected node content", byParser: true,
		at:      `(?:^|[\s\[{,:])([\]},])`,
		message: "a value is missing here",
		hint:    "write a value, and put one that begins with a bracket or a comma in quotes"},
	{problem: "found unexpected end of stream", begin: true, at: quoteBegin,
		message: "the quote that opens here is never closed",
		hint:    "close it; inside single quotes write '' for ', inside double quotes \\\" for \""},
	{problem: "found unexpected document indicator", begin: true, at: quoteBegin,
		message: "the quote that opens here is not closed before the document ends",
		hint:    "close it in the same line"},
	{problem: "found unknown escape character", at: `(\\)[^0abt\tnvfre "'\\N_LPxuU]`,
		message: "this backslash begins no escape that YAML knows",
		hint:    "use single quotes, or write \\\\ for a backslash"},
	{problem: "block sequence entries are not allowed", at: `:\s+(-)`,
		message: "a list can't begin behind its key",
		hint:    "put each item on a line of its own, or write the list as [A, B]"},
	{problem: "did not find expected alphabetic or numeric character", at: `(?:^|[\s\[{,])([&*])`,
		message: "& and * begin anchors and aliases, and no name follows",
		hint:    "put the value in quotes"},
	{problem: "did not find expected comment or line break", at: `(?:^|[\s\[{,])([|>])`,
		message: "| and > begin a block of text, so nothing else can stand in the line",
		hint:    "put the value in quotes"},
	{problem: "found character that cannot start any token", at: "(?:^|[\\s\\[{,-])([@`%])",
		message: "no value can begin with this character",
		hint:    "put the value in quotes"},
	{problem: "found undefined tag handle", byParser: true, at: `(?:^|[\s\[{,])(!)`,
		message: "a value that begins with ! is a tag, and this one is not defined",
		hint:    "put the value in quotes"},
	{problem: "found incompatible YAML document", byParser: true,
		message: "MicroShift reads YAML 1.1 only",
		hint:    "remove the %YAML line"},
	{problem: "did not find expected <document start>", byParser: true,
		message: "behind the end of the document there is more",
		hint:    "remove the line \"...\", so that all is one document"},
	{problem: "found unexpected non-alphabetical character",
		message: "a line that begins with % is a directive, and this is none that YAML knows",
		hint:    "put the line's first word in quotes"},
	{problem: "found unknown directive name",
		message: "a line that begins with % is a directive, and this is none that YAML knows",
		hint:    "put the line's first word in quotes"},
	{problem: "found duplicate %", byParser: true,
		message: "the same directive is here twice",
		hint:    "remove one"},
}

// pattern returns a regular expression that is compiled when it is first used:
// most of them are only for what is wrong, and no start shall wait for that.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var libraryText = pattern(`^yaml: (?:line (\d+): )?(.*)`)

// split takes the line number, 0 where there is none, off the library's text.
func split(err error) (line int, problem string) {
	m := libraryText().FindStringSubmatch(err.Error())
	if m == nil {
		return 0, "it can't be parsed"
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// syntaxError turns an error of the YAML library into a diagnostic. No text of
// the file goes into it, since that can be a secret, but for names of anchors
// and of our own keys.
func syntaxError(src *source, err error) document {
	_, problem := split(err)
	if name, is := strings.CutPrefix(problem, "unknown anchor '"); is {
		name, _, _ = strings.Cut(name, "'")
		return document{diags: diag.List{unknownAlias(src, name)}, unknownAnchor: name}
	}
	if strings.Contains(problem, "control characters") {
		return document{diags: diag.List{controlCharacter(src)}}
	}
	f := fault{message: problem, hint: "check indentation, quotes, brackets and colons in this line and the one before"}
	for _, known := range faults {
		if strings.HasPrefix(problem, known.problem) {
			f = known
			break
		}
	}
	w := faultLines(src, problem, f.byParser)
	line := w.stop
	if f.begin {
		line = w.begin
	}
	d := diag.Diagnostic{Severity: diag.Error, Code: "yaml-syntax", Message: f.message, Hint: f.hint}
	d.Pos = place(src, line, f.at)
	if strings.Contains(problem, "exceeded max depth") {
		d.Code, d.Message, d.Hint = tooDeep.Code, tooDeep.Message, tooDeep.Hint
	} else {
		refine(src, &d, f, w)
	}
	if d.Code == "yaml-syntax" {
		d.Message = "not YAML: " + d.Message
	}
	d.Path = sectionPath(src, d.Pos.Line)
	return document{diags: diag.List{d}}
}

// where says in which lines a fault lies.
type where struct {
	begin int  // where the construct begins that has the fault
	stop  int  // where the library stopped
	atEnd bool // the library stopped at the end of the file
}

// faultLines finds out where the library stopped. Of its two versions, v3
// tells where the construct with the fault begins, and v2, below
// sigs.k8s.io/yaml, where the library stopped. An empty line is put before the
// text, since neither tells the first line.
func faultLines(src *source, problem string, byParser bool) (w where) {
	text := []byte("\n" + src.text)
	if _, err := documents(text); err != nil {
		w.begin, _ = split(err)
	}
	w.stop = w.begin
	mayExpand := bytes.IndexByte(text, '&') >= 0 && bytes.IndexByte(text, '*') >= 0
	if !mayExpand { // where the fault is in a second document, this decodes the first
		if _, err := sigsyaml.YAMLToJSON(text); err != nil {
			if line, p := split(err); p == problem {
				w.stop = line
			}
		}
	}
	if !byParser { // for the parser, the libraries count lines from 0
		w.begin, w.stop = w.begin-1, w.stop-1
	}
	last := len(src.lines())
	for last > 1 && strings.TrimSpace(src.line(last)) == "" {
		last--
	}
	w.atEnd = w.stop > last
	w.begin, w.stop = min(max(w.begin, 1), last), min(max(w.stop, 1), last)
	return w
}

// place returns the position in a line that group 1 of a regular expression
// matches, else the first character behind the indentation.
func place(src *source, line int, at string) diag.Position {
	text := src.line(line)
	offset := len(text) - len(strings.TrimLeft(text, " \t"))
	if at != "" {
		if m := regexp.MustCompile(at).FindStringSubmatchIndex(text); m != nil {
			offset = m[2]
		}
	}
	return src.inLine(line, min(offset, len(text)))
}

// controlCharacter reports the first character that YAML does not allow.
func controlCharacter(src *source) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Error, Code: "yaml-syntax", Pos: diag.Position{File: src.name},
		Message: "not YAML: control characters are not allowed",
		Hint:    "remove it; the file may be binary or damaged"}
	offset := strings.IndexFunc(src.text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7F && r < 0xA0 && r != 0x85 ||
			r == 0xFFFE || r == 0xFFFF
	})
	if offset >= 0 {
		r, _ := utf8.DecodeRuneInString(src.text[offset:])
		d.Pos = src.at(offset)
		d.Message = fmt.Sprintf("not YAML: the control character %U is not allowed", r)
	}
	return d
}
