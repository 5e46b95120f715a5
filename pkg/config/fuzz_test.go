package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	jsonpatch "github.com/evanphx/json-patch"
	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// FuzzMerge merges three files, and checks that the result is what MicroShift
// makes of them, and that every position is right.
func FuzzMerge(f *testing.F) {
	for _, s := range mergeSeeds {
		f.Add([]byte(s.files[0]), []byte(s.files[1]), []byte(s.files[2]))
	}
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		files := []File{{Name: "a.yaml", Data: a}, {Name: "b.yaml", Data: b}, {Name: "c.yaml", Data: c}}
		checkMerge(t, files)
	})
}

// FuzzGenerated is FuzzMerge with files that a generator writes, which takes
// its decisions from the input: nearly all of them are valid YAML.
func FuzzGenerated(f *testing.F) {
	for i := range 20 {
		f.Add(bytes.Repeat([]byte{byte(i), byte(37 * i), 3, byte(i * i)}, 60))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		g := generator{choices: choices}
		files := []File{{Name: "a.yaml", Data: g.file()}, {Name: "b.yaml", Data: g.file()}}
		checkMerge(t, files)
	})
}

// verdict says what became of some files.
type verdict int

const (
	refused  verdict = iota // by us, so there is nothing to compare
	accepted                // by MicroShift and by us
)

// checkMerge fails t unless what we make of files is right.
func checkMerge(t *testing.T, files []File) verdict {
	t.Helper()
	root, problems := mergeFiles(files)
	_, all := Merge(files)
	checkPositions(t, files, root, all)
	if problems.Err() != nil {
		return refused
	}
	want, err := mergedByMicroShift(files)
	if err != nil {
		t.Fatalf("MicroShift refuses files that we accept: %v\n%s", err, show(files))
	}
	if diff := cmp.Diff(withoutNulls(want), withoutNulls(root.value())); diff != "" {
		t.Fatalf("merged otherwise than MicroShift does (-MicroShift +ours):\n%s\n%s", diff, show(files))
	}
	return accepted
}

func show(files []File) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s:\n%s\n%q\n", f.Name, f.Data, f.Data)
	}
	return b.String()
}

// mergedByMicroShift does what MicroShift does with the same files: YAML to
// JSON, and one merge patch after the other. Files without content, at which
// MicroShift stumbles, change nothing.
func mergedByMicroShift(files []File) (any, error) {
	doc := []byte("{}")
	for i, f := range files {
		patch, err := sigsyaml.YAMLToJSON(f.Data)
		if err != nil {
			return nil, err
		}
		switch {
		case string(patch) == "null":
		case i == 0:
			doc = patch
		default:
			if doc, err = jsonpatch.MergePatch(doc, patch); err != nil {
				return nil, err
			}
		}
	}
	var v any
	err := json.Unmarshal(doc, &v)
	return v, err
}

// withoutNulls drops the keys of mappings that are null, which mean the same
// as no key.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if value == nil {
				delete(v, key)
			} else {
				v[key] = withoutNulls(value)
			}
		}
	case []any:
		for i, item := range v {
			v[i] = withoutNulls(item)
		}
	}
	return v
}

// checker knows the files that positions point into.
type checker struct {
	t     *testing.T
	files map[string]*source
	all   []File
}

// checkPositions fails t unless every position lies in its file, and those of
// values and keys on what they name.
func checkPositions(t *testing.T, files []File, root *node, problems diag.List) {
	t.Helper()
	c := &checker{t: t, files: map[string]*source{}, all: files}
	for _, f := range files {
		c.files[f.Name] = newSource(f)
	}
	for _, d := range problems {
		if d.Severity != diag.Error && d.Severity != diag.Warning || d.Code == "" || d.Message == "" || d.Hint == "" {
			c.failf("incomplete diagnostic %+v", d)
		}
		for _, text := range []string{d.Message, d.Hint, d.Path} {
			if strings.ContainsFunc(text, func(r rune) bool { return !visibleRune(r) }) || !utf8.ValidString(text) || len(text) > 1000 {
				c.failf("text that is not fit to print: %q", text)
			}
		}
		if d.Pos.Line != 0 || d.Code != "yaml-unusual" {
			c.rest(d.Pos)
		}
		for _, at := range d.Related {
			c.rest(at)
		}
	}
	c.tree(root)
	var b strings.Builder
	printer := diag.Printer{Source: SourceLines(files)}
	if err := printer.Print(&b, problems); err != nil || strings.ContainsFunc(b.String(), func(r rune) bool { return r != '\n' && !visibleRune(r) }) {
		c.failf("printed %q, error %v", b.String(), err)
	}
}

