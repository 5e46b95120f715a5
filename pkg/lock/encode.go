package lock

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// encode returns the text of l: the fields in alphabetical order, as MicroShift
// writes them, then the unknown ones, and the version at the end. It fails for a
// lock that could not be read back.
func (l *Lock) encode() ([]byte, error) {
	null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	data, err := marshal(mapping(l.doc,
		// MicroShift writes both lists, an empty one as null.
		field{keyCustom, listsNode(get(l.doc, keyCustom), l.CustomNoUpgrade, null)},
		field{keyFeatureSet, textNode(l.FeatureSet)},
		field{keyHistory, historyNode(l.History)},
		field{keyExceptions, listsNode(get(l.doc, keyExceptions), l.Exceptions, nil)},
		field{keyVersion, textNode(l.Version.String())},
	))
	if err != nil {
		return nil, err
	}
	if _, err := parse(data); err != nil {
		return nil, fmt.Errorf("the lock to write %w", err)
	}
	return data, nil
}

func marshal(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent() // as sigs.k8s.io/yaml does
	err := errors.Join(enc.Encode(n), enc.Close())
	return b.Bytes(), err
}

func historyNode(history []Entry) *yaml.Node {
	if len(history) == 0 {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, e := range history {
		var at *yaml.Node
		if !e.Time.IsZero() {
			at = textNode(e.Time.UTC().Format(time.RFC3339Nano))
		}
		list.Content = append(list.Content, mapping(e.doc,
			field{keyTime, at},
			field{keyVersion, orNil(textNode(e.Version))},
			field{keyChange, orNil(textNode(e.Change))},
			field{keyAdded, gatesNode(get(e.doc, keyAdded), e.Added)},
			field{keyRemoved, gatesNode(get(e.doc, keyRemoved), e.Removed)},
			field{keyCounts, listsNode(get(e.doc, keyCounts), e.CountsAgainstUpgrade, nil)},
		))
	}
	return list
}

func gatesNode(old *yaml.Node, g Gates) *yaml.Node {
	return orNil(mapping(old,
		field{keyCustom, listsNode(get(old, keyCustom), g.CustomNoUpgrade, nil)},
		field{keyExceptions, listsNode(get(old, keyExceptions), g.Exceptions, nil)},
	))
}

// listsNode writes empty for a list without a name; nil leaves such a list out.
func listsNode(old *yaml.Node, l Lists, empty *yaml.Node) *yaml.Node {
	return orNil(mapping(old,
		field{keyDisabled, namesNode(l.Disabled, empty)},
		field{keyEnabled, namesNode(l.Enabled, empty)},
	))
}

func namesNode(names []string, empty *yaml.Node) *yaml.Node {
	if len(names) == 0 {
		return empty
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, name := range union(names, nil) {
		list.Content = append(list.Content, textNode(name))
	}
	return list
}

type field struct {
	key   string
	value *yaml.Node // nil leaves the field out
}

// mapping returns fields together with those of old that have another name,
// which stand before the last one.
func mapping(old *yaml.Node, fields ...field) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	known := make(map[string]bool, len(fields))
	add := func(f field) {
		known[f.key] = true
		if f.value != nil {
			m.Content = append(m.Content, textNode(f.key), f.value)
		}
	}
	last := fields[len(fields)-1]
	known[last.key] = true
	for _, f := range fields[:len(fields)-1] {
		add(f)
	}
	for key, value := range pairs(old) {
		if !known[key] {
			add(field{key, plain(value)})
		}
	}
	add(last)
	return m
}

// orNil returns n, or nil where n holds nothing.
func orNil(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 && n.Value == "" {
		return nil
	}
	return n
}

// plain returns a copy of n without comments and block styles, which the
// encoder does not always write in a way that reads back the same. A scalar
// without quotes stays so, whatever its text means in other versions of YAML.
func plain(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode {
		if n.Style != 0 || strings.Contains(n.Value, "\n") {
			return textNode(n.Value)
		}
		return &yaml.Node{Kind: n.Kind, Tag: n.ShortTag(), Value: n.Value}
	}
	c := &yaml.Node{Kind: n.Kind}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			c.Content = append(c.Content, plain(item))
		}
		return c
	}
	for key, value := range pairs(n) {
		c.Content = append(c.Content, textNode(key), plain(value))
	}
	return c
}

// A word like this is text in every version of YAML, unless it is one of
// notText.
var (
	word    = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9.-]*|[0-9]+\.[0-9]+\.[0-9]+)$`)
	notText = []string{"y", "yes", "on", "true", "n", "no", "off", "false", "null"}
)

// textNode returns a string that MicroShift, which reads YAML 1.1, and this
// package read alike.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if !word.MatchString(s) || slices.Contains(notText, strings.ToLower(s)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// pairs returns the fields of the mapping m; none where m is something else.
func pairs(m *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if m == nil || m.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i < len(m.Content); i += 2 {
			if !yield(m.Content[i].Value, m.Content[i+1]) {
				return
			}
		}
	}
}

// get returns the value of key in the mapping m, nil where it is absent or null.
func get(m *yaml.Node, key string) *yaml.Node {
	for k, value := range pairs(m) {
		if k == key && value.ShortTag() != "!!null" {
			return value
		}
	}
	return nil
}

// kind names what n is, for people.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a time"
	default:
		return "text"
	}
}
