package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// hostile are files of about n bytes that are meant to exhaust a parser, with
// the code of a problem that they must have, if any.
var hostile = []struct {
	name string
	code string
	text func(n int) string
}{
	{"brackets", "limit-nesting", func(n int) string { return "a: " + strings.Repeat("[", n) }},
	{"brackets, closed", "limit-nesting", func(n int) string {
		return "a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + strings.Repeat(" ", n)
	}},
	{"many deep brackets", "limit-nesting", func(n int) string {
		return "a:\n" + strings.Repeat("- "+strings.Repeat("[", 500)+strings.Repeat("]", 500)+"\n", n/1003)
	}},
	{"many brackets not too deep", "", func(n int) string {
		return "a:\n" + strings.Repeat("- "+strings.Repeat("[", 95)+strings.Repeat("]", 95)+"\n", n/193)
	}},
	{"braces", "limit-nesting", func(n int) string { return strings.Repeat("{a: ", n/4) }},
	{"dashes", "limit-nesting", func(n int) string { return "a:\n" + strings.Repeat("- ", n/2) }},
	{"question marks", "limit-nesting", func(n int) string { return strings.Repeat("? ", n/2) }},
	{"question marks, lines", "", func(n int) string { return strings.Repeat("? a\n", n/4) }},
	{"colons", "", func(n int) string { return strings.Repeat(": ", n/2) }},
	{"steps", "limit-nesting", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}},
	{"one line", "", func(n int) string { return "a: " + strings.Repeat("x", n) }},
	{"one line of words", "", func(n int) string { return "a: " + strings.Repeat("x ", n/2) }},
	{"one key", "", func(n int) string { return strings.Repeat("x", n) + ": a" }},
	{"one quoted line", "", func(n int) string { return "a: \"" + strings.Repeat("\\t", n/2) + "\"" }},
	{"one quote", "yaml-syntax", func(n int) string { return "a: \"" + strings.Repeat("x\n", n/2) }},
	{"quotes", "yaml-syntax", func(n int) string { return "a: " + strings.Repeat("\"x\" ", n/4) }},
	{"one comment", "", func(n int) string { return "a: 1 #" + strings.Repeat("x", n) }},
	{"comments", "", func(n int) string { return "a: 1\n" + strings.Repeat("# x\n", n/4) }},
	{"comments and blank lines", "", func(n int) string { return "a: 1\n" + strings.Repeat("#\n\n", n/3) + "b: 2\n" }},
	{"comments and keys", "", func(n int) string { return numbered("# c\nk%d: # d\n  # e\n  - 1 # f\n", n) }},
	{"comments deep down", "", func(n int) string {
		var b strings.Builder
		for i := range 90 {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String() + strings.Repeat(strings.Repeat(" ", 80)+"# x\n", n/84)
	}},
	{"blank lines", "", func(n int) string { return strings.Repeat("\n", n) + "a: 1" }},
	{"spaces", "", func(n int) string { return "a:" + strings.Repeat(" ", n) + "1" }},
	{"tabs", "", func(n int) string { return "a:" + strings.Repeat("\t", n) + "1" }},
	{"keys", "", func(n int) string { return numbered("k%d: 1\n", n) }},
	{"keys in one line", "", func(n int) string { return "{" + numbered("k%d: 1, ", n) + "}" }},
	{"keys that are numbers", "", func(n int) string { return numbered("%d: 1\n", n) }},
	{"keys twice", "yaml-duplicate-key", func(n int) string { return strings.Repeat("a:\n", n/3) }},
	{"sections twice", "yaml-duplicate-key", func(n int) string { return strings.Repeat("apiServer: {featureGates: {x: 1}}\n", n/34) }},
	{"unknown keys", "unknown-key", func(n int) string { return "apiServer: {featureGates: {" + numbered("k%d: 1, ", n) + "}}" }},
	{"keys of wrong case", "", func(n int) string { return numbered("featuresets%d: 1\n", n) }},
	{"misplaced keys", "misplaced", func(n int) string { return numbered("k%d: {featureGates: 1}\n", n) }},
	{"names", "", func(n int) string {
		return "apiServer: {featureGates: {customNoUpgrade: {enabled: [" + numbered("N%d,", n) + "]}}}"
	}},
	{"wrong names", "wrong-type", func(n int) string {
		return "apiServer: {featureGates: {customNoUpgrade: {enabled: [" + strings.Repeat("1,", n/2) + "]}}}"
	}},
	{"numbers in an unusual file", "", func(n int) string { return "a: &x 1\nb: [" + strings.Repeat("1.5,", n/4) + "]\n" }},
	{"documents", "", func(n int) string { return strings.Repeat("---\n", n/4) }},
	{"documents with values", "yaml-many-documents", func(n int) string { return strings.Repeat("--- a\n", n/6) }},
	{"anchors", "", func(n int) string { return "a: [" + numbered("&n%d x, ", n) + "]" }},
	{"anchors of nothing", "", func(n int) string { return "a: [" + numbered("&n%d , ", n) + "]" }},
	{"tags", "", func(n int) string { return "a: [" + strings.Repeat("!!str x, ", n/9) + "]" }},
	{"unknown aliases", "yaml-alias", func(n int) string { return strings.Repeat("# *x\n", n/5) + "a: *x\n" }},
	{"aliases of a long text", "limit-alias", func(n int) string {
		return "a: &a " + strings.Repeat("x", n/2) + "\nb: [" + strings.Repeat("*a,", n/6) + "]\n"
	}},
	{"aliases of a short text", "", func(n int) string { return "a: &a x\nb: [" + strings.Repeat("*a,", n/3) + "]\n" }},
	{"billion laughs", "limit-alias", func(int) string {
		var b strings.Builder
		b.WriteString("a0: &a0 lol\n")
		for i := range 30 {
			fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), i)
		}
		return b.String()
	}},
	{"merge key bomb", "limit-alias", func(int) string {
		var b strings.Builder
		b.WriteString("a0: &a0 {k: v}\n")
		for i := range 40 {
			fmt.Fprintf(&b, "a%d: &a%d {<<: [*a%d, *a%d], k%d: v}\n", i+1, i+1, i, i, i)
		}
		return b.String()
	}},
	{"template", "", func(n int) string { return "a: [" + strings.Repeat("{{x}},", n/6) + "]" }},
	{"directives", "yaml-syntax", func(n int) string { return strings.Repeat("%FOO x\n", n/7) + "---\na: 1\n" }},
	{"line separators", "", func(n int) string { return "a: 1" + strings.Repeat("\u2028", n/3) + "b: 2" }},
	{"conflict markers", "yaml-not-mapping", func(n int) string { return strings.Repeat("<<<<<<< x\n", n/10) }},
	{"bytes that are not UTF-8", "encoding", func(n int) string { return strings.Repeat("\ufffd", n/3) + "\xff" }},
	{"carriage returns", "", func(n int) string { return strings.Repeat("\r", n) + "a: 1" }},
	{"block text", "", func(n int) string { return "a: |\n" + strings.Repeat(" x\n", n/3) }},
	{"block text, indented more and more", "", func(n int) string { return "a: >\n" + strings.Repeat("  x\n   y\n", n/9) }},
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestHostile wants the memory that a file takes to grow no faster than the
// file, and the limits to be told. (All that is done allocates, so memory
// stands for time.)
func TestHostile(t *testing.T) {
	const small, large, huge = 1 << 13, 1 << 16, 200 << 20
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			var problems diag.List
			work := func(n int) (bytes, size float64) {
				text := []byte(tt.text(n))
				return float64(allocated(func() { _, problems = Merge([]File{{Name: "a", Data: text}}) })), float64(len(text))
			}
			before, smallSize := work(small)
			after, largeSize := work(large)
			if growth, sizes := after/before, largeSize/smallSize; growth > 1.5*sizes && after > 4<<20 {
				t.Errorf("%.1f times the bytes take %.1f times the memory", sizes, growth)
			}
			if after > huge {
				t.Errorf("%.0f bytes take %.0f bytes of memory, want at most %d", largeSize, after, huge)
			}
			if len(problems) > maxDiagnostics+1 {
				t.Errorf("%d problems, want at most %d", len(problems), maxDiagnostics+1)
			}
			found := tt.code == ""
			for _, d := range problems {
				found = found || d.Code == tt.code
				if length := len(d.Message) + len(d.Hint) + len(d.Path); length > 3000 {
					t.Fatalf("a problem of %d bytes", length)
				}
			}
			if !found {
				t.Errorf("problems %v, want %s", problems[:min(3, len(problems))], tt.code)
			}
		})
	}
}

