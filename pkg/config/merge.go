package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// Merge merges files in the order given and decodes the sections that this
// module needs. Each file is a JSON merge patch to those before it (RFC 7396
// section 2): mappings merge key by key, lists and scalars are replaced whole,
// null deletes. A file without content changes nothing. Values have the
// meaning of sigs.k8s.io/yaml, that is of YAML 1.1.
//
// The result never is nil. Where a file can't be read as YAML, the list says
// so and the result lacks that file.
func Merge(files []File) (*Config, diag.List) {
	c := &Config{root: &node{kind: mapping}}
	m := merger{}
	for _, f := range files {
		c.Files = append(c.Files, f.Name)
		patch, diags := parse(f)
		m.diags = append(m.diags, diags...)
		if patch == nil {
			continue
		}
		if d, is := pastedObject(patch); is {
			m.diags = append(m.diags, d)
		}
		m.merge(c.root, patch, "")
	}
	relateAnchors(m.diags, files)
	d := decoder{diags: m.diags}
	d.config(c)
	d.diags.Sort()
	return c, d.diags
}

type merger struct {
	diags diag.List
}

// merge applies patch to dst, both mappings; path is the path of dst. A null
// that deletes nothing stays in the tree, where it means the same as absence.
func (m *merger) merge(dst, patch *node, path string) {
	for _, e := range patch.entries {
		cur := dst.get(e.key)
		switch {
		case cur == nil:
			dst.add(e)
		case e.value.kind == null:
			if cur.present() {
				m.deleted(e, cur, join(path, e.key))
			}
			cur.value, cur.deleted = e.value, true
		default:
			m.replace(cur, e, join(path, e.key))
		}
	}
}

// replace merges or puts the value of e in the place of cur's.
func (m *merger) replace(cur, e *entry, path string) {
	cur.earlier = append(cur.earlier, cur.pos)
	cur.pos, cur.deleted = e.pos, false
	old := cur.value
	if old.kind == mapping && e.value.kind == mapping {
		m.merge(old, e.value, path)
		return
	}
	e.value.replaced = append(old.replaced, old)
	old.replaced = nil
	cur.value = e.value
}

// deleted warns of a null that takes away what an earlier file had set in one
// of our sections.
func (m *merger) deleted(by, old *entry, path string) {
	lost := path
	switch {
	case (path == keyAPIServer || path == keyKubelet) && old.value.lookup(keyFeatureGates) != nil:
		lost = join(path, keyFeatureGates)
	case !within(path, pathFeatureGates) && !within(path, pathKubelet):
		return
	}
	m.diags = append(m.diags, diag.Diagnostic{Severity: diag.Warning, Code: "null-deletes", Pos: by.pos, Path: path,
		Message: fmt.Sprintf("this empty key deletes %s, which %s set", lost, old.pos.File),
		Hint:    "a key without a value is null, and null deletes; give it a value, or remove the key",
		Related: []diag.Position{old.pos}})
}

func within(path, section string) bool {
	return path == section || strings.HasPrefix(path, section+".")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// pastedObject recognises an OpenShift FeatureGate object that was put into a
// configuration file as it is.
func pastedObject(n *node) (diag.Diagnostic, bool) {
	kind, version := n.get("kind"), n.get("apiVersion")
	if kind == nil || kind.value.text != "FeatureGate" ||
		version == nil || !strings.HasPrefix(version.value.text, "config.openshift.io/") {
		return diag.Diagnostic{}, false
	}
	return diag.Diagnostic{Severity: diag.Warning, Code: "feature-gate-object", Pos: kind.pos, Path: "kind",
		Message: "this file is an OpenShift FeatureGate object, and nothing in it applies",
		Hint:    "move what is under its spec: to apiServer.featureGates, and remove apiVersion, kind and metadata"}, true
}

var anchorName = regexp.MustCompile(`^alias \*(\S+):`)

// maxRelated is the number of aliases for which other files are searched, so
// that the time stays linear in the number of files.
const maxRelated = 10

// relateAnchors adds to aliases without an anchor the places in other files
// that define one of that name.
func relateAnchors(diags diag.List, files []File) {
	searched := 0
	for i, d := range diags {
		m := anchorName.FindStringSubmatch(d.Message)
		if d.Code != "yaml-alias" || m == nil || searched == maxRelated {
			continue
		}
		searched++
		anchor := regexp.MustCompile(`(?m)(?:^|[\s\[,{])&` + regexp.QuoteMeta(m[1]) + `(?:\s|$)`)
		for _, f := range files {
			if at := anchor.FindIndex(f.Data); at != nil && f.Name != d.Pos.File {
				src := source{name: f.Name, data: f.Data}
				diags[i].Related = append(diags[i].Related, src.at(at[0]+strings.IndexByte(string(f.Data[at[0]:at[1]]), '&')))
			}
		}
	}
}
