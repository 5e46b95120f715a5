package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

type kind uint8

const (
	null kind = iota
	scalar
	sequence
	mapping
)

// node is a value of a file, or of several merged files.
type node struct {
	kind     kind
	pos      diag.Position
	text     string   // of a scalar, unquoted
	tag      string   // explicit tag of a scalar, such as "!!int"; empty where none
	quoted   bool     // the scalar is quoted or a block, so a string whatever it says
	items    []*node  // of a sequence
	entries  []*entry // of a mapping, in order of first appearance
	index    keyIndex // of a mapping with many entries; nil where few
	replaced []*node  // what earlier files had here, oldest first
}

// entry is one key of a mapping with its value.
type entry struct {
	key     string
	pos     diag.Position   // of the key, in the file that set it last
	earlier []diag.Position // of the key in earlier files, oldest first
	value   *node
	deleted bool // by the null of a later file
}

func (e *entry) present() bool { return e.value.kind != null }

type keyIndex map[string]*entry

// indexFrom is the number of entries from which a mapping is indexed; below
// it, a linear search is faster.
const indexFrom = 16

// get returns the entry of a key, or nil. It may be called on a nil node and
// on a node of any kind.
func (n *node) get(key string) *entry {
	if n == nil {
		return nil
	}
	if n.index != nil {
		return n.index[key]
	}
	for _, e := range n.entries {
		if e.key == key {
			return e
		}
	}
	return nil
}

// add appends an entry whose key the mapping does not have yet.
func (n *node) add(e *entry) {
	n.entries = append(n.entries, e)
	switch {
	case n.index != nil:
		n.index[e.key] = e
	case len(n.entries) >= indexFrom:
		n.index = make(keyIndex, 2*indexFrom)
		for _, e := range n.entries {
			n.index[e.key] = e
		}
	}
}

// lookup returns the entry of a key that has a value other than null, or nil.
// It may be called on a nil node and on a node of any kind.
func (n *node) lookup(key string) *entry {
	if e := n.get(key); e != nil && e.present() {
		return e
	}
	return nil
}

// yamlValue returns what a scalar means in YAML 1.1, as sigs.k8s.io/yaml (and
// so MicroShift) understands it: nil, bool, float64 or string.
func (n *node) yamlValue() any {
	if n.kind == null {
		return nil
	}
	if n.isPlainString() {
		return n.text
	}
	text := n.text
	if n.quoted || n.tag != "" {
		text = n.tag + " " + strconv.Quote(n.text)
	}
	var v any
	if err := sigsyaml.Unmarshal([]byte(text), &v); err != nil {
		return n.text
	}
	switch v.(type) {
	case map[string]any, []any: // the text of a flow scalar such as "1:"
		return n.text
	}
	return v
}

// isPlainString reports whether the scalar can only be a string, so that the
// library need not be asked. Numbers, booleans and null begin with one of the
// characters below, and the words among them have at most five letters
// (https://yaml.org/type/bool.html).
func (n *node) isPlainString() bool {
	switch {
	case n.tag != "":
		return n.tag == "!!str"
	case n.quoted:
		return true
	case n.text == "":
		return false
	case strings.ContainsAny(n.text, " \t\n"):
		return true
	case strings.IndexByte("yYnNtTfFoO~", n.text[0]) >= 0:
		return len(n.text) > len("false")
	default:
		return strings.IndexByte("+-.0123456789", n.text[0]) < 0
	}
}

// builder turns the nodes of one file into a tree of values: aliases and merge
// keys resolved, keys as strings, positions on the values.
type builder struct {
	file     string
	src      *source
	diags    diag.List
	open     map[*yaml.Node]bool // anchors being expanded
	expanded int                 // bytes of alias expansion so far
	depth    int
}

// stop is what builder panics with to abandon a file; build recovers it.
type stop struct{}

func (b *builder) fail(d diag.Diagnostic) {
	d.Severity = diag.Error
	b.diags = append(b.diags, d)
	panic(stop{})
}

// build returns the tree of a document, or nil where a limit was exceeded.
func (b *builder) build(y *yaml.Node) (n *node) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(stop); !ok {
				panic(r)
			}
			n = nil
		}
	}()
	return b.node(y)
}

func (b *builder) pos(y *yaml.Node) diag.Position {
	return b.src.valuePosition(y)
}

func (b *builder) node(y *yaml.Node) *node {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > MaxNesting {
		b.fail(diag.Diagnostic{Code: "limit-nesting", Pos: b.pos(y),
			Message: fmt.Sprintf("nested deeper than %d levels", MaxNesting),
			Hint:    "flatten the file; no MicroShift setting needs such depth"})
	}
	if len(b.open) > 0 {
		b.expanded += len(y.Value) + 1
		if b.expanded > MaxAliasBytes {
			b.fail(diag.Diagnostic{Code: "limit-alias", Pos: b.pos(y),
				Message: fmt.Sprintf("aliases expand to more than %d bytes", MaxAliasBytes),
				Hint:    "write the values out instead of nesting aliases in aliases"})
		}
	}
	switch y.Kind {
	case yaml.AliasNode:
		return b.alias(y)
	case yaml.MappingNode:
		n := &node{kind: mapping, pos: b.pos(y)}
		b.mapping(n, y)
		return n
	case yaml.SequenceNode:
		n := &node{kind: sequence, pos: b.pos(y), items: make([]*node, 0, len(y.Content))}
		for _, c := range y.Content {
			n.items = append(n.items, b.node(c))
		}
		return n
	default:
		return b.scalar(y)
	}
}