// TestLimits has what is a little over each limit, and a little below.
func TestLimits(t *testing.T) {
	nested := func(levels int) string { // a mapping, and lists in it
		return "a: " + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "\n"
	}
	alias := func(bytes int) string { // each text counts one byte more than it has
		return "a: &a " + strings.Repeat("x", 1023) + "\nb: [" + strings.Repeat("*a,", bytes/1024) + "]\n"
	}
	gates := func(lists string) File {
		return File{Name: "n", Data: []byte("apiServer:\n  featureGates:\n    customNoUpgrade:\n      " + lists + "\n")}
	}
	kubelet := func(n int, name string) File {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%d: true,", name, i)
		}
		return File{Name: "n", Data: []byte("kubelet: {featureGates: {" + b.String() + "}}")}
	}
	for _, tt := range []struct {
		name  string
		files []File
		want  string // places and codes of problems
	}{
		{"nesting, just right", []File{{Name: "n", Data: []byte(nested(MaxNesting))}}, ""},
		{"nesting, too deep", []File{{Name: "n", Data: []byte(nested(MaxNesting + 1))}}, "n:1:103 limit-nesting"},
		{"nesting that the library refuses", []File{{Name: "n", Data: []byte("b: 1\n" + nested(20_000))}}, "n:2:1 limit-nesting"},
		{"aliases, just right", []File{{Name: "n", Data: []byte(alias(MaxAliasBytes))}}, ""},
		{"aliases, too many", []File{{Name: "n", Data: []byte(alias(MaxAliasBytes + 1024))}}, "n:2:3077 limit-alias"},
		{"names, just right", []File{gates("enabled: [" + strings.Repeat("A,", MaxNames) + "]")}, ""},
		{"names, too many", []File{gates("enabled: [A]\n      disabled: [" + strings.Repeat("A,", MaxNames+1) + "]")}, "n:5:17 limit-names"},
		{"a name, just right", []File{gates("enabled: [" + strings.Repeat("A", MaxNameBytes) + "]")}, ""},
		{"a name, too long", []File{gates("enabled: [A, " + strings.Repeat("A", MaxNameBytes+1) + "]")}, "n:4:20 limit-names"},
		{"gates of the kubelet, just right", []File{kubelet(MaxNames, "A")}, ""},
		{"gates of the kubelet, too many", []File{kubelet(MaxNames+1, "A")}, "n:1:25 limit-names"},
		{"gates of the kubelet, too long", []File{kubelet(1, strings.Repeat("A", MaxNameBytes))}, "n:1:26 limit-names"},
		{"values, just right, and another file", []File{{Name: "n", Data: []byte("a: [" + strings.Repeat("1,", MaxValues-2) + "]")}, {Name: "o", Data: []byte("b: 1\nc: ]\n")}}, "o:2:4 yaml-syntax"},
		{"values, too many, and another file", []File{{Name: "n", Data: []byte("a: [" + strings.Repeat("1,", MaxValues-1) + "]")}, {Name: "o", Data: []byte("b: 1\nc: ]\n")}}, "n:1:1048577 limit-values"},
		{"values by aliases", []File{{Name: "n", Data: []byte("a: &a [" + strings.Repeat("[],", 9) + "]\nb: &b [" + strings.Repeat("*a,", 999) + "]\nc: [" + strings.Repeat("*b,", 99) + "]\n")}}, "n:3:143 limit-alias"},
		{"problems, too many", []File{{Name: "p", Data: []byte("apiServer: {featureGates: {" + numbered("k%d: 1,", 12*maxDiagnostics) + "}}")}}, "limit-problems"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := Merge(tt.files)
			var got []string
			for _, d := range problems {
				got = append(got, d.Pos.String()+" "+d.Code)
			}
			if tt.want == "limit-problems" {
				if len(got) != maxDiagnostics+1 || !strings.HasSuffix(got[maxDiagnostics], tt.want) {
					t.Errorf("%d problems, the last %s, want %d and %s", len(got), got[len(got)-1], maxDiagnostics+1, tt.want)
				}
			} else if strings.Join(got, " ") != tt.want {
				t.Errorf("problems %v, want %s", got[:min(len(got), 5)], tt.want)
			}
		})
	}
}

// TestLimitOfValues has a smaller limit, to save the time.
func TestLimitOfValues(t *testing.T) {
	budget := 5 // a mapping, a list, and three items
	if doc := parse(File{Name: "a", Data: []byte("a: [1, 2, 3]\n")}, &budget); len(doc.diags) > 0 || budget != 0 {
		t.Errorf("problems %v and %d values left, want none", doc.diags, budget)
	}
	doc := parse(File{Name: "b", Data: []byte("\n\na: 1\n")}, &budget)
	if len(doc.diags) != 1 || doc.diags[0].Code != "limit-values" || doc.diags[0].Pos.String() != "b:3:1" || doc.root != nil {
		t.Errorf("problems %v, want limit-values at b:3:1", doc.diags)
	}
}
