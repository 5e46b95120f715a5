package config

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mergeSeeds are files, and whether MicroShift and we both accept them.
var mergeSeeds = []struct {
	name  string
	files [3]string
	want  verdict
}{
	{"nothing", [3]string{}, accepted},
	{"one setting", [3]string{"a: 1\n"}, accepted},
	{"maps merge", [3]string{"a: {b: 1, c: 2}\n", "a: {c: 3, d: 4}\n"}, accepted},
	{"lists are replaced", [3]string{"a: [1, 2]\n", "a: [3]\n"}, accepted},
	{"null deletes", [3]string{"a: {b: 1, c: 2}\n", "a: {b: null}\n", "a: {b: {d: 1}}\n"}, accepted},
	{"null of nothing", [3]string{"a: 1\n", "b: null\nc: {d: null}\n"}, accepted},
	{"map over scalar and back", [3]string{"a: 1\n", "a: {b: 1}\n", "a: 2\n"}, accepted},
	{"nulls in lists", [3]string{"a: [null, ~, {b: null}]\n", "c: [ , ]\n"}, refused},
	{"nulls in lists", [3]string{"a: [null, ~, {b: null}]\n", "c:\n- \n-\n"}, accepted},
	{"comments only", [3]string{"a: 1\n", "# b: 2\n", "c: 3"}, accepted},
	{"marker only", [3]string{"---\n", "a: 1\n", "---\n# x\n---\n"}, accepted},
	{"markers around", [3]string{"---\na: 1\n...\n", "%YAML 1.1\n---\nb: 2\n---\n"}, accepted},
	{"explicit null", [3]string{"a: 1\n", "null\n"}, refused},
	{"tilde", [3]string{"~\n"}, refused},
	{"top-level list", [3]string{"a: 1\n", "- a\n"}, refused},
	{"top-level scalar", [3]string{"a: 1\n", "a\n"}, refused},
	{"second document", [3]string{"a: 1\n---\nb: 2\n"}, refused},
	{"duplicate key", [3]string{"a: 1\na: 2\n"}, refused},
	{"duplicate number", [3]string{"1: a\n\"1\": b\n"}, refused},
	{"not UTF-8", [3]string{"a: \xff\n"}, refused},
	{"UTF-16", [3]string{"\xff\xfea\x00:\x00 \x001\x00"}, refused},

	{"booleans", [3]string{"a: [y, Y, yes, Yes, YES, n, N, no, No, NO, on, On, ON, off, Off, OFF, true, True, TRUE, false, False, FALSE]\n"}, accepted},
	{"no booleans", [3]string{"a: [yES, oN, tRUE, truee, noo, \"yes\", 'no', y , nn]\n"}, accepted},
	{"integers", [3]string{"a: [0, -0, +1, 0777, 0o777, 0x1F, 0b11, -0b11, 1_000, 685_230, 0x_1, 08, 19e, 123456789012345678901]\n"}, accepted},
	{"floats", [3]string{"a: [1.5, 1., .5, -1e3, 1e+3, 6.8523015e+5, 685.230_15e+03, 190:20:30.15, 1e400, 1_0.5]\n"}, accepted},
	{"infinity", [3]string{"a: .inf\n"}, refused},
	{"negative infinity", [3]string{"a: [-.Inf]\n"}, refused},
	{"not a number", [3]string{"a: {b: .NaN}\n"}, refused},
	{"quoted infinity", [3]string{"a: \".inf\"\nb: .info\n"}, accepted},
	{"timestamps", [3]string{"a: [2001-12-15T02:59:43.1Z, 2002-12-14, 2001-12-14 21:59:43.10 -5]\n2002-12-14: x\n"}, accepted},
	{"nulls", [3]string{"a: [~, null, Null, NULL, nULL, \"\", '~', ]\nb:\nc: \n"}, accepted},
	{"strings", [3]string{"a: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\\"\\\\\\N\\_\\L\\P\\x41\\u0041\\U00000041\"\nb: 'it''s'\n"}, accepted},
	{"blocks", [3]string{"a: |\n  x\n   y\n\n  z\nb: >-\n  x\n  y\n\n  z\nc: |+\n  x\n\nd: |2\n   x\ne: \"x\n  y\n\n  z\"\nf: x\n  y\n"}, accepted},

	{"keys", [3]string{"yes: 1\nn: 2\n3: 3\n0x10: 4\n1.5: 5\n1e3: 6\n\"quoted\": 7\n2001-01-01: 8\n"}, accepted},
	{"keys merge as texts", [3]string{"yes: {a: 1}\n", "\"true\": {b: 2}\n", "on: {a: 3}\n"}, accepted},
	{"odd key above ours", [3]string{"\"\\u263A\\n\": {featureGates: x}\n"}, accepted},
	{"null key", [3]string{"~: 1\n"}, refused},
	{"list key", [3]string{"[a]: 1\n"}, refused},
	{"mapping key", [3]string{"{a: b}: 1\n"}, refused},
	{"unsigned key", [3]string{"18446744073709551615: 1\n"}, refused},
	{"explicit keys", [3]string{"? a\n: b\n? c\n"}, accepted},
	{"dash as key", [3]string{"{-: 1, -a: 2}\n"}, accepted},

	{"aliases", [3]string{"a: &x [1, {b: 2}]\nc: *x\nd: {e: *x}\n&k f: *k\n*k : 1\n"}, refused}, // f twice
	{"aliases", [3]string{"a: &x [1, {b: 2}]\nc: *x\nd: {e: *x}\n&k f: *k\n"}, accepted},
	{"alias as key", [3]string{"a: &x b\n*x : c\n"}, accepted},
	{"anchor again", [3]string{"a: &x 1\nb: *x\nc: &x 2\nd: *x\n"}, accepted},
	{"alias to itself", [3]string{"a: &x [*x]\n"}, refused},
	{"alias to another file", [3]string{"a: &x 1\n", "b: *x\n"}, refused},
	{"anchors on their own lines", [3]string{"a: &x\n  b: 1\nc: &y\n- 1\nd: &z\n  text\ne: &e\nf: !!str\n"}, accepted},

	{"merge key", [3]string{"x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n"}, accepted},
	{"merge key last wins", [3]string{"x: &x {a: 1, b: 2}\ny:\n  b: 3\n  <<: *x\n"}, accepted},
	{"merge keys", [3]string{"x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  <<: [*x, *y]\n  d: 5\n"}, accepted},
	{"merge key twice", [3]string{"x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  <<: *y\n  <<: *x\n"}, accepted},
	{"merge key in flow", [3]string{"x: {<<: {a: 1}, b: 2}\n"}, accepted},
	{"merge key of merge keys", [3]string{"x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: *y, a: 3}\n"}, accepted},
	{"merge key of a scalar", [3]string{"x: {<<: a}\n"}, refused},
	{"merge key of lists", [3]string{"x: &x [{a: 1}]\ny: {<<: *x}\n"}, refused},
	{"quoted merge key", [3]string{"x: {\"<<\": {a: 1}}\n"}, accepted},
	{"merge key as value", [3]string{"x: <<\ny: [<<]\n"}, accepted},
	{"merge key to itself", [3]string{"x: &x {<<: *x}\n"}, refused},
	{"merge key and numbers", [3]string{"x: &x {1: a}\ny: {<<: *x, \"1\": b}\n"}, refused},

	{"tags", [3]string{"a: !!str 1\nb: !!int \"2\"\nc: !!float 3\nd: !!bool yes\ne: !!null ~\nf: !!binary aGk=\ng: !!timestamp 2001-01-01\nh: !local 4\ni: !!str\n"}, accepted},
	{"tagged collections", [3]string{"a: !!map {b: 1}\nc: !!seq [1]\nd: !x {e: !y [1]}\n"}, accepted},
	{"verbatim tag", [3]string{"a: !<tag:yaml.org,2002:int> 3\nb: !<x> 4\n"}, accepted},
	{"tag directive", [3]string{"%TAG !e! tag:yaml.org,2002:\n---\na: !e!int \"3\"\n"}, accepted},
	{"tagged keys", [3]string{"!!str 1: a\n!!int \"2\": b\n"}, accepted},
	{"wrong tag", [3]string{"a: !!int x\n"}, refused},
	{"wrong null", [3]string{"a: !!null x\n"}, refused},
	{"non-specific tag", [3]string{"a: ! x\n"}, accepted},
	{"non-specific tag of a number", [3]string{"a: ! 1\n"}, refused}, // a string, which we can't tell
	{"a tag alone", [3]string{"a: 1\n", "!\n", "# Careful!\n"}, refused},
	{"an exclamation mark in a comment", [3]string{"a: 1\n", "# Careful!\n", "--- # Stop!\n"}, accepted},
	{"undefined tag", [3]string{"a: !e!int 3\n"}, refused},

	{"CR LF", [3]string{"a:\r\n  b: |\r\n    x\r\n    y\r\n  c: 1\r\n", "a:\n  c: 2\n"}, accepted},
	{"CR", [3]string{"a: 1\rb:\r  c: 2\r"}, accepted},
	{"NEL", [3]string{"a: 1\u0085b: x\u0085  y\u0085"}, accepted},
	{"LS and PS", [3]string{"a: 1\u2028b: |\u2029  x\u2028  y\n"}, accepted},
	{"byte order mark", [3]string{"\uFEFFa: 1\n", "\uFEFF# c\nb: é: f\n"}, refused},
	{"byte order mark", [3]string{"\uFEFFa: 1\n", "\uFEFF# c\nb: é\n"}, accepted},
	{"two byte order marks", [3]string{"\uFEFF\uFEFFa: 1\n"}, accepted},
	{"no line break at the end", [3]string{"a: 1", "b: 'x'", "c: |\n x"}, accepted},
	{"JSON", [3]string{`{"a": {"b": [1, "x", true, null]}, "c": "\u00e9"}`, "{\n\t\"a\": {\"b\": []}\n}\n"}, accepted},
	{"tab behind a colon", [3]string{"a:\t1\nb: [1,\t2]\t# c\n"}, accepted},
	{"non-breaking space", [3]string{"a: \u00a0x\n\u00a0b: 1\n"}, accepted},
	{"flow over lines", [3]string{"a: [1,\n  2, # two\n  3]\nb: {c: d,\n e: f}\n"}, accepted},
	{"comments everywhere", [3]string{"# head\n\na: # line\n  # in\n  - 1 # item\n  # foot\n\n# before b\nb: 2 # b\n# tail\n"}, accepted},
}

