package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// parse returns the value of a file's only document: a mapping, or nil where
// the file has no content. What is wrong with the file is in the list.
func parse(f File) (*node, diag.List) {
	src := &source{name: f.Name, data: f.Data}
	if d, bad := checkEncoding(src); bad {
		return nil, diag.List{d}
	}
	docs, err := documents(f.Data)
	if err != nil {
		return nil, diag.List{syntaxError(src, err)}
	}
	switch {
	case len(docs) == 0 || len(docs) == 1 && isEmpty(docs[0]):
		return nil, nil
	case len(docs) > 1:
		return nil, diag.List{manyDocuments(src, docs)}
	}
	b := &builder{file: f.Name, src: src}
	n := b.build(docs[0].Content[0])
	if n != nil && n.kind != mapping {
		return nil, append(b.diags, diag.Diagnostic{Severity: diag.Error, Code: "yaml-not-mapping", Pos: n.pos,
			Message: "the file is not a mapping",
			Hint:    "begin the file with a key such as \"apiServer:\"; without one it would replace every earlier setting"})
	}
	return n, b.diags
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode &&
		doc.Content[0].Tag == "!!null" && doc.Content[0].Value == ""
}

// documents parses at most two documents with content or position: more than
// that makes no difference to the verdict. Trailing documents without content
// are dropped, since nothing is lost with them.
func documents(data []byte) (docs []*yaml.Node, err error) {
	defer func() { // the library panics on a few malformed comments
		if r := recover(); r != nil {
			docs, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for len(docs) < 2 {
		doc := new(yaml.Node)
		if err := dec.Decode(doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if len(docs) == 0 || !isEmpty(doc) {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

func manyDocuments(src *source, docs []*yaml.Node) diag.Diagnostic {
	pos := diag.Position{File: src.name, Line: docs[1].Line, Column: docs[1].Column}
	return diag.Diagnostic{Severity: diag.Error, Code: "yaml-many-documents", Pos: pos,
		Message: "a second YAML document begins here; only the first would be read",
		Hint:    "remove the \"---\" line and merge both into one document, or put the second one into a file of its own",
		Related: []diag.Position{{File: src.name, Line: docs[0].Line, Column: docs[0].Column}}}
}

// checkEncoding finds text that is not UTF-8.
func checkEncoding(src *source) (diag.Diagnostic, bool) {
	d := diag.Diagnostic{Severity: diag.Error, Code: "encoding"}
	if name := utf16Name(src.data); name != "" {
		d.Pos = diag.Position{File: src.name, Line: 1, Column: 1}
		d.Message = "the file is " + name + ", not UTF-8"
		d.Hint = "convert it: iconv -f " + name + " -t UTF-8"
		return d, true
	}
	if utf8.Valid(src.data) {
		return d, false
	}
	offset := 0
	for offset < len(src.data) {
		r, size := utf8.DecodeRune(src.data[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	d.Pos = src.at(offset)
	d.Message = fmt.Sprintf("byte 0x%02X here is not UTF-8", src.data[offset])
	d.Hint = "save the file as UTF-8"
	return d, true
}

// utf16Name recognises UTF-16 by its byte order mark or, since a MicroShift
// file begins with ASCII, by a NUL byte beside the first character.
func utf16Name(data []byte) string {
	switch {
	case len(data) < 2:
		return ""
	case data[0] == 0xFF && data[1] == 0xFE, data[0] != 0 && data[1] == 0:
		return "UTF-16LE"
	case data[0] == 0xFE && data[1] == 0xFF, data[0] == 0 && data[1] != 0:
		return "UTF-16BE"
	}
	return ""
}

var libraryLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError turns an error of the YAML library into a diagnostic.
func syntaxError(src *source, err error) diag.Diagnostic {
	line, problem := splitLine(err)
	if fault, ok := faultLine(src, problem); ok {
		line = fault
	}
	line = max(line, 1)
	text := src.line(line)
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	d := diag.Diagnostic{Severity: diag.Error, Code: "yaml-syntax",
		Pos:     diag.Position{File: src.name, Line: line, Column: utf8.RuneCountInString(indent) + 1},
		Message: "this is not YAML: " + problem,
		Hint:    "check indentation, quotes, brackets and colons in this line and the one before"}
	if text == "" {
		d.Pos.Column = 0
	}
	switch tab := strings.IndexByte(indent, '\t'); {
	case tab >= 0:
		d.Code, d.Pos.Column = "yaml-tab", tab+1
		d.Message = "a tab indents this line; YAML allows only spaces"
		d.Hint = "replace each tab by spaces"
	case strings.HasPrefix(problem, "unknown anchor"):
		return unknownAlias(src, problem)
	case strings.Contains(problem, "control characters"):
		if offset := bytes.IndexFunc(src.data, isControl); offset >= 0 {
			d.Pos = src.at(offset)
			r, _ := utf8.DecodeRune(src.data[offset:])
			d.Message = fmt.Sprintf("control character %U is not allowed in YAML", r)
			d.Hint = "remove it; the file may be binary or damaged"
		}
	case strings.Contains(problem, "exceeded max depth"):
		d.Code = "limit-nesting"
		d.Message = fmt.Sprintf("nested deeper than %d levels", MaxNesting)
		d.Hint = "flatten the file; no MicroShift setting needs such depth"
	}
	return d
}

func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7F && r < 0xA0 && r != 0x85 ||
		r == 0xFFFE || r == 0xFFFF
}

// splitLine takes the line number, 0 where there is none, off the library's text.
func splitLine(err error) (line int, problem string) {
	m := libraryLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// faultLine looks for the line that breaks the file, since the library often
// names the line where the surrounding mapping began: it halves the file until
// the lines up to one parse, and those with the next one fail with the same
// problem. It returns false where there is no such pair.
func faultLine(src *source, problem string) (int, bool) {
	offs := src.lines()
	fails := func(lines int) bool {
		end := len(src.data)
		if lines < len(offs) {
			end = offs[lines]
		}
		_, err := documents(src.data[:end])
		if err == nil {
			return false
		}
		_, p := splitLine(err)
		return p == problem
	}
	good, bad := 0, len(offs)
	for bad-good > 1 {
		if mid := (good + bad) / 2; fails(mid) {
			bad = mid
		} else {
			good = mid
		}
	}
	return bad, fails(bad)
}

// unknownAlias reports an alias whose anchor is not in the same file.
func unknownAlias(src *source, problem string) diag.Diagnostic {
	name := ""
	if parts := strings.Split(problem, "'"); len(parts) == 3 {
		name = parts[1]
	}
	return diag.Diagnostic{Severity: diag.Error, Code: "yaml-alias", Pos: findAlias(src, name),
		Message: fmt.Sprintf("alias *%s: this file has no anchor &%s before it", name, name),
		Hint:    "anchors do not reach across files; write the value out, or define the anchor earlier in this file"}
}

// findAlias returns the first place of *name outside comments, at least by the
// look of it: the library does not say where it stopped.
func findAlias(src *source, name string) diag.Position {
	for i := range src.lines() {
		text := src.line(i + 1)
		at := strings.Index(text, "*"+name)
		if at < 0 || strings.HasPrefix(strings.TrimSpace(text), "#") {
			continue
		}
		return diag.Position{File: src.name, Line: i + 1, Column: utf8.RuneCountInString(text[:at]) + 1}
	}
	return diag.Position{File: src.name}
}
