package config

import (
	"fmt"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// The keys of the configuration that this module knows.
const (
	keyAPIServer    = "apiServer"
	keyKubelet      = "kubelet"
	keyFeatureGates = "featureGates"

	keyFeatureSet            = "featureSet"
	keyCustomNoUpgrade       = "customNoUpgrade"
	keyExceptions            = "specialHandlingSupportExceptionRequired"
	keyMinimumKubeletVersion = "minimumKubeletVersion"

	keyEnabled  = "enabled"
	keyDisabled = "disabled"

	pathFeatureGates = keyAPIServer + "." + keyFeatureGates
	pathKubelet      = keyKubelet + "." + keyFeatureGates
)

var (
	sectionKeys = []string{keyFeatureSet, keyCustomNoUpgrade, keyExceptions, keyMinimumKubeletVersion}
	listsKeys   = []string{keyEnabled, keyDisabled}
)

// decoder takes our sections from the merged tree and reports what has the
// wrong key or the wrong type.
type decoder struct {
	diags diag.List
}

func (d *decoder) config(c *Config, root *node) {
	d.misplaced(root)
	if e := root.lookup(keyAPIServer); e != nil && e.value.kind != mapping {
		d.wrongType(e.value, keyAPIServer, "a mapping", "write the settings below it, each as \"key: value\" and indented")
	}
	if e := root.lookup(keyAPIServer).in(keyFeatureGates); e != nil {
		c.FeatureGates = d.featureGates(e.value)
	}
	if e := root.lookup(keyKubelet).in(keyFeatureGates); e != nil {
		c.Kubelet = d.kubelet(e.value)
	}
}

func (d *decoder) featureGates(n *node) (fg FeatureGates) {
	if n.kind != mapping {
		d.wrongType(n, pathFeatureGates, "a mapping", sectionHint(n))
		return fg
	}
	for _, e := range n.entries {
		path := join(pathFeatureGates, e.key)
		switch e.key {
		case keyFeatureSet:
			fg.FeatureSet = d.text(e.value, path, setHint(e.value))
		case keyCustomNoUpgrade:
			fg.CustomNoUpgrade = d.lists(e.value, path)
		case keyExceptions:
			fg.Exceptions = d.lists(e.value, path)
		case keyMinimumKubeletVersion:
			fg.MinimumKubeletVersion = d.text(e.value, path, `quote it and write three numbers, such as "1.36.0"`)
		default:
			d.unknownKey(e, pathFeatureGates, sectionKeys)
		}
	}
	return fg
}

func (d *decoder) lists(n *node, path string) (l Lists) {
	switch n.kind {
	case null:
		return l
	case mapping:
	default:
		d.wrongType(n, path, "a mapping", listsHint(n))
		return l
	}
	for _, e := range n.entries {
		switch e.key {
		case keyEnabled:
			l.Enabled = d.names(e.value, join(path, e.key))
		case keyDisabled:
			l.Disabled = d.names(e.value, join(path, e.key))
		default:
			d.unknownKey(e, path, listsKeys)
		}
	}
	return l
}

// names decodes a list of gate names, and those it replaced. A null is the
// same as no list.
func (d *decoder) names(n *node, path string) Names {
	v := Names{Origin: Origin{Path: path}}
	switch n.kind {
	case null:
	case sequence:
		v = d.list(n, path)
	default:
		d.wrongType(n, path, "a list", namesHint(n))
	}
	for _, old := range n.replaced {
		if old.kind == sequence {
			ignored := decoder{} // what is wrong with a replaced list does no harm
			v.Replaced = append(v.Replaced, ignored.list(old, path))
		}
	}
	return v
}

// list decodes a sequence of gate names.
func (d *decoder) list(n *node, path string) Names {
	v := Names{Origin: Origin{Pos: n.pos, Path: path}}
	d.notTooMany(len(n.items), n.pos, path)
	for i, item := range n.items[:min(len(n.items), MaxNames)] {
		itemPath := fmt.Sprintf("%s[%d]", path, i)
		name, ok := item.scalarText()
		switch {
		case !ok:
			d.wrongType(item, itemPath, "a gate name", nameHint(item))
		case d.notTooLong(name, item.pos, itemPath):
			v.V = append(v.V, Value[string]{V: name, Origin: Origin{Pos: item.pos, Path: itemPath}})
		}
	}
	return v
}

// notTooMany reports a list or mapping of more than MaxNames gates. The rest is
// left out, since each name is logged, judged and written to the lock.
func (d *decoder) notTooMany(n int, pos diag.Position, path string) {
	if n > MaxNames && !isFull(d.diags) {
		d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Error, Code: "limit-names", Pos: pos, Path: path,
			Message: fmt.Sprintf("these are %d gates, and no more than %d are allowed here", n, MaxNames),
			Hint:    "all of Kubernetes has fewer; remove what is not one"})
	}
}

