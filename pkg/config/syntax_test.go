package config

import (
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// TestSyntax breaks files in the ways that people do, and wants the line where
// the fault is.
func TestSyntax(t *testing.T) {
	for _, tt := range []struct {
		name, text, place string
		message, hint     string
	}{
		{"tabs", "apiServer:\n\tfeatureGates:\n\t\tfeatureSet: X\n", "a:2:1", "a tab indents this line", "replace each tab by spaces"},
		{"tabs behind spaces", "apiServer:\n  featureGates:\n  \tfeatureSet: X\n", "a:3:3", "a tab indents this line", "replace each tab by spaces"},
		{"tabs below a value", "dns:\n  a: b\n\tc: d\n", "a:3:1", "a tab indents this line", "replace each tab by spaces"},
		{"tabs and CR LF", "dns:\r\n  a: 1\r\napiServer:\r\n\tfeatureGates:\r\n", "a:4:1", "a tab indents this line", "replace each tab by spaces"},
		{"tabs behind a byte order mark", "\uFEFFdns:\n\ta: 1\n", "a:2:1", "a tab indents this line", "replace each tab by spaces"},
		{"tabs before a list item", "a:\n  b:\n\t- c\n", "a:3:1", "a tab indents this line", "replace each tab by spaces"},

		{"no colon, first line", "apiServer\n  featureGates:\n    featureSet: X\n", "a:1:1", "a colon is missing at the end of this line", `write "apiServer:"`},
		{"no colon, in between", "dns: {}\napiServer\n  featureGates:\n    featureSet: X\n", "a:2:1", "a colon with a space behind it is missing", `write "apiServer:"`},
		{"no colon, deeper", "apiServer:\n  featureGates # ours\n\n  # the set\n    featureSet: X\n", "a:2:3", "a colon is missing at the end of this line", `write "featureGates:"`},
		{"no colon, last line", "a: 1\nb\n", "a:2:1", "a colon with a space behind it is missing", `write "key:" if that is a key, "- item" if it is a list item`},
		{"no colon, but a text", "a: 1\nto be done\nb: 2\n", "a:2:1", "a colon with a space behind it is missing", `write "key: value"`},
		{"no space behind the colon", "a: 1\nb:2\nc: 3\n", "a:2:1", "a colon with a space behind it is missing", `write "key: value"`},
		{"a second colon", "z: 1\na: b: c\n", "a:2:5", "a colon stands where no key can be", "put a value that holds \": \" in quotes"},
		{"a second colon, first line", "a: b: c\n", "a:1:5", "a colon stands where no key can be", "quotes"},
		{"equals sign", "apiServer:\n  featureGates:\n    featureSet = X\n    customNoUpgrade: {}\n", "a:3:5", "a colon with a space behind it is missing", `write "featureSet: value"`},
		{"no colon before a value", "apiServer:\n  featureGates:\n    customNoUpgrade: {}\n    featureSet X\n", "a:4:5", "a colon with a space behind it is missing", `write "featureSet: value"`},

		{"too deep", section("featureSet: X", "  customNoUpgrade: {}"), "a:4:7", "a colon stands where no key can be", "indent the line like the other keys of its block"},
		{"not deep enough", section("featureSet: X") + "   customNoUpgrade: {}\n", "a:4:4", "this line is indented like no block above it", "indent it exactly like the other lines of its block"},
		{"a list not deep enough", "a:\n  b:\n    - c\n   - d\n", "a:4:4", "this line is indented like no block above it", "indent it exactly"},
		{"an item in a mapping", "a: 1\n- b\n", "a:2:1", "this line is indented like no block above it", "indent it exactly"},
		{"a key in a list", "a:\n  - b\n  c: d\n", "a:3:3", "this line stands in a list but is no list item", `begin it with "- "`},
		{"no dash", "a:\n  - b\n  c\n  - d\n", "a:3:3", "a colon with a space behind it is missing", `"- item" if it is a list item`},
		{"items behind the key", section("customNoUpgrade:", "  enabled: - A", "           - B"), "a:4:16", "a list can't begin behind its key", "write the list as [A, B]"},

		{"bracket not closed", section("customNoUpgrade:", "  enabled: [A, B", "  disabled: [C]"), "a:4:16", "the bracket that opens here is not closed", "close it"},
		{"bracket not closed, at the end", section("customNoUpgrade:", "  enabled: [A, B"), "a:4:16", "the bracket that opens here is not closed", "close it"},
		{"brace not closed", "a: {b: c\nd: e\n", "a:1:4", "the bracket that opens here is not closed", "close it"},
		{"only opened", "a: [[[", "a:1:6", "the bracket that opens here is not closed", "close it"},
		{"closed twice", section("customNoUpgrade:", "  enabled: [A, B]]"), "a:4:7", "the quotes or brackets in this line do not match", "close each quote and bracket once"},
		{"closed otherwise", "z: 1\na: [b}\n", "a:2:4", "a comma or the closing bracket is missing", "put a comma"},
		{"no comma over lines", "a: [\"b\"\n  \"c\"]\n", "a:2:3", "a comma or a closing bracket is missing before this", "put a comma between the items"},
		{"no comma in a line", "z: 1\na: [\"b\" \"c\"]\n", "a:2:4", "a comma or the closing bracket is missing", "put a comma between the items"},
		{"no comma in JSON", "{\n  \"apiServer\": {\n    \"a\": 1\n    \"b\": 2\n  }\n}\n", "a:4:5", "a comma or a closing bracket is missing before this", "put a comma"},
		{"a bracket alone", "z: 1\na: ]\n", "a:2:4", "a value is missing here", "in quotes"},
		{"a comma alone", "z: 1\na: ,b\n", "a:2:4", "a value is missing here", "in quotes"},

		{"quote not closed", "z: 1\na: \"b\nc: d\ne: f\n", "a:2:4", "the quote that opens here is never closed", "close it"},
		{"quote not closed, first line", "a: 'b\nc: d\n", "a:1:4", "the quote that opens here is never closed", "close it"},
		{"quote not closed, last line", "a: b\nc: 'd", "a:2:4", "the quote that opens here is never closed", "close it"},
		{"quote closed by another", "z: 1\na: \"b\nc: \"d\"\n", "a:2:4", "the quote that opens here is closed in another line", "close each quote"},
		{"apostrophe in quotes", "z: 1\na: 'it's'\n", "a:2:1", "the quotes or brackets in this line do not match", "write '' for '"},
		{"text behind quotes", "z: 1\na: \"b\" c\n", "a:2:1", "something follows the closing one", "close each quote"},
		{"backslash", "z: 1\na: \"C:\\data\"\n", "a:2:7", "this backslash begins no escape", "use single quotes"},
		{"backslash, first line", "a: \"\\d\"\n", "a:1:5", "this backslash begins no escape", "use single quotes"},

		{"at sign", "z: 1\na: @b\n", "a:2:4", "no value can begin with this character", "in quotes"},
		{"backquote", "z: 1\na:\n  - `b`\n", "a:3:5", "no value can begin with this character", "in quotes"},
		{"percent", "z: 1\n%b: 1\n", "a:2:1", "a line that begins with % is a directive", "in quotes"},
		{"asterisk", "z: 1\na:\n  - *.example.com\n", "a:3:5", "& and * begin anchors and aliases", "in quotes"},
		{"ampersand", "z: 1\na: & b\n", "a:2:4", "& and * begin anchors and aliases", "in quotes"},
		{"exclamation mark", "z: 1\na: !b!c d\n", "a:2:4", "begins with ! is a tag", "in quotes"},
		{"greater than", "z: 1\na: >=1.36\n", "a:2:4", "| and > begin a block of text", "in quotes"},
		{"YAML 1.2", "%YAML 1.2\n---\na: 1\n", "a:1:1", "YAML 1.1 only", "remove the %YAML line"},
		{"directive twice", "%YAML 1.1\n%YAML 1.1\n---\na: 1\n", "a:2:1", "twice", "remove one"},
		{"end of document", "a: 1\n...\nb: 2\n", "a:3:1", "behind the end of the document there is more", `remove the line "..."`},

		{"more behind braces", "{a: 1}\nb: 2\n", "a:2:1", "behind the end of the document there is more", "make it one mapping"},
		{"directive without document", "%YAML 1.1\na: 1\n", "a:2:1", `has to begin with a line "---"`, "remove the % lines"},

		{"template", "z: 1\n{{- if .Values.x }}\na: 1\n{{- end }}\n", "a:2:1", "a template whose values were not filled in", "render the template first"},
		{"another template", "z: 1\n{% if x %}\na: 1\n", "a:2:1", "a template whose values were not filled in", "render"},
		{"merge conflict", "a:\n  b: 1\n<<<<<<< HEAD\n  c: 1\n=======\n  c: 2\n>>>>>>> branch\n", "a:3:1", "the mark of a merge conflict", "keep one of both versions"},
		{"non-breaking space", "z: 1\na:\u00a0b\nc: d\n", "a:2:3", "the non-breaking space U+00A0", "ordinary space"},
		{"ideographic space", "z: 1\na:\u3000b\nc: d\n", "a:2:3", "the character U+3000", "ordinary space"},
		{"control character", "a: 1\nb: \"x\x01\"\n", "a:2:6", "the control character U+0001 is not allowed", "remove it"},
		{"escape sequence", "a: \x1b[0m\n", "a:1:4", "the control character U+001B is not allowed", "remove it"},
		{"NUL", "a: 1\nb: \x00\x00\n", "a:2:4", "the control character U+0000 is not allowed", "remove it"},
		{"DEL", "é: \x7f\n", "a:1:4", "the control character U+007F is not allowed", "remove it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := problem{tt.place, "error", "yaml-syntax", "", tt.message, tt.hint, ""}
			switch {
			case strings.HasPrefix(tt.message, "a tab"):
				want.code = "yaml-tab"
			case strings.HasPrefix(tt.place, "a:2:3") && strings.Contains(tt.message, "before this"):
				want.related = "a:1:4"
			case strings.Contains(tt.message, "before this"):
				want.related = "a:2:16"
			}
			files := []File{{Name: "a", Data: []byte(tt.text)}}
			if _, got := Merge(files); len(got) == 1 {
				want.path = got[0].Path // that is another test
			}
			checkProblems(t, []string{tt.text}, []problem{want})
			// A good file before or behind makes no difference.
			if _, got := Merge(append(files, File{Name: "b", Data: []byte("a: 1\n")})); len(got) != 1 || got[0].Pos.String() != tt.place {
				t.Errorf("beside another file: %v", got)
			}
		})
	}
}