func TestMergeSeeds(t *testing.T) {
	for _, s := range mergeSeeds {
		t.Run(s.name, func(t *testing.T) {
			var files []File
			for i, text := range s.files {
				files = append(files, File{Name: string(rune('a'+i)) + ".yaml", Data: []byte(text)})
			}
			if got := checkMerge(t, files); got != s.want {
				_, problems := mergeFiles(files)
				t.Errorf("accepted = %t, want %t; problems: %v\n%s", got == accepted, s.want == accepted, problems, show(files))
			}
		})
	}
}

// TestMergePatch has the test cases of RFC 7396, appendix A. Original and
// patch stand below a key, since a configuration file has to be a mapping.
func TestMergePatch(t *testing.T) {
	for _, tt := range []struct{ original, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, ``},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1}`}, // the RFC keeps the null of the original, which means the same as no key here
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		files := []File{
			{Name: "a.yaml", Data: []byte(`{"in":` + tt.original + `}`)},
			{Name: "b.yaml", Data: []byte(`{"in":` + tt.patch + `}`)},
		}
		root, problems := mergeFiles(files)
		want := map[string]any{}
		if tt.want != "" {
			var v any
			if err := json.Unmarshal([]byte(tt.want), &v); err != nil {
				t.Fatal(err)
			}
			want["in"] = v
		}
		if diff := cmp.Diff(any(want), withoutNulls(root.value())); diff != "" || len(problems) > 0 {
			t.Errorf("%s patched with %s (-want +got):\n%s%v", tt.original, tt.patch, diff, problems)
		}
	}
}