func (c *checker) failf(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf(format+"\n%s", append(args, show(c.all))...)
}

// rest returns the text from a position on, up to the end of its line.
func (c *checker) rest(p diag.Position) string {
	c.t.Helper()
	src := c.files[p.File]
	if src == nil || p.Line < 1 || p.Line > len(src.lines()) {
		c.failf("no such line: %v", p)
	}
	line := []rune(src.line(p.Line))
	if p.Column < 1 || p.Column > len(line)+1 {
		c.failf("line has %d characters: %v", len(line), p)
	}
	return string(line[p.Column-1:])
}

func (c *checker) tree(n *node) {
	c.t.Helper()
	for _, old := range n.replaced {
		c.tree(old)
	}
	if n.pos.File != "" { // the root of the merged tree is in no file
		c.value(n)
	}
	for _, item := range n.items {
		c.tree(item)
	}
	for _, e := range n.entries {
		for _, p := range append(e.earlier, e.pos) {
			if rest := c.rest(p); !e.coerced && !begins(rest, e.key, "\"'|>*") {
				c.failf("key %q is not at %v: %q", e.key, p, rest)
			}
		}
		c.tree(e.value)
	}
}

func (c *checker) value(n *node) {
	c.t.Helper()
	rest := c.rest(n.pos)
	ok := true
	switch {
	case strings.HasPrefix(rest, "*"): // an alias: no other value begins so
	case n.kind == sequence:
		ok = begins(rest, "", "[-")
	case n.kind == scalar:
		ok = begins(rest, n.text, "\"'|>")
	}
	if !ok {
		c.failf("value %q of kind %d is not at %v: %q", n.text, n.kind, n.pos, rest)
	}
}

// begins reports whether the text at a position begins with the first word of
// what is there, or with one of some other characters.
func begins(rest, text, others string) bool {
	if rest != "" && strings.IndexByte(others, rest[0]) >= 0 {
		return true
	}
	if text == "" { // only behind a tag or an anchor
		return rest != "" && (rest[0] == '!' || rest[0] == '&')
	}
	word := text
	if i := strings.IndexAny(text, " \t\n\u0085\u2028\u2029"); i >= 0 {
		word = text[:i]
	}
	return strings.HasPrefix(rest, word)
}

// visibleRune is deliberately simpler than what it checks.
func visibleRune(r rune) bool {
	return r >= ' ' && r != 0x7F && (r < 0x80 || r > 0x9F) && (r < 0x200B || r > 0x200F) && (r < 0x202A || r > 0x202E) && (r < 0x2066 || r > 0x2069)
}

// TestGeneratorIsNotVacuous counts how many generated files are accepted.
func TestGeneratorIsNotVacuous(t *testing.T) {
	counts := map[verdict]int{}
	for i := range 1000 {
		g := generator{choices: pseudoRandom(i)}
		counts[checkMerge(t, []File{{Name: "a.yaml", Data: g.file()}, {Name: "b.yaml", Data: g.file()}})]++
	}
	t.Logf("%d accepted and compared, %d refused", counts[accepted], counts[refused])
	if counts[accepted] < 500 {
		t.Errorf("only %d of 1000 generated pairs were compared, want at least half", counts[accepted])
	}
}

func pseudoRandom(seed int) []byte {
	choices := make([]byte, 400)
	x := uint32(seed)*2654435761 + 12345
	for i := range choices {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		choices[i] = byte(x >> 8)
	}
	return choices
}