// TestSyntaxSecrets wants no text of a broken file in what is said about it.
func TestSyntaxSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{
		"a: 1\nhunter2\n", "a: 1\nhunter2\n  b: 1\n", "hunter2\n  b: 1\n", "a: hunter2: b\n", "a: \"hunter2\n", "a: 'x' hunter2\n", "a: [hunter2\n",
		"a: @hunter2\n", "a: !hunter2!x y\n", "a: |hunter2\n", "a:\n\thunter2: 1\n", "a: \"\\hunter2\"\n", "a: -hunter2\n- b\n", "%hunter2\n",
		"a: {{hunter2}}\n", "a: !!int hunter2\n", "a: !!binary hunter2!\n", "a: hunter2\x01\n", "a: hunter2\xff\n", "hunter2\n", "- hunter2\n",
		"a: hunter2\n---\nb: hunter2\n", "a: hunter2\na: hunter2\n", "apiServer: hunter2\n", "apiServer: [hunter2]\n", "a: .inf # hunter2\n",
		"? [hunter2]\n: 1\n", "{hunter2: 1}: 1\n", "a: {<<: hunter2}\n", "a: \u00a0hunter2\nb\n", "<<<<<<< hunter2\na: 1\n",
	} {
		files := []File{{Name: "a", Data: []byte(text)}}
		_, problems := Merge(files)
		var b strings.Builder
		if err := (diag.Printer{Source: SourceLines(files)}).Print(&b, problems); err != nil || len(problems) == 0 {
			t.Fatalf("problems %v, error %v for %q", problems, err, text)
		}
		if strings.Contains(b.String(), secret) {
			t.Errorf("a secret is told of %q:\n%s", text, b.String())
		}
	}
}

