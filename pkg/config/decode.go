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

func (d *decoder) config(c *Config) {
	d.misplaced(c.root)
	if e := c.root.lookup(keyAPIServer); e != nil {
		if e.value.kind != mapping {
			d.wrongType(e.value, keyAPIServer, "a mapping", "")
		} else {
			d.apiServer(&c.FeatureGates, e.value)
		}
	}
	if e := c.root.lookup(keyKubelet).in(keyFeatureGates); e != nil {
		c.Kubelet = d.kubelet(e.value)
	}
}

// in returns the entry of a key below e, or nil.
func (e *entry) in(key string) *entry {
	if e == nil {
		return nil
	}
	return e.value.lookup(key)
}

func (d *decoder) apiServer(fg *FeatureGates, n *node) {
	e := n.lookup(keyFeatureGates)
	if e == nil {
		return
	}
	if e.value.kind != mapping {
		d.wrongType(e.value, pathFeatureGates, "a mapping", "give it the keys "+strings.Join(sectionKeys, ", "))
		return
	}
	for _, e := range e.value.entries {
		path := join(pathFeatureGates, e.key)
		switch e.key {
		case keyFeatureSet:
			fg.FeatureSet = d.text(e.value, path, "write one of the feature set names")
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
}

func (d *decoder) lists(n *node, path string) (l Lists) {
	if n.kind == null {
		return l
	}
	if n.kind != mapping {
		d.wrongType(n, path, "a mapping", "put the gates below it, in the lists enabled and disabled")
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

// names decodes a list of gate names, and those it replaced. A null is an
// empty list.
func (d *decoder) names(n *node, path string) Names {
	v := d.list(n, path)
	for _, old := range n.replaced {
		ignored := decoder{} // what is wrong with a replaced list does no harm
		v.Replaced = append(v.Replaced, ignored.list(old, path))
	}
	return v
}

func (d *decoder) list(n *node, path string) Names {
	v := Names{Origin: Origin{Pos: n.pos, Path: path}}
	switch n.kind {
	case null:
	case sequence:
		for i, item := range n.items {
			itemPath := fmt.Sprintf("%s[%d]", path, i)
			if name, ok := item.yamlValue().(string); ok && item.kind == scalar {
				v.V = append(v.V, Value[string]{V: name, Origin: Origin{Pos: item.pos, Path: itemPath}})
				continue
			}
			d.wrongType(item, itemPath, "a gate name", nameHint(item))
		}
	case mapping:
		d.wrongType(n, path, "a list", "write the gates as list items: \"- "+firstKey(n, "GateName")+"\"")
	default:
		d.wrongType(n, path, "a list", "write it as a list item: \"- "+printable(n.text)+"\"")
	}
	return v
}

// nameHint says how to write the name that a wrong list item seems to mean.
func nameHint(item *node) string {
	switch {
	case item.kind == null:
		return "remove the empty item, or write a name behind the dash"
	case item.lookup("name") != nil:
		return "write the bare name: \"- " + printable(item.lookup("name").value.text) + "\""
	case item.kind == mapping:
		return "write the bare name: \"- " + firstKey(item, "GateName") + "\"; the list already says whether it is enabled"
	case item.kind == sequence:
		return "write each name as an item of the outer list"
	default:
		return "write the name of a feature gate; booleans and numbers are none"
	}
}

func firstKey(n *node, otherwise string) string {
	if len(n.entries) == 0 {
		return otherwise
	}
	return printable(n.entries[0].key)
}

func (d *decoder) text(n *node, path, hint string) Value[string] {
	v := Value[string]{Origin: Origin{Pos: n.pos, Path: path}}
	if n.kind != null {
		text, ok := n.yamlValue().(string)
		if !ok || n.kind != scalar {
			d.wrongType(n, path, "a string", hint)
		}
		v.V = text
	}
	for _, old := range n.replaced {
		text, _ := old.yamlValue().(string)
		v.Replaced = append(v.Replaced, Value[string]{V: text, Origin: Origin{Pos: old.pos, Path: path}})
	}
	return v
}

func (d *decoder) kubelet(n *node) map[string]Value[bool] {
	if n.kind != mapping {
		d.wrongType(n, pathKubelet, "a mapping of gate names to true or false", "write each gate as \"Name: true\" or \"Name: false\"")
		return nil
	}
	gates := make(map[string]Value[bool], len(n.entries))
	for _, e := range n.entries {
		if !e.present() {
			continue
		}
		path := join(pathKubelet, e.key)
		on, ok := e.value.yamlValue().(bool)
		if !ok {
			d.wrongType(e.value, path, "true or false", "write true or false without quotes")
			continue
		}
		gates[e.key] = Value[bool]{V: on, Origin: Origin{Pos: e.value.pos, Path: path}}
	}
	return gates
}

func (d *decoder) wrongType(n *node, path, want, hint string) {
	d.diags = append(d.diags, diag.Diagnostic{Severity: diag.Error, Code: "wrong-type", Pos: n.pos, Path: path,
		Message: fmt.Sprintf("%s is %s, not %s", path, describe(n), want), Hint: hint})
}

func describe(n *node) string {
	switch n.kind {
	case null:
		return "empty"
	case sequence:
		return "a list"
	case mapping:
		return "a mapping"
	}
	switch v := n.yamlValue().(type) {
	case nil:
		return "empty"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case float64:
		return "the number " + printable(n.text)
	default:
		return "the string " + quote(n.text)
	}
}
