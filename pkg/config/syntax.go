package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// document is what a file says.
type document struct {
	root  *node // a mapping; nil where the file has no content or can't be read
	diags diag.List
	// unknownAnchor is the anchor that the last of diags misses, if any.
	unknownAnchor string
}

// parse reads the only document of a file. It takes the values that it builds
// off the budget.
func parse(f File, budget *int) document {
	src := newSource(f)
	if d, bad := checkEncoding(src, f.Data); bad {
		return document{diags: diag.List{d}}
	}
	docs, err := documents(f.Data)
	switch {
	case err != nil:
		return syntaxError(src, err)
	case len(docs) == 0 || len(docs) == 1 && isEmpty(docs[0]) && !src.isTagged(docs[0].Content[0]):
		return document{}
	case len(docs) > 1:
		return document{diags: diag.List{manyDocuments(src, docs)}}
	}
	y := docs[0].Content[0]
	if bytes.ContainsAny(f.Data, "&!") {
		moveToValues(src, y)
	}
	b := &builder{src: src, budget: budget}
	n := b.build(y)
	switch {
	case n == nil:
	case n.kind != mapping:
		b.report(y, diag.Diagnostic{Code: "yaml-not-mapping",
			Message: "the file is " + kindName(n) + ", not a mapping",
			Hint:    "begin the file with a key such as \"apiServer:\"; without one it would replace every earlier setting"})
		n = nil
	case len(b.diags) == 0 && unusual(f.Data) && !agrees(f.Data, n):
		b.diags = diag.List{{Severity: diag.Error, Code: "yaml-unusual", Pos: diag.Position{File: f.Name},
			Message: "MicroShift's YAML library does not accept the tags, anchors, aliases or directives of this file, or reads them differently",
			Hint:    "write the values out, without !tags, &anchors, *aliases and %directives"}}
		n = nil
	}
	return document{root: n, diags: b.diags}
}

// unusual reports whether a file may have tags, anchors, aliases, directives
// or merge keys.
func unusual(data []byte) bool {
	return bytes.ContainsAny(data, "&*!%") || bytes.Contains(data, []byte("<<"))
}

// agrees reports whether sigs.k8s.io/yaml, which MicroShift reads its files
// with, finds the same values in a file as we do. The two share a parser but
// differ in what they make of tags, and we could not tell everything from the
// nodes that we get, such as the tag "!".
func agrees(data []byte, n *node) bool {
	var theirs any
	err := sigsyaml.Unmarshal(data, &theirs)
	return err == nil && reflect.DeepEqual(theirs, n.value())
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode &&
		doc.Content[0].Tag == "!!null" && doc.Content[0].Value == ""
}

// documents returns the first document of a file, and the next one that has
// content where there is one: a third makes no difference to the verdict.
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
		Message: fmt.Sprintf("a second YAML document begins here, after the one in line %d; only the first would be read", docs[0].Line),
		Hint:    "remove the \"---\" line and merge both into one document, or put the second one into a file of its own",
		Related: []diag.Position{{File: src.name, Line: docs[0].Line, Column: docs[0].Column}}}
}

// checkEncoding finds text that is not UTF-8.
func checkEncoding(src *source, data []byte) (diag.Diagnostic, bool) {
	d := diag.Diagnostic{Severity: diag.Error, Code: "encoding"}
	if name := utf16Name(data); name != "" {
		d.Pos = diag.Position{File: src.name, Line: 1, Column: 1}
		d.Message = "the file is " + name + ", not UTF-8"
		d.Hint = "convert it: iconv -f " + name + " -t UTF-8"
		return d, true
	}
	if utf8.Valid(data) {
		return d, false
	}
	offset := 0
	for {
		r, size := utf8.DecodeRuneInString(src.text[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	d.Pos = src.at(offset)
	d.Message = fmt.Sprintf("byte 0x%02X here is not UTF-8", src.text[offset])
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