// TestSyntaxPath wants the path of a broken line only where it is in one of
// our sections, since elsewhere what looks like a key can be a secret.
func TestSyntaxPath(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{section("featureSet: \"X"), fg + ".featureSet"},
		{section("customNoUpgrade:", "  enabled:", "  - A", "  - @B"), custom + ".enabled"},
		{section("customNoUpgrade:", "  enabled:", "      - @B"), custom + ".enabled"},
		{"apiServer:\n\tfeatureGates:\n", fg},
		{"\"apiServer\":\n  # ours\n\n  'featureGates':\n    x: @y\n", fg + ".x"},
		{"kubelet:\n  featureGates:\n    A: @true\n", "kubelet.featureGates.A"},
		{"kubelet:\n  hunter2: @true\n", ""},
		{"apiServer:\n  hunter2: @x\n", ""},
		{"hunter2:\n\tfeatureGates: 1\n", ""},
		{"x: |\n  apiServer:\n    featureGates:\n      hunter2: y\n\tz", ""},
		{"apiServer: {\n  featureGates:\n    hunter2: @x }\n", ""},
		{"  featureGates:\n    hunter2: @x\n", ""},
		{"- apiServer:\n    featureGates:\n      hunter2: @x\n", ""},
	} {
		_, problems := Merge([]File{{Name: "a", Data: []byte(tt.text)}})
		if len(problems) != 1 || problems[0].Path != tt.want {
			t.Errorf("path %v, want %q in\n%s", problems, tt.want, tt.text)
		}
	}
}

