package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// builder turns the nodes of one file into a tree of values: aliases and merge
// keys resolved, keys as strings, positions on the values.
type builder struct {
	src      *source
	budget   *int // values that may still be built, in all files
	diags    diag.List
	open     map[*yaml.Node]bool // nodes with an anchor that are being built
	aliases  int                 // how many aliases are being expanded, one in the other
	outer    *yaml.Node          // the outermost of them
	expanded int                 // bytes of alias expansion so far
	depth    int
	path     []step // on the way to the value being built
}

// step is one step of a YAML path: a key, or else an index.
type step struct {
	key   string
	index int
	isKey bool
}

// stop is what builder panics with to abandon a file; build recovers it.
type stop struct{}

func (b *builder) report(y *yaml.Node, d diag.Diagnostic) {
	if isFull(b.diags) {
		return
	}
	d.Severity, d.Pos = diag.Error, b.pos(y)
	for _, s := range b.path {
		if s.isKey {
			d.Path = join(d.Path, s.key)
		} else {
			d.Path = fmt.Sprintf("%s[%d]", d.Path, s.index)
		}
	}
	b.diags = append(b.diags, d)
}

func (b *builder) fail(y *yaml.Node, d diag.Diagnostic) {
	b.report(y, d)
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
	return diag.Position{File: b.src.name, Line: y.Line, Column: y.Column}
}

func (b *builder) node(y *yaml.Node) *node {
	b.depth++
	b.limits(y)
	if y.Anchor != "" {
		b.enter(y)
		defer delete(b.open, y)
	}
	n := &node{pos: b.pos(y)}
	switch y.Kind {
	case yaml.AliasNode:
		n = b.alias(y)
	case yaml.MappingNode:
		n.kind = mapping
		b.mapping(n, y)
	case yaml.SequenceNode:
		n.kind = sequence
		n.items = make([]*node, 0, len(y.Content))
		for i, c := range y.Content {
			b.path = append(b.path, step{index: i})
			n.items = append(n.items, b.node(c))
			b.path = b.path[:len(b.path)-1]
		}
	default:
		b.scalar(n, y)
	}
	b.depth--
	return n
}

// limits abandons the file where y exceeds one.
func (b *builder) limits(y *yaml.Node) {
	if b.depth > MaxNesting {
		b.fail(y, tooDeep)
	}
	switch *b.budget--; {
	case *b.budget >= 0:
	case b.aliases > 0:
		b.fail(b.outer, diag.Diagnostic{Code: "limit-alias",
			Message: fmt.Sprintf("with what this alias expands to, the configuration has more than %d values in all; no further file is looked at", MaxValues),
			Hint:    "write the values out instead of nesting aliases in aliases"})
	default:
		b.fail(y, diag.Diagnostic{Code: "limit-values",
			Message: fmt.Sprintf("with this file the configuration has more than %d values in all; no further file is looked at", MaxValues),
			Hint:    "remove what is not needed"})
	}
	if b.aliases == 0 {
		return
	}
	if b.expanded += len(y.Value) + 1; b.expanded > MaxAliasBytes {
		b.fail(b.outer, diag.Diagnostic{Code: "limit-alias",
			Message: fmt.Sprintf("aliases expand to more than %d bytes", MaxAliasBytes),
			Hint:    "write the values out instead of nesting aliases in aliases"})
	}
}

var tooDeep = diag.Diagnostic{Code: "limit-nesting",
	Message: fmt.Sprintf("nested deeper than %d levels", MaxNesting),
	Hint:    "flatten the file; no MicroShift setting needs such depth"}

func (b *builder) scalar(n *node, y *yaml.Node) {
	n.kind, n.text = scalar, y.Value
	n.quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	tagged := y.Style&yaml.TaggedStyle != 0
	switch y.Tag {
	case "!!int", "!!float":
		n.tag = y.Tag
	case "!!bool", "!!timestamp", "!!binary":
		if tagged {
			n.tag = y.Tag
		}
	case "!!null":
		if tagged || !n.quoted {
			*n = node{pos: n.pos}
			return
		}
	default:
		n.quoted = n.quoted || tagged // any other tag makes it a string
	}
	if !n.quoted && n.tag == "!!float" && strings.ContainsAny(n.text, "nN") {
		b.report(y, diag.Diagnostic{Code: "yaml-number",
			Message: "infinity and not-a-number are no values of a configuration",
			Hint:    "write a number, or quote it if a string is meant"})
	}
}

