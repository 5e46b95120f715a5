package diag_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

func TestPositionString(t *testing.T) {
	for _, tt := range []struct {
		pos  diag.Position
		want string
	}{
		{diag.Position{}, ""},
		{diag.Position{File: "/etc/c.yaml"}, "/etc/c.yaml"},
		{diag.Position{File: "/etc/c.yaml", Line: 7}, "/etc/c.yaml:7"},
		{diag.Position{File: "/etc/c.yaml", Line: 7, Column: 9}, "/etc/c.yaml:7:9"},
		{diag.Position{File: "/etc/ü c.yaml", Line: 1, Column: 1}, "/etc/ü c.yaml:1:1"},
		{diag.Position{File: "/etc/a\nerror: b.yaml", Line: 1, Column: 1}, `"/etc/a\nerror: b.yaml":1:1`},
		{diag.Position{File: "/etc/\x1b[2Ja.yaml", Line: 1, Column: 1}, `"/etc/\x1b[2Ja.yaml":1:1`},
		{diag.Position{File: "/etc/\u202elmay.a", Line: 1, Column: 1}, `"/etc/\u202elmay.a":1:1`},
		{diag.Position{File: "/etc/\xff.yaml"}, `"/etc/\xff.yaml"`},
	} {
		if got := tt.pos.String(); got != tt.want {
			t.Errorf("String of %q = %s, want %s", tt.pos.File, got, tt.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"MemoryQoS", "MemoryQoS"},
		{"", ""},
		{"two words", "two words"},
		{"ü 日本 😀", "ü 日本 😀"},
		{`say "x"`, `"say \"x\""`},
		{`a\b`, `"a\\b"`},
		{"a\nb", `"a\nb"`},
		{"a\tb", `"a\tb"`},
		{"\x1b[31m", `"\x1b[31m"`},
		{"\u202eabc", `"\u202eabc"`},   // right-to-left override
		{"\u2066abc", `"\u2066abc"`},   // left-to-right isolate
		{"a\u200bb", `"a\u200bb"`},     // zero-width space
		{"a\u00a0b", `"a\u00a0b"`},     // non-breaking space
		{"a\u0085b", `"a\u0085b"`},     // next line
		{"a\u2028b", `"a\u2028b"`},     // line separator
		{"\ufeffa", `"\ufeffa"`},       // byte order mark
		{"\U000e0041", `"\U000e0041"`}, // tag letter
		{"\xffa", `"\xffa"`},
		{strings.Repeat("x", 80), strings.Repeat("x", 80)},
		{strings.Repeat("x", 81), `"` + strings.Repeat("x", 80) + `…"`},
		{strings.Repeat("é", 41), `"` + strings.Repeat("é", 40) + `…"`},
		{"x" + strings.Repeat("é", 41), `"x` + strings.Repeat("é", 39) + `…"`}, // never cut inside a character
		{strings.Repeat("\xbf", 90), `"` + strings.Repeat(`\xbf`, 76) + `…"`},
	} {
		if got := diag.Printable(tt.text); got != tt.want {
			t.Errorf("Printable(%q) = %s, want %s", tt.text, got, tt.want)
		}
		if quoted := diag.Quote(tt.text); !strings.HasPrefix(quoted, `"`) || strings.ContainsAny(quoted, "\n\x1b\u202e") {
			t.Errorf("Quote(%q) = %s, want it in quotes and harmless", tt.text, quoted)
		}
	}
	long := "/etc/" + strings.Repeat("x", 200)
	if got := diag.PrintableFile(long); got != long {
		t.Errorf("PrintableFile cuts a name to %s", got)
	}
}

func TestDiagnosticString(t *testing.T) {
	d := diag.Diagnostic{Severity: diag.Error, Code: "gate-conflict", Message: "both on and off",
		Pos: diag.Position{File: "a.yaml", Line: 3, Column: 5}}
	if got, want := d.String(), "a.yaml:3:5: error: both on and off [gate-conflict]"; got != want {
		t.Errorf("String = %s, want %s", got, want)
	}
	d = diag.Diagnostic{Severity: diag.Warning, Code: "x", Message: "a\nb"}
	if got, want := d.String(), `warning: a\nb [x]`; got != want {
		t.Errorf("String = %s, want %s", got, want)
	}
}

func TestDiagnosticJSON(t *testing.T) {
	d := diag.Diagnostic{Severity: diag.Error, Code: "gate-conflict", Message: "m", Hint: "h", Path: "p",
		Pos: diag.Position{File: "a.yaml", Line: 3, Column: 5}, Related: []diag.Position{{File: "b.yaml", Line: 1}}}
	got, err := json.Marshal(d)
	want := `{"severity":"error","code":"gate-conflict","file":"a.yaml","line":3,"column":5,"path":"p","message":"m","hint":"h","related":[{"file":"b.yaml","line":1}]}`
	if string(got) != want || err != nil {
		t.Errorf("JSON = %s, %v, want %s", got, err, want)
	}
	if _, err := json.Marshal(diag.Diagnostic{}); err == nil {
		t.Error("a diagnostic without severity became JSON, want an error")
	}
}

func TestList(t *testing.T) {
	at := func(file string, line, column int) diag.Position {
		return diag.Position{File: file, Line: line, Column: column}
	}
	l := diag.List{
		{Severity: diag.Warning, Code: "b", Pos: at("b", 1, 1)},
		{Severity: diag.Error, Code: "d", Pos: at("a", 10, 1), Message: "m"},
		{Severity: diag.Warning, Code: "c", Pos: at("a", 9, 2)},
		{Severity: diag.Error, Code: "z", Pos: at("a", 9, 1), Message: "first"},
		{Severity: diag.Error, Code: "a", Pos: at("a", 9, 1), Message: "n"},
		{Severity: diag.Error, Code: "z", Pos: at("a", 9, 1), Message: "second"},
		{Severity: diag.Warning, Code: "e"},
	}
	if len(diag.List(nil).Errors()) != 0 || diag.List(nil).Err() != nil || l.Warnings().Err() != nil {
		t.Error("a list without errors has an error")
	}
	l.Sort()
	var got []string
	for _, d := range l {
		got = append(got, d.Code+d.Message)
	}
	if s, want := strings.Join(got, " "), "e an zfirst zsecond c dm b"; s != want {
		t.Errorf("sorted: %s, want %s", s, want)
	}
	want := "a:9:1: error: n [a]\na:9:1: error: first [z]\na:9:1: error: second [z]\na:10:1: error: m [d]"
	if err := l.Err(); err == nil || err.Error() != want {
		t.Errorf("Err = %v, want %s", err, want)
	}
	if len(l.Errors())+len(l.Warnings()) != len(l) || len(l.Warnings()) != 3 {
		t.Errorf("%d errors and %d warnings, want 4 and 3", len(l.Errors()), len(l.Warnings()))
	}
}
