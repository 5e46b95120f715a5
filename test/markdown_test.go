package test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document is a Markdown file.
type document struct {
	name  string // from the top of the repository, docs/lock.md
	lines []string
	parts []part
}

// part is what the tests look at in a document: a heading, a comment, or a
// fenced block.
type part struct {
	kind    partKind
	line    int      // in the document, from 1; of a block, the line of its opening fence
	text    string   // of a heading or comment
	indent  string   // of a block, the spaces before its fences
	info    []string // the words behind the opening fence
	content []string // the lines between the fences
}

type partKind int

const (
	heading partKind = iota + 1
	comment
	block
)

// documents returns every Markdown file of the repository.
func documents(t *testing.T) []document {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	err := filepath.WalkDir("../docs", func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			names = append(names, strings.TrimPrefix(path, "../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var docs []document
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, parseDocument(name, string(data)))
	}
	return docs
}

func parseDocument(name, text string) document {
	d := document{name: name, lines: strings.Split(text, "\n")}
	for i := 0; i < len(d.lines); i++ {
		line := d.lines[i]
		switch {
		case strings.HasPrefix(strings.TrimLeft(line, " "), "```"):
			indent := line[:strings.Index(line, "`")] // of a block in a list
			p := part{kind: block, line: i + 1, indent: indent, info: strings.Fields(line[len(indent)+3:])}
			for i++; i < len(d.lines) && d.lines[i] != indent+"```"; i++ {
				p.content = append(p.content, strings.TrimPrefix(d.lines[i], indent))
			}
			d.parts = append(d.parts, p)
		case strings.HasPrefix(line, "#"):
			d.parts = append(d.parts, part{kind: heading, line: i + 1, text: strings.TrimLeft(line, "# ")})
		case strings.HasPrefix(line, "<!-- ") && strings.HasSuffix(line, " -->"):
			d.parts = append(d.parts, part{kind: comment, line: i + 1, text: line[5 : len(line)-4]})
		}
	}
	return d
}

// under returns the parts between a heading and the next one.
func (d document) under(title string) []part {
	start := slices.IndexFunc(d.parts, func(p part) bool { return p.kind == heading && p.text == title })
	if start < 0 {
		return nil
	}
	rest := d.parts[start+1:]
	if end := slices.IndexFunc(rest, func(p part) bool { return p.kind == heading }); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// prose returns the lines outside fenced blocks.
func (d document) prose() string {
	lines := slices.Clone(d.lines)
	for _, p := range d.parts {
		if p.kind == block {
			clear(lines[p.line-1 : min(p.line+len(p.content)+1, len(lines))])
		}
	}
	return strings.Join(lines, "\n")
}

// anchors returns what links to headings of the document can point to.
func (d document) anchors() []string {
	var list []string
	for _, p := range d.parts {
		if p.kind == heading {
			kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(p.text), "")
			list = append(list, strings.ReplaceAll(kept, " ", "-"))
		}
	}
	return list
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestFences finds fences that the other tests do not see as such.
func TestFences(t *testing.T) {
	for _, d := range documents(t) {
		for i, line := range strings.Split(d.prose(), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				t.Errorf("%s:%d: a fence that is never closed, or closed with another indentation", d.name, i+1)
			}
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	docs := documents(t)
	for _, d := range docs {
		for _, m := range link.FindAllStringSubmatch(d.prose(), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := d.name
			if file != "" {
				target = filepath.Join(filepath.Dir(d.name), file)
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s: link to %s: %v", d.name, m[1], err)
				continue
			}
			i := slices.IndexFunc(docs, func(d document) bool { return d.name == target })
			if anchor != "" && (i < 0 || !slices.Contains(docs[i].anchors(), anchor)) {
				t.Errorf("%s: link to %s: no such heading", d.name, m[1])
			}
		}
	}
}