// alias returns the value of the anchor, at the position of the alias.
func (b *builder) alias(y *yaml.Node) *node {
	target := y.Alias
	if b.open[target] {
		b.fail(y, diag.Diagnostic{Code: "yaml-alias",
			Message: fmt.Sprintf("anchor &%s contains an alias to itself", diag.Printable(y.Value)),
			Hint:    "write the value out"})
	}
	if b.aliases++; b.aliases == 1 {
		b.outer = y
	}
	n := b.node(target)
	b.aliases--
	n.pos = b.pos(y)
	return n
}

func (b *builder) enter(y *yaml.Node) {
	if b.open == nil {
		b.open = make(map[*yaml.Node]bool)
	}
	b.open[y] = true
}

// mapping adds the entries of y to n. Merge keys (<<) count as if their
// entries stood there, and of two the later wins, as go.yaml.in/yaml/v2 (below
// sigs.k8s.io/yaml) does it.
func (b *builder) mapping(n *node, y *yaml.Node) {
	n.entries = make([]*entry, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" && k.Value == "<<" {
			b.mergeKey(n, v)
			continue
		}
		e, ok := b.key(k)
		if !ok {
			b.node(v) // for its own problems
			continue
		}
		b.path = append(b.path, step{key: e.key, isKey: true})
		e.value = b.node(v)
		if e.value.kind == null {
			e.value.pos = e.pos
		}
		if old := n.get(e.key); old == nil {
			n.add(e)
		} else {
			b.again(k, old, e)
		}
		b.path = b.path[:len(b.path)-1]
	}
}

// again handles a key that the mapping already has.
func (b *builder) again(k *yaml.Node, old, e *entry) {
	if old.merged && !old.coerced && !e.coerced {
		old.pos, old.value, old.merged = e.pos, e.value, e.merged
		return
	}
	if isFull(b.diags) {
		return
	}
	first := old.pos
	if len(old.earlier) > 0 {
		first = old.earlier[0]
	}
	b.report(k, diag.Diagnostic{Code: "yaml-duplicate-key",
		Message: fmt.Sprintf("key %s is written twice in one mapping, first in line %d", diag.Quote(e.key), first.Line),
		Hint:    fmt.Sprintf("merge both blocks under one %s; of two, all but one would be lost without a word", diag.Printable(e.key)),
		Related: []diag.Position{first}})
	if e.value.kind != null { // let the problems below both be found
		new(merger).replace(old, e, "")
	}
}

// mergeKey adds the entries of the mappings that a merge key points to.
func (b *builder) mergeKey(n *node, v *yaml.Node) {
	maps := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		maps = slices.Clone(v.Content)
		slices.Reverse(maps) // earlier ones take precedence
	}
	for _, y := range maps {
		target := y
		if y.Kind == yaml.AliasNode {
			target = y.Alias
		}
		if target.Kind != yaml.MappingNode {
			b.report(y, diag.Diagnostic{Code: "yaml-key",
				Message: "the merge key << wants a mapping or a list of mappings",
				Hint:    "point it to an anchor of a mapping, or quote it as \"<<\" if it is meant literally"})
			continue
		}
		for _, e := range b.node(y).entries {
			b.mergeEntry(n, y, e)
		}
	}
}

// mergeEntry adds an entry that comes from a merge key at y. It overwrites
// one that was written before the merge key.
func (b *builder) mergeEntry(n *node, y *yaml.Node, e *entry) {
	switch old := n.get(e.key); {
	case old == nil:
		e.merged = true
		n.add(e)
	case old.coerced || e.coerced: // which one wins is left to chance
		b.again(y, old, e)
	case old.merged:
		old.pos, old.value = e.pos, e.value
	default:
		old.value = e.value
	}
}

// key returns an entry with the key y, without a value. It reports and refuses
// keys that JSON does not have.
func (b *builder) key(y *yaml.Node) (*entry, bool) {
	target := y
	if y.Kind == yaml.AliasNode {
		target = y.Alias
	}
	if target.Kind == yaml.ScalarNode {
		n := &node{}
		b.scalar(n, target)
		if key, coerced, ok := n.keyText(); ok && n.kind == scalar {
			return &entry{key: key, pos: b.pos(y), coerced: coerced}, true
		}
	}
	d := diag.Diagnostic{Code: "yaml-key", Message: "a key must be a text",
		Hint: "null, lists and mappings can't be keys; quote the key if it is meant literally"}
	if target.Kind == yaml.MappingNode {
		d.Message, d.Hint = template(d.Message, d.Hint, b.src.line(y.Line))
	}
	b.report(y, d)
	return nil, false
}