// notTooLong reports a name of more than MaxNameBytes, and returns false for it.
func (d *decoder) notTooLong(name string, pos diag.Position, path string) bool {
	if len(name) <= MaxNameBytes {
		return true
	}
	if !isFull(d.diags) {
		d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Error, Code: "limit-names", Pos: pos, Path: path,
			Message: fmt.Sprintf("a name of %d bytes, and no more than %d are allowed: %s", len(name), MaxNameBytes, diag.Quote(name)),
			Hint:    "no gate has such a name; remove it"})
	}
	return false
}

// text decodes a string, and those it replaced. A null is the same as no value,
// and a list of one string is taken for that, so that its being a list is all
// that is said about it. A text of more than MaxNameBytes is cut: it is wrong
// all the same, and nobody wants to read all of it.
func (d *decoder) text(n *node, path, hint string) Value[string] {
	v := Value[string]{Origin: Origin{Path: path}}
	if n.kind != null {
		v.Origin.Pos = n.pos
		text, ok := n.scalarText()
		if !ok {
			d.wrongType(n, path, "a string", hint)
		}
		if len(n.items) == 1 {
			text, _ = n.items[0].scalarText()
		}
		v.V = cut(text)
	}
	for _, old := range n.replaced {
		if text, ok := old.scalarText(); ok {
			v.Replaced = append(v.Replaced, Value[string]{V: cut(text), Origin: Origin{Pos: old.pos, Path: path}})
		}
	}
	return v
}

func cut(text string) string {
	if len(text) <= MaxNameBytes {
		return text
	}
	return strings.ToValidUTF8(text[:MaxNameBytes], "")
}

func (d *decoder) kubelet(n *node) map[string]Value[bool] {
	if n.kind != mapping {
		d.wrongType(n, pathKubelet, "a mapping of gate names to true or false", kubeletHint(n))
		return nil
	}
	d.notTooMany(len(n.entries), n.pos, pathKubelet)
	entries := n.entries[:min(len(n.entries), MaxNames)]
	gates := make(map[string]Value[bool], len(entries))
	for _, e := range entries {
		path := join(pathKubelet, e.key)
		on, ok := e.value.scalarBool()
		switch {
		case !d.notTooLong(e.key, e.pos, path):
		case ok:
			gates[e.key] = Value[bool]{V: on, Origin: Origin{Pos: e.value.pos, Path: path}}
		case e.present():
			d.wrongType(e.value, path, "true or false", "write true or false without quotes")
		}
	}
	return gates
}

// wrongType reports a value of another type than wanted. It tells the value
// only where it is in one of our sections, since others may hold secrets.
func (d *decoder) wrongType(n *node, path, want, hint string) {
	if isFull(d.diags) {
		return
	}
	is := kindName(n)
	if within(path, pathFeatureGates) || within(path, pathKubelet) {
		is = describe(n)
	}
	d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Error, Code: "wrong-type", Pos: n.pos, Path: path,
		Message: fmt.Sprintf("%s is %s, not %s", path, is, want), Hint: hint})
}

// kindName says what a value is without telling it.
func kindName(n *node) string {
	switch n.kind {
	case null:
		return "empty"
	case sequence:
		return "a list"
	case mapping:
		return "a mapping"
	}
	switch n.scalarValue().(type) {
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	default:
		return "a string"
	}
}

// describe says what a value is, and tells a scalar.
func describe(n *node) string {
	if n.kind != scalar {
		return kindName(n)
	}
	switch v := n.scalarValue().(type) {
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case float64:
		return "the number " + diag.Printable(n.text)
	default:
		return "the string " + diag.Quote(n.text)
	}
}