func (b *builder) scalar(y *yaml.Node) *node {
	n := &node{kind: scalar, pos: b.pos(y), text: y.Value}
	n.quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if y.Style&yaml.TaggedStyle != 0 {
		n.tag = y.Tag
	}
	if !n.quoted && n.tag == "" && y.Tag == "!!null" || n.tag == "!!null" {
		n.kind = null
	}
	return n
}

func (b *builder) alias(y *yaml.Node) *node {
	target := y.Alias
	if b.open[target] {
		b.fail(diag.Diagnostic{Code: "yaml-syntax", Pos: b.pos(y),
			Message: fmt.Sprintf("anchor &%s contains an alias to itself", y.Value),
			Hint:    "write the value out"})
	}
	if b.open == nil {
		b.open = make(map[*yaml.Node]bool)
	}
	b.open[target] = true
	n := b.node(target)
	delete(b.open, target)
	n.pos = b.pos(y)
	return n
}

// mapping adds the entries of y to n. Merge keys (<<) count as if their
// entries stood there, and of two the later wins, as go.yaml.in/yaml/v2 (below
// sigs.k8s.io/yaml) does it.
func (b *builder) mapping(n *node, y *yaml.Node) {
	written := make(map[string]diag.Position, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			b.mergeKey(n, v)
			continue
		}
		key, ok := b.key(k)
		if !ok {
			continue
		}
		pos := b.pos(k)
		if first, twice := written[key]; twice {
			b.diags = append(b.diags, diag.Diagnostic{Severity: diag.Error, Code: "yaml-duplicate-key", Pos: pos,
				Message: fmt.Sprintf("key %q is written twice in one mapping, first in line %d", key, first.Line),
				Hint:    fmt.Sprintf("merge both blocks under one %q; of two, all but one would be lost without a word", key),
				Related: []diag.Position{first}})
			continue
		}
		written[key] = pos
		value := b.node(v)
		if value.kind == null {
			value.pos = pos
		}
		n.put(&entry{key: key, pos: pos, value: value})
	}
}

// put adds an entry or overwrites the one with its key.
func (n *node) put(e *entry) {
	if old := n.get(e.key); old != nil {
		*old = *e
		return
	}
	n.add(e)
}

func (b *builder) mergeKey(n *node, v *yaml.Node) {
	target := v
	if target.Kind == yaml.AliasNode {
		target = target.Alias
	}
	switch {
	case target.Kind == yaml.MappingNode:
		for _, e := range b.node(v).entries {
			n.put(e)
		}
	case v.Kind == yaml.SequenceNode:
		for i := len(v.Content) - 1; i >= 0; i-- { // earlier items take precedence
			if v.Content[i].Kind == yaml.SequenceNode {
				b.badMergeKey(v.Content[i])
				continue
			}
			b.mergeKey(n, v.Content[i])
		}
	default:
		b.badMergeKey(v)
	}
}

func (b *builder) badMergeKey(v *yaml.Node) {
	b.diags = append(b.diags, diag.Diagnostic{Severity: diag.Error, Code: "yaml-key", Pos: b.pos(v),
		Message: "the merge key << wants a mapping or a list of mappings",
		Hint:    "point it to an anchor of a mapping, or quote it as \"<<\" if it is meant literally"})
}

// key returns a key as a string, converted as sigs.k8s.io/yaml converts keys
// for JSON. It reports and refuses keys that have no such form.
func (b *builder) key(y *yaml.Node) (string, bool) {
	target := y
	if y.Kind == yaml.AliasNode {
		target = y.Alias
	}
	if target.Kind == yaml.ScalarNode {
		n := b.scalar(target)
		if n.isPlainString() {
			return n.text, true
		}
		if key, ok := keyText(n); ok {
			return key, true
		}
	}
	b.diags = append(b.diags, diag.Diagnostic{Severity: diag.Error, Code: "yaml-key", Pos: b.pos(y),
		Message: "a key must be a text",
		Hint:    "null, lists and mappings can't be keys; quote the key if it is meant literally"})
	return "", false
}

// keyText asks the library itself what the scalar n becomes as a key.
func keyText(n *node) (string, bool) {
	text := n.text
	if n.quoted || n.tag != "" {
		text = n.tag + " " + strconv.Quote(n.text)
	}
	var m map[string]any
	if err := sigsyaml.Unmarshal([]byte("? "+text+"\n: 0\n"), &m); err != nil || len(m) != 1 {
		return "", false
	}
	for key := range m {
		return key, true
	}
	return "", false
}
