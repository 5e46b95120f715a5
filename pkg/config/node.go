package config

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

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
	quoted   bool // the scalar is a string whatever its text says
	pos      diag.Position
	text     string            // of a scalar, unquoted
	tag      string            // of a scalar: "!!int", "!!float", "!!bool", "!!timestamp" or "!!binary"; see scalarValue
	items    []*node           // of a sequence
	entries  []*entry          // of a mapping, in order of first appearance
	index    map[string]*entry // of a mapping with many entries; nil where few
	replaced []*node           // what earlier files had here, oldest first
}

// entry is one key of a mapping with its value.
type entry struct {
	key     string
	pos     diag.Position   // of the key, in the file that set it last
	earlier []diag.Position // of the key in earlier files, oldest first
	value   *node
	merged  bool // by a merge key, so it may be overwritten
	coerced bool // the key is a number or boolean, made a string
	deleted bool // by the null of a later file
}

func (e *entry) present() bool { return e.value.kind != null }

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
		n.index = make(map[string]*entry, 2*indexFrom)
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

// in returns the entry of a key below e that has a value other than null, or
// nil. It may be called on a nil entry.
func (e *entry) in(key string) *entry {
	if e == nil {
		return nil
	}
	return e.value.lookup(key)
}

// value returns what n means as JSON: nil, bool, float64, string, []any or
// map[string]any.
func (n *node) value() any {
	switch n.kind {
	case mapping:
		m := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			m[e.key] = e.value.value()
		}
		return m
	case sequence:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.value()
		}
		return l
	case scalar:
		return n.scalarValue()
	default:
		return nil
	}
}

// The words that are booleans in YAML 1.1 (https://yaml.org/type/bool.html).
var (
	trueWords  = []string{"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}
	falseWords = []string{"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
)

// scalarValue returns what a scalar means in YAML 1.1, as sigs.k8s.io/yaml
// (and so MicroShift) understands it: bool, float64 or string. Numbers are
// the same in all versions of the library, so the tags tell them; booleans
// are not. Timestamps stay strings.
func (n *node) scalarValue() any {
	switch {
	case n.tag == "" && n.quoted:
		return n.text
	case n.tag == "" || n.tag == "!!bool":
		switch {
		case slices.Contains(trueWords, n.text):
			return true
		case slices.Contains(falseWords, n.text):
			return false
		}
		return n.text
	}
	switch v := n.decoded().(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64, string:
		return v
	default:
		return n.text
	}
}

// decoded returns what the library makes of a scalar with a tag, or nil.
func (n *node) decoded() (v any) {
	y := yaml.Node{Kind: yaml.ScalarNode, Tag: n.tag, Value: n.text}
	if err := y.Decode(&v); err != nil {
		return nil
	}
	return v
}

// scalarText returns the text of n, and whether it is a string.
func (n *node) scalarText() (string, bool) {
	if n.kind != scalar {
		return "", false
	}
	text, ok := n.scalarValue().(string)
	return text, ok
}

// scalarBool returns the value of n, and whether it is a boolean.
func (n *node) scalarBool() (value, ok bool) {
	if n.kind != scalar {
		return false, false
	}
	value, ok = n.scalarValue().(bool)
	return value, ok
}

// keyText returns what a scalar becomes as a key of JSON, as sigs.k8s.io/yaml
// converts it (convertToJSONableObject in version 1.6), and whether that was
// another type than a string. It returns false where a key can't be that scalar.
func (n *node) keyText() (key string, coerced, ok bool) {
	switch v := n.scalarValue().(type) {
	case bool:
		return strconv.FormatBool(v), true, true
	case string:
		return v, false, true
	}
	switch v := n.decoded().(type) {
	case int:
		return strconv.Itoa(v), true, true
	case int64:
		return strconv.FormatInt(v, 10), true, true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 32), true, true
	default:
		return "", false, false
	}
}
