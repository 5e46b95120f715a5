package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The fields of a lock file. customNoUpgrade, featureSet and version are
// MicroShift's own (pkg/admin/prerun/featuregate_lock.go), the others ours.
const (
	keyCustom     = "customNoUpgrade"
	keyFeatureSet = "featureSet"
	keyHistory    = "history"
	keyExceptions = "specialHandlingSupportExceptionRequired"
	keyVersion    = "version"
	keyEnabled    = "enabled"
	keyDisabled   = "disabled"
	keyTime       = "time"
	keyChange     = "change"
	keyAdded      = "added"
	keyRemoved    = "removed"
	keyCounts     = "countsAgainstUpgrade"
)

const (
	maxLock  = 1 << 20 // bytes
	maxDepth = 20      // of nested mappings and lists; our own fields have five
)

// Parse reads the text of a lock file; path is only for the error, which is
// always an *UnusableError.
//
// Every lock written by this package ends with its version and a line feed, so
// one that was cut off anywhere is recognised: it lacks the one or the other.
func Parse(path string, data []byte) (*Lock, error) {
	l, err := parse(data)
	if err != nil {
		return nil, &UnusableError{Path: path, Reason: err.Error()}
	}
	return l, nil
}

func parse(data []byte) (*Lock, error) {
	switch {
	case len(data) == 0:
		return nil, errors.New("is empty")
	case len(data) > maxLock:
		return nil, fmt.Errorf("is over %d bytes", maxLock)
	}
	doc, err := document(data)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	l := &Lock{
		Section: Section{FeatureSet: r.text(doc, keyFeatureSet, keyFeatureSet), Gates: r.gates(doc, "")},
		History: r.history(get(doc, keyHistory)),
		doc:     doc,
	}
	version := r.text(doc, keyVersion, keyVersion)
	switch {
	case r.err != nil:
		return nil, r.err
	case l.FeatureSet == "":
		return nil, fmt.Errorf("has no %s; it may have been cut off", keyFeatureSet)
	case version == "":
		return nil, fmt.Errorf("has no %s; it may have been cut off", keyVersion)
	case data[len(data)-1] != '\n':
		return nil, errors.New("is cut off: its last line has no end")
	}
	if l.Version, err = ParseVersion(version); err != nil {
		return nil, fmt.Errorf("has an unreadable version: %w", err)
	}
	return l, nil
}

// document returns the only document of data, a mapping.
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("is empty: it has no YAML in it")
	case err != nil:
		return nil, notYAML(err)
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, fmt.Errorf("has a second YAML document (line %d)", more.Line)
	case !errors.Is(err, io.EOF):
		return nil, notYAML(err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("is not a YAML mapping, but %s", kind(root))
	}
	return root, vet(root, 1)
}

func notYAML(err error) error {
	// The parser's message can quote the file.
	return fmt.Errorf("is not YAML: %s", quote(strings.TrimPrefix(err.Error(), "yaml: ")))
}

// vet rejects what a lock never holds and a rewrite could not keep.
func vet(n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("is nested more than %d levels deep (line %d)", maxDepth, n.Line)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fmt.Errorf("has a YAML anchor or alias (line %d)", n.Line)
	case n.Style&yaml.TaggedStyle != 0:
		return fmt.Errorf("has a YAML tag (line %d)", n.Line)
	}
	for _, c := range n.Content {
		if err := vet(c, depth+1); err != nil {
			return err
		}
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.ShortTag() != "!!str" {
			return fmt.Errorf("has a key that is not text (line %d)", key.Line)
		}
		if line, twice := lines[key.Value]; twice {
			return fmt.Errorf("has the key %s twice (lines %d and %d)", quote(key.Value), line, key.Line)
		}
		lines[key.Value] = key.Line
	}
	return nil
}

// reader takes values out of YAML nodes and keeps the first error. Absent and
// null are the zero value everywhere, as in MicroShift.
type reader struct{ err error }

func (r *reader) want(n *yaml.Node, what, path string) {
	if r.err == nil {
		r.err = fmt.Errorf("is not a lock: %s is %s, not %s (line %d)", path, kind(n), what, n.Line)
	}
}

func (r *reader) text(m *yaml.Node, key, path string) string {
	n := get(m, key)
	switch {
	case n == nil:
		return ""
	case n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" && n.ShortTag() != "!!timestamp":
		r.want(n, "text", path)
		return ""
	}
	return n.Value
}

func (r *reader) names(m *yaml.Node, key, path string) []string {
	n := get(m, key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.want(n, "a list of names", path)
		return nil
	}
	var out []string
	for i, item := range n.Content {
		if item.ShortTag() != "!!str" {
			r.want(item, "a name", fmt.Sprintf("%s[%d]", path, i))
		}
		out = append(out, item.Value)
	}
	return union(out, nil)
}

func (r *reader) lists(m *yaml.Node, key, path string) Lists {
	n := get(m, key)
	if n != nil && n.Kind != yaml.MappingNode {
		r.want(n, "a mapping", path)
	}
	return Lists{
		Enabled:  r.names(n, keyEnabled, path+"."+keyEnabled),
		Disabled: r.names(n, keyDisabled, path+"."+keyDisabled),
	}
}

func (r *reader) gates(m *yaml.Node, prefix string) Gates {
	return Gates{
		CustomNoUpgrade: r.lists(m, keyCustom, prefix+keyCustom),
		Exceptions:      r.lists(m, keyExceptions, prefix+keyExceptions),
	}
}

func (r *reader) delta(m *yaml.Node, key, path string) Gates {
	n := get(m, key)
	if n != nil && n.Kind != yaml.MappingNode {
		r.want(n, "a mapping", path)
	}
	return r.gates(n, path+".")
}

func (r *reader) history(n *yaml.Node) []Entry {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.want(n, "a list", keyHistory)
		return nil
	}
	var out []Entry
	for i, item := range n.Content {
		path := fmt.Sprintf("%s[%d]", keyHistory, i)
		if item.Kind != yaml.MappingNode {
			r.want(item, "a mapping", path)
		}
		out = append(out, r.entry(item, path+"."))
	}
	return out
}

func (r *reader) entry(n *yaml.Node, prefix string) Entry {
	e := Entry{
		Version:              r.text(n, keyVersion, prefix+keyVersion),
		Change:               r.text(n, keyChange, prefix+keyChange),
		Added:                r.delta(n, keyAdded, prefix+keyAdded),
		Removed:              r.delta(n, keyRemoved, prefix+keyRemoved),
		CountsAgainstUpgrade: r.lists(n, keyCounts, prefix+keyCounts),
		doc:                  n,
	}
	if text := r.text(n, keyTime, prefix+keyTime); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		e.Time = t.UTC()
		// Only the years 0 to 9999 can be written again.
		if (err != nil || e.Time.Year() < 0 || e.Time.Year() > 9999) && r.err == nil {
			r.err = fmt.Errorf("is not a lock: %s is %s, not a time (line %d)", prefix+keyTime, quote(text), get(n, keyTime).Line)
		}
	}
	return e
}