// TestYAML has what is right for the parser but not for a configuration.
func TestYAML(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  []problem
	}{
		{"key twice", []string{"apiServer:\n  a: 1\ndns: {}\napiServer:\n  b: 1\n"},
			[]problem{{"a:4:1", "error", "yaml-duplicate-key", "apiServer", `key "apiServer" is written twice in one mapping, first in line 1`, "merge both blocks under one apiServer", "a:1:1"}}},
		{"three times, and deeper", []string{"a: 1\na: 2\na: {b: 1, c: {d: 1, \"d\": 2}}\n"}, []problem{
			{"a:2:1", "error", "yaml-duplicate-key", "a", "first in line 1", "", "a:1:1"},
			{"a:3:1", "error", "yaml-duplicate-key", "a", "first in line 1", "", "a:1:1"},
			{"a:3:21", "error", "yaml-duplicate-key", "a.c.d", `key "d" is written twice`, "", "a:3:15"}}},
		{"in lists", []string{"a:\n- {b: 1}\n- b: 1\n  b: 2\n"},
			[]problem{{"a:4:3", "error", "yaml-duplicate-key", "a[1].b", `key "b"`, "merge both", "a:3:3"}}},
		{"twice as another type", []string{"1: a\n0x1: b\ntrue: c\nyes: d\n"}, []problem{
			{"a:2:1", "error", "yaml-duplicate-key", "1", `key "1"`, "", "a:1:1"},
			{"a:4:1", "error", "yaml-duplicate-key", "true", `key "true"`, "", "a:3:1"}}},
		{"problems in both blocks", []string{"apiServer:\n  featureGates:\n    foo: 1\napiServer:\n  featureGates:\n    bar: 1\n"}, []problem{
			{"a:3:5", "error", "unknown-key", fg + ".foo", `"foo"`, "", ""},
			{"a:4:1", "error", "yaml-duplicate-key", "apiServer", "first in line 1", "", "a:1:1"},
			{"a:6:5", "error", "unknown-key", fg + ".bar", `"bar"`, "", ""}}},

		{"second document", []string{"# one\na: 1\n---\nb: 2\n"},
			[]problem{{"a:3:1", "error", "yaml-many-documents", "", "a second YAML document begins here, after the one in line 2", `remove the "---" line`, "a:2:1"}}},
		{"three documents", []string{"---\na: 1\n---\n---\nb: 2\n---\nc: 3\n"},
			[]problem{{"a:4:1", "error", "yaml-many-documents", "", "after the one in line 1", "", "a:1:1"}}},
		{"behind an empty one", []string{"---\n---\nb: 2\n"},
			[]problem{{"a:2:1", "error", "yaml-many-documents", "", "only the first would be read", "", "a:1:1"}}},

		{"list", []string{"- a: 1\n"}, []problem{{"a:1:1", "error", "yaml-not-mapping", "", "the file is a list, not a mapping", `begin the file with a key such as "apiServer:"`, ""}}},
		{"text", []string{"\n\nhunter2\n"}, []problem{{"a:3:1", "error", "yaml-not-mapping", "", "the file is a string, not a mapping", "", ""}}},
		{"null", []string{"null\n"}, []problem{{"a:1:1", "error", "yaml-not-mapping", "", "the file is empty, not a mapping", "", ""}}},

		{"nothing", []string{"", "\n\n  \n", "# a: 1\n", "---\n", "--- # a\n...\n", "\uFEFF", "\uFEFF# a\n", "\r\n", "# a"}, nil},

		{"alias to another file", []string{"a: &x 1\n", "b: *x\n", "- &x 2\n"}, []problem{
			{"b:1:4", "error", "yaml-alias", "", "alias *x: this file has no anchor &x before it", "anchors do not reach across files", "a:1:4 c:1:3"},
			{"c:1:1", "error", "yaml-not-mapping", "", "a list", "", ""}}},
		{"alias before its anchor", []string{"a: *x\nb: &x 1\n"},
			[]problem{{"a:1:4", "error", "yaml-alias", "", "no anchor &x before it", "define the anchor earlier", ""}}},
		{"alias that is hard to find", []string{"# *x\na: '*x'\nb: \"*x\"\nc: [*xy, *x]\nd: &xy 1\n"},
			[]problem{{"a:4:5", "error", "yaml-alias", "", "alias *xy", "", ""}}},
		{"alias in our section", []string{section("customNoUpgrade:", "  enabled: *gates")},
			[]problem{{"a:4:16", "error", "yaml-alias", custom + ".enabled", "alias *gates", "", ""}}},
		{"alias to itself", []string{"a: &x\n  b: *x\n"},
			[]problem{{"a:2:6", "error", "yaml-alias", "a.b", "anchor &x contains an alias to itself", "write the value out", ""}}},

		{"keys", []string{"~: 1\n[a]: 2\n{b: c}: 3\n"}, []problem{
			{"a:1:1", "error", "yaml-key", "", "a key must be a text", "quote the key", ""},
			{"a:2:1", "error", "yaml-key", "", "a key must be a text", "quote the key", ""},
			{"a:3:1", "error", "yaml-key", "", "a key must be a text", "quote the key", ""}}},
		{"merge keys", []string{"a: {<<: b}\nc: {<<: [{d: 1}, e]}\n"}, []problem{
			{"a:1:9", "error", "yaml-key", "a", "the merge key << wants a mapping", "quote it", ""},
			{"a:2:18", "error", "yaml-key", "c", "the merge key << wants a mapping", "quote it", ""}}},
		{"templates", []string{"a: {{ .Values.x }}\nb: [{{ y }}]\n"}, []problem{
			{"a:1:5", "error", "yaml-key", "a", "a template whose values were not filled in", "render the template first", ""},
			{"a:2:6", "error", "yaml-key", "b[0]", "a template whose values were not filled in", "render the template first", ""}}},
		{"infinity", []string{"a: .inf\nb: [.nan]\n"}, []problem{
			{"a:1:4", "error", "yaml-number", "a", "infinity and not-a-number", "quote it", ""},
			{"a:2:5", "error", "yaml-number", "b[0]", "infinity and not-a-number", "quote it", ""}}},
		{"tags that MicroShift refuses", []string{"a: !!int x\n"},
			[]problem{{"a", "error", "yaml-unusual", "", "does not accept the tags", "write the values out", ""}}},

		{"UTF-16, as PowerShell writes it", []string{"\xff\xfea\x00:\x00 \x001\x00"},
			[]problem{{"a:1:1", "error", "encoding", "", "the file is UTF-16LE, not UTF-8", "iconv -f UTF-16LE -t UTF-8", ""}}},
		{"UTF-16, the other way", []string{"\xfe\xff\x00a\x00:"},
			[]problem{{"a:1:1", "error", "encoding", "", "UTF-16BE", "iconv -f UTF-16BE", ""}}},
		{"UTF-16 without a mark", []string{"a\x00:\x00 \x001\x00", "\x00a\x00:\x00 \x001"}, []problem{
			{"a:1:1", "error", "encoding", "", "UTF-16LE", "iconv", ""},
			{"b:1:1", "error", "encoding", "", "UTF-16BE", "iconv", ""}}},
		{"Latin-1", []string{"a: 1\n# f\u00fcr \ufffd \xfcber\n"},
			[]problem{{"a:2:9", "error", "encoding", "", "byte 0xFC here is not UTF-8", "save the file as UTF-8", ""}}},
		{"cut in a character", []string{"a: \xe2\x82"},
			[]problem{{"a:1:4", "error", "encoding", "", "byte 0xE2", "", ""}}},
	} {
		t.Run(tt.name, func(t *testing.T) { checkProblems(t, tt.files, tt.want) })
	}
}
