package diag_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// lines is a file with a line of each sort.
var lines = []string{
	"        - MemoryQoS=true",
	"\t- tab",
	"  - 日本語: 値",
	"  - e\u0301=x", // a letter and a mark that combines with it
	"  - \x1b[2J\u202eevil\a",
	"  - \xff!",
	strings.Repeat("a", 100) + "b" + strings.Repeat("c", 1<<20),
	"short",
	"   ",
	strings.Repeat("\x1b", 1<<10) + "b",
	"x" + strings.Repeat("y", 125),
}

func source(p diag.Position) string {
	if p.File != "c.yaml" || p.Line > len(lines) {
		return ""
	}
	return lines[p.Line-1]
}

func at(line, column int) diag.Position {
	return diag.Position{File: "c.yaml", Line: line, Column: column}
}

func TestPrinter(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    diag.Diagnostic
		want string
	}{
		{"everything", diag.Diagnostic{Severity: diag.Error, Code: "gate-name", Pos: at(1, 11), Path: "a.b[0]",
			Message: "not a name", Hint: "write it so:\n- MemoryQoS", Related: []diag.Position{at(8, 1), {File: "d.yaml", Line: 2, Column: 3}}}, `
error: not a name [gate-name]
  --> c.yaml:1:11  (a.b[0])
     1 |         - MemoryQoS=true
       |           ^
  hint: write it so:
        - MemoryQoS
  see also c.yaml:8:1
     8 | short
       | ^
  see also d.yaml:2:3
`},
		{"nothing but a message", diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "m"}, `
warning: m [x]
`},
		{"a path only", diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "m", Path: "a.b"}, `
warning: m [x]
  --> a.b
`},
		{"no line", diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "m", Pos: diag.Position{File: "c.yaml"}}, `
warning: m [x]
  --> c.yaml
`},
		{"no column", diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "m", Pos: at(8, 0)}, `
warning: m [x]
  --> c.yaml:8
     8 | short
`},
		{"behind the line", diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "m", Pos: at(8, 6)}, `
warning: m [x]
  --> c.yaml:8:6
     8 | short
       |      ^
`},
		{"far behind the line", diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "m", Pos: at(8, 60)}, `
warning: m [x]
  --> c.yaml:8:60
     8 | short
`},
		{"a blank line", diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "m", Pos: at(9, 1)}, `
warning: m [x]
  --> c.yaml:9:1
`},
		{"a tab", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(2, 4)}, `
error: m [x]
  --> c.yaml:2:4
     2 | \t- tab
       |     ^
`},
		{"wide characters", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(3, 10)}, `
error: m [x]
  --> c.yaml:3:10
     3 |   - 日本語: 値
       |             ^
`},
		{"combining marks", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(4, 7)}, "\n" +
			"error: m [x]\n" +
			"  --> c.yaml:4:7\n" +
			"     4 |   - e\u0301=x\n" +
			"       |      ^\n"},
		{"terminal control", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(5, 10)}, `
error: m [x]
  --> c.yaml:5:10
     5 |   - \x1b[2J\u202eevil\a
       |                  ^
`},
		{"not UTF-8", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(6, 6)}, `
error: m [x]
  --> c.yaml:6:6
     6 |   - \xff!
       |         ^
`},
		{"forged", diag.Diagnostic{Severity: diag.Error, Code: "x\n", Message: "m\nerror: n\x1b[0m", Path: "p\u202e",
			Hint: "h\x1b\u2066", Pos: diag.Position{File: "c\n.yaml", Line: 1, Column: 1}}, `
error: m\nerror: n\x1b[0m [x\n]
  --> "c\n.yaml":1:1  (p\u202e)
  hint: h\x1b\u2066
`},
		{"a long line", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(7, 101)}, "\n" +
			"error: m [x]\n" +
			"  --> c.yaml:7:101\n" +
			"     7 | …" + strings.Repeat("a", 59) + "b" + strings.Repeat("c", 58) + "…\n" +
			"       | " + strings.Repeat(" ", 60) + "^\n"},
		{"the begin of a long line", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(7, 1)}, "\n" +
			"error: m [x]\n" +
			"  --> c.yaml:7:1\n" +
			"     7 | " + strings.Repeat("a", 100) + "b" + strings.Repeat("c", 18) + "…\n" +
			"       | ^\n"},
		{"the end of a long line", diag.Diagnostic{Severity: diag.Error, Code: "x", Message: "m", Pos: at(11, 126)}, "\n" +
			"error: m [x]\n" +
			"  --> c.yaml:11:126\n" +
			"    11 | …" + strings.Repeat("y", 60) + "\n" +
			"       | " + strings.Repeat(" ", 60) + "^\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := (diag.Printer{Source: source}).Print(&b, diag.List{tt.d}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, "\n"+b.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrinterColor(t *testing.T) {
	var b strings.Builder
	l := diag.List{{Severity: diag.Error, Code: "x", Message: "m", Pos: at(8, 1)}, {Severity: diag.Warning, Code: "y", Message: "n"}}
	if err := (diag.Printer{Color: true, Source: source}).Print(&b, l); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1;31merror\x1b[0m: m [x]\n" +
		"  \x1b[1;34m-->\x1b[0m c.yaml:8:1\n" +
		"\x1b[1;34m     8 |\x1b[0m short\n" +
		"\x1b[1;34m       |\x1b[0m \x1b[1;31m^\x1b[0m\n" +
		"\x1b[1;33mwarning\x1b[0m: n [y]\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// TestPrinterLimits wants errors before warnings where not all are printed.
func TestPrinterLimits(t *testing.T) {
	var l diag.List
	for range 250 {
		l = append(l, diag.Diagnostic{Severity: diag.Warning, Code: "w", Message: "m"})
	}
	l = append(l, diag.Diagnostic{Severity: diag.Error, Code: "e", Message: "m"})
	for _, tt := range []struct{ max, warnings, more int }{{0, 199, 51}, {3, 2, 248}, {1000, 250, 0}} {
		var b strings.Builder
		if err := (diag.Printer{Max: tt.max}).Print(&b, l); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if got := strings.Count(out, "warning:"); got != tt.warnings || strings.Count(out, "error:") != 1 {
			t.Errorf("Max %d: %d warnings and %d errors printed, want %d and 1", tt.max, got, strings.Count(out, "error:"), tt.warnings)
		}
		if tt.more > 0 != strings.Contains(out, "… and ") {
			t.Errorf("Max %d: the end is %q, want %d more", tt.max, out[len(out)-30:], tt.more)
		}
	}
	if err := (diag.Printer{}).Print(failingWriter{}, l); err == nil {
		t.Error("an error of the writer got lost")
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("full") }
