package config

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// written shows values with their places and paths, and what they replaced.
func written(v Value[string]) string {
	s := fmt.Sprintf("%s@%v", v.V, v.Origin.Pos)
	for _, old := range v.Replaced {
		s += " was " + written(old)
	}
	return s
}

func writtenNames(n Names) []string {
	s := []string{fmt.Sprintf("list@%v", n.Origin.Pos)}
	for i, name := range n.V {
		s = append(s, written(name))
		if want := fmt.Sprintf("%s[%d]", n.Origin.Path, i); name.Origin.Path != want {
			s = append(s, fmt.Sprintf("path %s, want %s", name.Origin.Path, want))
		}
	}
	for _, old := range n.Replaced {
		s = append(s, "was")
		s = append(s, writtenNames(old)...)
	}
	return s
}

func TestValues(t *testing.T) {
	main := section(
		"featureSet: \"CustomNoUpgrade\" # ours",
		"customNoUpgrade:",
		"  enabled:",
		"    - MemoryQoS",
		"    - 'Other'",
		"  disabled: [B]",
		"minimumKubeletVersion: !!str 1.36")
	drop := "apiServer:\n  featureGates:\n    customNoUpgrade:\n      enabled: &x [New]\n    specialHandlingSupportExceptionRequired: {enabled: *x}\n"
	last := "apiServer: {featureGates: {featureSet: TechPreviewNoUpgrade, customNoUpgrade: {enabled: [], disabled: }}}\n"
	merge := func(texts ...string) FeatureGates {
		t.Helper()
		var files []File
		for i, text := range texts {
			files = append(files, File{Name: string(rune('a' + i)), Data: []byte(text)})
		}
		cfg, problems := Merge(files)
		if problems.Err() != nil || len(cfg.Files) != len(texts) {
			t.Fatalf("files %v, problems %v", cfg.Files, problems)
		}
		return cfg.FeatureGates
	}
	for _, tt := range []struct {
		name                                     string
		files                                    []string
		set, minimum                             string
		enabled, disabled, exceptions, noUpgrade []string
	}{
		{"nothing", nil, "@", "@", []string{"list@"}, []string{"list@"}, []string{"list@"}, nil},
		{"one file", []string{main}, "CustomNoUpgrade@a:3:17", "1.36@a:9:34",
			[]string{"list@a:6:9", "MemoryQoS@a:6:11", "Other@a:7:11"}, []string{"list@a:8:17", "B@a:8:18"}, []string{"list@"}, nil},
		{"two files", []string{main, drop}, "CustomNoUpgrade@a:3:17", "1.36@a:9:34",
			[]string{"list@b:4:19", "New@b:4:20", "was", "list@a:6:9", "MemoryQoS@a:6:11", "Other@a:7:11"},
			[]string{"list@a:8:17", "B@a:8:18"}, []string{"list@b:5:56", "New@b:4:20"}, nil},
		{"three files", []string{main, drop, last}, "TechPreviewNoUpgrade@c:1:40 was CustomNoUpgrade@a:3:17", "1.36@a:9:34",
			[]string{"list@c:1:89", "was", "list@a:6:9", "MemoryQoS@a:6:11", "Other@a:7:11", "was", "list@b:4:19", "New@b:4:20"},
			[]string{"list@", "was", "list@a:8:17", "B@a:8:18"}, []string{"list@b:5:56", "New@b:4:20"}, nil},
		{"empty texts", []string{section(`featureSet: ""`, "minimumKubeletVersion:", "customNoUpgrade: {enabled: [], disabled: [\"\"]}")}, "@a:3:17", "@",
			[]string{"list@a:5:32"}, []string{"list@a:5:46", "@a:5:47"}, []string{"list@"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := merge(tt.files...)
			if s := written(got.FeatureSet); s != tt.set {
				t.Errorf("featureSet %s, want %s", s, tt.set)
			}
			if s := written(got.MinimumKubeletVersion); s != tt.minimum {
				t.Errorf("minimumKubeletVersion %s, want %s", s, tt.minimum)
			}
			for _, list := range []struct {
				name string
				got  Names
				want []string
			}{
				{"customNoUpgrade.enabled", got.CustomNoUpgrade.Enabled, tt.enabled},
				{"customNoUpgrade.disabled", got.CustomNoUpgrade.Disabled, tt.disabled},
				{"specialHandlingSupportExceptionRequired.enabled", got.Exceptions.Enabled, tt.exceptions},
			} {
				if diff := cmp.Diff(list.want, writtenNames(list.got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", list.name, diff)
				}
				if path := list.got.Origin.Path; path != "" && path != fg+"."+list.name {
					t.Errorf("%s has the path %s", list.name, path)
				}
				if list.got.Present() != (list.want[0] != "list@") {
					t.Errorf("%s: Present is %t", list.name, list.got.Present())
				}
			}
		})
	}
}

// TestValuesOfYAML11 reads names in all styles, and words that only look like
// booleans.
func TestValuesOfYAML11(t *testing.T) {
	files := []File{{Name: "a", Data: []byte(section("customNoUpgrade:",
		"  enabled: [plain, 'single', \"double\", \"\\x41\", !!str yes, \"no\", !x z, nn, tRUE, a.b, 1.2.3, \" padded \"]",
		"  disabled:",
		"  - >-",
		"    folded",
		"    text",
		"  - |",
		"    literal",
		"  - two",
		"    lines"))}}
	cfg, problems := Merge(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	names := func(n Names) (out []string) {
		for _, v := range n.V {
			out = append(out, v.V)
		}
		return out
	}
	want := []string{"plain", "single", "double", "A", "yes", "no", "z", "nn", "tRUE", "a.b", "1.2.3", " padded "}
	if diff := cmp.Diff(want, names(cfg.FeatureGates.CustomNoUpgrade.Enabled)); diff != "" {
		t.Errorf("enabled (-want +got):\n%s", diff)
	}
	want = []string{"folded text", "literal\n", "two lines"}
	if diff := cmp.Diff(want, names(cfg.FeatureGates.CustomNoUpgrade.Disabled)); diff != "" {
		t.Errorf("disabled (-want +got):\n%s", diff)
	}
}

func TestKubelet(t *testing.T) {
	cfg, problems := Merge([]File{
		{Name: "a", Data: []byte("kubelet:\n  featureGates:\n    A: true\n    B: off\n    C: y\n")},
		{Name: "b", Data: []byte("kubelet: {featureGates: {B: on, D: ~, C: }, other: 1}\n")},
	})
	want := map[string]Value[bool]{
		"A": {V: true, Origin: Origin{Pos: diag.Position{File: "a", Line: 3, Column: 8}, Path: "kubelet.featureGates.A"}},
		"B": {V: true, Origin: Origin{Pos: diag.Position{File: "b", Line: 1, Column: 29}, Path: "kubelet.featureGates.B"}},
	}
	if diff := cmp.Diff(want, cfg.Kubelet); diff != "" || problems.Err() != nil {
		t.Errorf("kubelet's gates (-want +got):\n%s%v", diff, problems)
	}
	if cfg, _ := Merge([]File{{Name: "a", Data: []byte("kubelet: {other: 1}\n")}}); cfg.Kubelet != nil {
		t.Errorf("gates %v without kubelet.featureGates, want nil", cfg.Kubelet)
	}
}

func TestSourceLines(t *testing.T) {
	files := []File{
		{Name: "a", Data: []byte("secret: hunter2\r\napiServer:\r\n  token: hunter2\r\n  featureGates: # ours\r\n    featureSet: X # why\r\n    customNoUpgrade:\r\n      enabled:\r\n      - A\r\n\r\nkubelet:\r\n  featureGates: {A: true}\r\n  \"token\": hunter2\r\n")},
		{Name: "flow", Data: []byte("apiServer: {featureGates: {featureSet: X}, token: hunter2}\nx:\n  - featureGates: hunter2\n  -   - y: hunter2\n")},
		{Name: "text", Data: []byte("x: |\n  apiServer:\n    featureGates:\n      token: hunter2\n")},
		{Name: "broken", Data: []byte("token: hunter2\n\tkey: hunter2\napiServer:\n  featureGates:\n    x: @y\n")},
	}
	source := SourceLines(files)
	for _, tt := range []struct {
		file         string
		line, column int
		want         string
	}{
		{"a", 1, 1, "secret: …"},
		{"a", 1, 9, ""},
		{"a", 2, 1, "apiServer:"},
		{"a", 3, 3, "  token: …"},
		{"a", 3, 10, ""},
		{"a", 4, 3, "  featureGates: # ours"},
		{"a", 5, 17, "    featureSet: X # why"},
		{"a", 7, 7, "      enabled:"},
		{"a", 8, 9, "      - A"},
		{"a", 9, 1, ""},
		{"a", 11, 17, "  featureGates: {A: true}"},
		{"a", 12, 3, "  \"token\": …"},
		{"a", 13, 1, ""},
		{"a", 99, 1, ""},
		{"a", 0, 0, ""},
		{"flow", 1, 1, "apiServer: …"},
		{"flow", 1, 40, ""},
		{"flow", 3, 5, "  - featureGates: …"},
		{"flow", 4, 9, "  -   - y: …"},
		{"broken", 1, 1, ""},
		{"broken", 2, 2, ""},
		{"broken", 5, 8, "    x: @y"},
		{"unknown", 1, 1, ""},
	} {
		if got := source(diag.Position{File: tt.file, Line: tt.line, Column: tt.column}); got != tt.want {
			t.Errorf("%s:%d:%d: %q, want %q", tt.file, tt.line, tt.column, got, tt.want)
		}
	}
}
