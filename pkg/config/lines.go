package config

import (
	"slices"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// SourceLines returns a function for diag.Printer's Source: it gives the text
// of a line as far as it may be shown. A configuration can hold secrets
// outside the sections that this module reads, so it gives
//
//   - the whole line where it belongs to apiServer.featureGates or
//     kubelet.featureGates, which only block style shows without doubt;
//   - the key alone where the position is that of a key that begins its line,
//     unless the file is no YAML, so that keys can't be told from other text;
//   - nothing anywhere else.
func SourceLines(files []File) func(diag.Position) string {
	byName := make(map[string]File, len(files))
	for _, f := range files {
		byName[f.Name] = f
	}
	var src *source // of the last file, since diagnostics are sorted by file
	var isYAML bool
	return func(p diag.Position) string {
		if src == nil || src.name != p.File {
			f, ok := byName[p.File]
			if !ok {
				return ""
			}
			_, err := documents(f.Data)
			src, isYAML = newSource(f), err == nil
		}
		switch {
		case sectionPath(src, p.Line) != "":
			return src.line(p.Line)
		case isYAML:
			return keyAlone(src.line(p.Line), p.Column)
		default:
			return ""
		}
	}
}

var leadingKey = pattern(`^([\s-]*)(["']?[\w.-]+["']?)\s*:(?:\s|$)`)

// keyAlone returns the beginning of a line up to its key, if that stands at
// column.
func keyAlone(line string, column int) string {
	m := leadingKey().FindStringSubmatch(line)
	if m == nil || len(m[1]) != column-1 {
		return ""
	}
	rest := strings.TrimSpace(line[len(m[0]):])
	if rest == "" {
		return m[1] + m[2] + ":"
	}
	return m[1] + m[2] + ": …"
}

var (
	keyOfLine  = pattern(`^[ \t]*(?:- +)?["']?([\w.-]+)["']?[ \t]*:(?:[ \t]|$)`)
	keyOfBlock = pattern(`^[ \t]*["']?([\w.-]+)["']?[ \t]*:[ \t]*(?:#.*)?$`)
)

// sectionPath returns blockPath where that lies in one of our sections, else "".
func sectionPath(src *source, i int) string {
	path := blockPath(src, i)
	if within(path, pathFeatureGates) || within(path, pathKubelet) {
		return path
	}
	return ""
}

// blockPath returns the YAML path of line i, its own key included, by
// indentation alone: it works in a file that is no YAML. It returns "" where
// the line lies in anything else than blocks whose keys stand on lines of
// their own, such as in a block of text or in brackets.
func blockPath(src *source, i int) string {
	line := src.line(i)
	var keys []string
	if m := keyOfLine().FindStringSubmatch(line); m != nil {
		keys = append(keys, m[1])
	}
	level, isItem := indent(line), strings.HasPrefix(strings.TrimLeft(line, " \t"), "-")
	for i--; i > 0 && (level > 0 || isItem); i-- {
		above := src.line(i)
		n := indent(above)
		if !hasContent(above) || n > level || n == level && (!isItem || strings.HasPrefix(above[n:], "-")) {
			continue
		}
		m := keyOfBlock().FindStringSubmatch(above)
		if m == nil {
			return ""
		}
		keys = append(keys, m[1])
		level, isItem = n, false
	}
	path := ""
	for _, key := range slices.Backward(keys) {
		path = join(path, key)
	}
	if level > 0 || isItem {
		return ""
	}
	return path
}

// indent returns the number of spaces and tabs that a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// hasContent reports whether a line has more than space and a comment.
func hasContent(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return line != "" && line[0] != '#'
}
