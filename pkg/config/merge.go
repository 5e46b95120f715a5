package config

import (
	"fmt"
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
	c := &Config{Files: make([]string, len(files))}
	for i, f := range files {
		c.Files[i] = f.Name
	}
	root, diags := mergeFiles(files)
	d := decoder{diags: diags}
	d.config(c, root)
	d.diags.Sort()
	return c, capped(d.diags)
}

// maxDiagnostics is how many problems are listed, since one line can make half
// a million.
const maxDiagnostics = 10_000

// isFull reports whether more problems would not be listed.
func isFull(l diag.List) bool { return len(l) > maxDiagnostics }

// capped shortens an endless list. What is left has an Error.
func capped(l diag.List) diag.List {
	if !isFull(l) {
		return l
	}
	return append(l[:maxDiagnostics:maxDiagnostics], diag.Diagnostic{Severity: diag.Error, Code: "limit-problems",
		Pos:     l[maxDiagnostics].Pos,
		Message: fmt.Sprintf("there are more than %d problems; from here on they are not listed", maxDiagnostics),
		Hint:    "solve those before first"})
}

// mergeFiles returns the tree that the files make together, a mapping.
func mergeFiles(files []File) (*node, diag.List) {
	root := &node{kind: mapping}
	budget := MaxValues
	searches := 0
	var m merger
	for _, f := range files {
		doc := parse(f, &budget)
		if doc.unknownAnchor != "" && searches < maxSearches {
			searches++
			relate(&doc.diags[len(doc.diags)-1], doc.unknownAnchor, files)
		}
		if !isFull(m.diags) {
			m.diags = append(m.diags, doc.diags...)
		}
		if budget < 0 {
			break // no other file can add a value, so none need be read
		}
		if doc.root == nil {
			continue
		}
		m.diags = append(m.diags, pastedObject(doc.root)...)
		m.merge(root, doc.root, "")
	}
	return root, m.diags
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
		case e.value.kind == null && !cur.present():
		case e.value.kind == null:
			m.deleted(e, cur, join(path, e.key))
			cur.supersede(e.value)
			cur.deleted = true
		default:
			m.replace(cur, e, join(path, e.key))
		}
	}
}

// replace merges or puts the value of e in the place of cur's.
func (m *merger) replace(cur, e *entry, path string) {
	cur.earlier = append(cur.earlier, cur.pos)
	cur.pos, cur.coerced, cur.deleted = e.pos, cur.coerced || e.coerced, false
	old := cur.value
	if old.kind == mapping && e.value.kind == mapping {
		m.merge(old, e.value, path)
		return
	}
	cur.supersede(e.value)
}

// supersede gives the entry another value, which remembers the one before.
func (e *entry) supersede(value *node) {
	value.replaced = append(e.value.replaced, e.value)
	e.value.replaced = nil
	e.value = value
}

// deleted warns of a null that takes away what an earlier file had set in one
// of our sections.
func (m *merger) deleted(by, old *entry, path string) {
	lost := path
	switch section := old.in(keyFeatureGates); {
	case isFull(m.diags):
		return
	case (path == keyAPIServer || path == keyKubelet) && section != nil:
		lost, old = join(path, keyFeatureGates), section
	case !within(path, pathFeatureGates) && !within(path, pathKubelet):
		return
	}
	m.diags = append(m.diags, diag.Diagnostic{Severity: diag.Warning, Code: "null-deletes", Pos: by.pos, Path: path,
		Message: fmt.Sprintf("this empty key deletes %s, which %s sets", lost, diag.PrintableFile(old.pos.File)),
		Hint:    "a key without a value is null, and null deletes; give it a value, or remove the key",
		Related: []diag.Position{old.pos}})
}

// within reports whether path is a section or lies in it.
func within(path, section string) bool {
	rest, is := strings.CutPrefix(path, section)
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// join returns the path of a key below another path. A key that is no plain
// word is quoted in brackets.
func join(path, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r > 0x7F || !isWordChar(byte(r)) }) {
		return path + "[" + diag.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// pastedObject recognises an object of OpenShift or Kubernetes that was put
// into a configuration file as it is.
func pastedObject(n *node) diag.List {
	kind, version := n.lookup("kind"), n.lookup("apiVersion")
	if kind == nil || version == nil {
		return nil
	}
	d := diag.Diagnostic{Severity: diag.Warning, Pos: kind.pos, Path: "kind"}
	switch group, _, _ := strings.Cut(version.value.text, "/"); {
	case kind.value.text == "FeatureGate" && group == "config.openshift.io":
		d.Code = "feature-gate-object"
		d.Message = "this file is an OpenShift FeatureGate object, and nothing in it applies"
		d.Hint = "move what is under its spec: to " + pathFeatureGates + ", and remove apiVersion, kind and metadata"
	case kind.value.text == "KubeletConfiguration" && group == "kubelet.config.k8s.io":
		d.Code = "kubelet-configuration-object"
		d.Message = "this file is a KubeletConfiguration object, and nothing in it applies"
		d.Hint = "move feature gates to " + pathFeatureGates + ", and other settings below kubelet: without apiVersion and kind"
	default:
		return nil
	}
	return diag.List{d}
}
