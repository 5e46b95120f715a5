package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// problem is what Merge is to say. A place is "file:line:column"; message and
// hint are parts of them.
type problem struct {
	place, severity, code, path string
	message, hint               string
	related                     string // places, separated by spaces
}

// checkProblems fails t unless Merge says what is wanted about files, no more
// and no less. The files are called a, b, and so on.
func checkProblems(t *testing.T, texts []string, want []problem) *Config {
	t.Helper()
	var files []File
	for i, text := range texts {
		files = append(files, File{Name: string(rune('a' + i)), Data: []byte(text)})
	}
	cfg, got := Merge(files)
	for i, d := range got {
		if i >= len(want) {
			t.Errorf("unwanted problem:\n%s", whole(d))
			continue
		}
		w := want[i]
		var related []string
		for _, at := range d.Related {
			related = append(related, at.String())
		}
		if d.Pos.String() != w.place || d.Severity.String() != w.severity || d.Code != w.code || d.Path != w.path ||
			strings.Join(related, " ") != w.related ||
			!strings.Contains(d.Message, w.message) || !strings.Contains(d.Hint, w.hint) {
			t.Errorf("said:\n%s\nwanted:\n%s: %s: …%s… [%s]\n  path %s\n  hint …%s…\n  related %s", whole(d), w.place, w.severity, w.message, w.code, w.path, w.hint, w.related)
		}
	}
	for _, w := range want[min(len(got), len(want)):] {
		t.Errorf("not said:\n%s: %s: …%s… [%s]", w.place, w.severity, w.message, w.code)
	}
	return cfg
}

func whole(d diag.Diagnostic) string {
	return fmt.Sprintf("%v\n  path %s\n  hint %s\n  related %v", d, d.Path, d.Hint, d.Related)
}

// section puts lines below apiServer.featureGates, which makes them begin in
// line 3 and column 5.
func section(lines ...string) string {
	return "apiServer:\n  featureGates:\n    " + strings.Join(lines, "\n    ") + "\n"
}

const (
	fg     = "apiServer.featureGates"
	custom = fg + ".customNoUpgrade"
)

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  []problem
	}{
		{"all right", []string{section("featureSet: CustomNoUpgrade # a comment", "customNoUpgrade: {enabled: [A], disabled: []}",
			"specialHandlingSupportExceptionRequired: {enabled: [], disabled: [B]}", `minimumKubeletVersion: "1.36.0"`)}, nil},
		{"the default section", []string{section(`customNoUpgrade: {disabled: [], enabled: []}`, `featureSet: ""`)}, nil},
		{"all of it unset", []string{section("featureSet:", "customNoUpgrade:", "specialHandlingSupportExceptionRequired: {enabled: }", "minimumKubeletVersion: ~")}, nil},
		{"nothing in it", []string{"apiServer:\nkubelet:\n", "apiServer:\n  featureGates:\n", "kubelet: {featureGates: }"}, nil},

		{"misspelled", []string{section("featureset: CustomNoUpgrade")},
			[]problem{{"a:3:5", "error", "unknown-key", fg + ".featureset", `unknown key "featureset" in ` + fg, "write featureSet", ""}}},
		{"plural", []string{section("featureSets: CustomNoUpgrade")},
			[]problem{{"a:3:5", "error", "unknown-key", fg + ".featureSets", `"featureSets"`, "write featureSet", ""}}},
		{"dashes", []string{section("custom-no-upgrade: {}")},
			[]problem{{"a:3:5", "error", "unknown-key", fg + ".custom-no-upgrade", `"custom-no-upgrade"`, "write customNoUpgrade", ""}}},
		{"letters swapped", []string{section("customNoUpgarde: {}", "specialHandlingSupportExceptionRequird: {}")}, []problem{
			{"a:3:5", "error", "unknown-key", fg + ".customNoUpgarde", `"customNoUpgarde"`, "write customNoUpgrade", ""},
			{"a:4:5", "error", "unknown-key", fg + ".specialHandlingSupportExceptionRequird", "unknown key", "write specialHandlingSupportExceptionRequired", ""}}},
		{"in the lists", []string{section("customNoUpgrade:", "  enable: [A]", "  disabeld: [B]", "  enabled+: [C]", "  Enabled: []", "specialHandlingSupportExceptionRequired: {gates: []}")}, []problem{
			{"a:4:7", "error", "unknown-key", custom + ".enable", `unknown key "enable" in ` + custom, "write enabled", ""},
			{"a:5:7", "error", "unknown-key", custom + ".disabeld", `"disabeld"`, "write disabled", ""},
			{"a:6:7", "error", "unknown-key", custom + `["enabled+"]`, `"enabled+"`, "write enabled", ""},
			{"a:7:7", "error", "unknown-key", custom + ".Enabled", `"Enabled"`, "write enabled", ""},
			{"a:8:47", "error", "unknown-key", fg + ".specialHandlingSupportExceptionRequired.gates", `"gates"`, "the keys here are enabled, disabled", ""}}},
		{"a map of booleans", []string{section("MemoryQoS: true", "OtherGate: false", "Third: on")}, []problem{
			{"a:3:5", "error", "unknown-key", fg + ".MemoryQoS", `"MemoryQoS"`, "with featureSet: CustomNoUpgrade, write customNoUpgrade: {enabled: [MemoryQoS]}", ""},
			{"a:4:5", "error", "unknown-key", fg + ".OtherGate", `"OtherGate"`, "{disabled: [OtherGate]}", ""},
			{"a:5:5", "error", "unknown-key", fg + ".Third", `"Third"`, "{enabled: [Third]}", ""}}},
		{"lists one level too high", []string{section("featureSet: CustomNoUpgrade", "customNoUpgrade:", "enabled:", "  - MemoryQoS")},
			[]problem{{"a:5:5", "error", "unknown-key", fg + ".enabled", `"enabled"`, "indent it below customNoUpgrade or specialHandlingSupportExceptionRequired", ""}}},
		{"something else", []string{section("spec: {}")},
			[]problem{{"a:3:5", "error", "unknown-key", fg + ".spec", `"spec"`, "the keys here are featureSet, customNoUpgrade, specialHandlingSupportExceptionRequired, minimumKubeletVersion", ""}}},
		{"in an earlier file too", []string{section("foo: 1"), section("foo: 2")},
			[]problem{{"b:3:5", "error", "unknown-key", fg + ".foo", `"foo"`, "the keys here are", "a:3:5"}}},
		{"deleted by a later file", []string{section("foo: 1"), section("foo:")},
			[]problem{{"b:3:5", "warning", "null-deletes", fg + ".foo", "this empty key deletes " + fg + ".foo, which a sets", "null deletes", "a:3:5"}}},
		{"odd names", []string{section(`"a\nb": 1`, `"\u202e": 2`, `"": 3`, "1: 4", "yes: 5")}, []problem{
			{"a:3:5", "error", "unknown-key", fg + `["a\nb"]`, `unknown key "a\nb"`, "", ""},
			{"a:4:5", "error", "unknown-key", fg + `["\u202e"]`, `unknown key "\u202e"`, "", ""},
			{"a:5:5", "error", "unknown-key", fg + `[""]`, `unknown key ""`, "", ""},
			{"a:6:5", "error", "unknown-key", fg + ".1", `unknown key "1"`, "", ""},
			{"a:7:5", "error", "unknown-key", fg + ".true", `unknown key "true"`, "", ""}}},

		{"at the top", []string{"featureGates:\n  featureSet: CustomNoUpgrade\n"},
			[]problem{{"a:1:1", "warning", "misplaced", "featureGates", "nothing in featureGates applies: it belongs to " + fg, "move it there", ""}}},
		{"the set at the top", []string{"featureSet: CustomNoUpgrade\ncustomNoUpgrade: {enabled: [A]}\n"}, []problem{
			{"a:1:1", "warning", "misplaced", "featureSet", "nothing in featureSet applies: it belongs to " + fg + ".featureSet", "move it there", ""},
			{"a:2:1", "warning", "misplaced", "customNoUpgrade", "it belongs to " + custom, "move it there", ""}}},
		{"directly below apiServer", []string{"apiServer:\n  featureGates:\n  featureSet: CustomNoUpgrade\n  customNoUpgrade:\n    enabled: [A]\n"}, []problem{
			{"a:3:3", "warning", "misplaced", "apiServer.featureSet", "nothing in apiServer.featureSet applies: it belongs to " + fg + ".featureSet", "indentation decides", ""},
			{"a:4:3", "warning", "misplaced", "apiServer.customNoUpgrade", "it belongs to " + custom, "move it there", ""}}},
		{"the lists below apiServer", []string{"apiServer:\n  enabled: [A]\n"},
			[]problem{{"a:2:3", "warning", "misplaced", "apiServer.enabled", "it belongs to " + custom + ".enabled", "move it there", ""}}},
		{"as the flag is called", []string{"apiServer:\n  feature-gates: A=true\n"},
			[]problem{{"a:2:3", "warning", "misplaced", "apiServer.feature-gates", "it belongs to " + fg, "move it there", ""}}},
		{"singular", []string{"apiServer:\n  featureGate: {}\n"},
			[]problem{{"a:2:3", "warning", "misplaced", "apiServer.featureGate", "it belongs to " + fg, "move it there", ""}}},
		{"below another section", []string{"node:\n  featureGates: {}\napiSever: {featureGates: {}}\n"}, []problem{
			{"a:2:3", "warning", "misplaced", "node.featureGates", "nothing in node.featureGates applies", "move it there", ""},
			{"a:3:12", "warning", "misplaced", "apiSever.featureGates", "it belongs to " + fg, "move it there", ""}}},
		{"misplaced in two files", []string{"featureGates: {}\n", "featureGates: {a: 1}\n"},
			[]problem{{"b:1:1", "warning", "misplaced", "featureGates", "nothing in featureGates applies", "move it there", "a:1:1"}}},

		{"apiserver", []string{"apiserver:\n  featureGates: {}\n"},
			[]problem{{"a:1:1", "error", "key-case", "apiserver", "apiserver must be written apiServer", "write apiServer", ""}}},
		{"apiserver beside apiServer", []string{section("featureSet: CustomNoUpgrade"), "ApiServer: {}\n"},
			[]problem{{"b:1:1", "error", "key-case", "ApiServer", "ApiServer must be written apiServer", "write apiServer", "a:1:1"}}},
		{"featuregates", []string{"apiServer:\n  featuregates: {}\n  FeatureGates: {}\n  featureGates: {}\n"}, []problem{
			{"a:2:3", "error", "key-case", "apiServer.featuregates", "must be written " + fg, "write featureGates", "a:4:3"},
			{"a:3:3", "error", "key-case", "apiServer.FeatureGates", "must be written " + fg, "write featureGates", "a:4:3"}}},
		{"kubelet", []string{"Kubelet: {featureGates: {A: true}}\nkubelet:\n  featuregates: {B: true}\n"}, []problem{
			{"a:1:1", "error", "key-case", "Kubelet", "Kubelet must be written kubelet", "write kubelet", "a:2:1"},
			{"a:3:3", "warning", "key-case", "kubelet.featuregates", "must be written kubelet.featureGates", "write featureGates", ""}}},
		{"other keys are MicroShift's", []string{"Apiserverx: 1\nkubelets: {a: 1}\napiServer: {auditLog: {}, foo: 1}\nNode: {}\nspec: 1\nenabled: 1\n"}, nil},

		{"indented with non-breaking spaces", []string{"apiServer:\n\u00a0\u00a0featureGates:\n\u00a0\u00a0\u00a0\u00a0featureSet: CustomNoUpgrade\n"}, []problem{
			{"a:3:1", "warning", "misplaced", `["\u00a0\u00a0\u00a0\u00a0featureSet"]`, "it belongs to " + fg + ".featureSet",
				"the key has the non-breaking space U+00A0, which YAML takes for a letter; indent with ordinary spaces", ""}}},
		{"flow style behind a non-breaking space", []string{"apiServer:\n\u00a0featureGates: {featureSet: CustomNoUpgrade}\n"},
			[]problem{{"a:2:1", "warning", "misplaced", `["\u00a0featureGates"]`, "it belongs to " + fg, "the key has the non-breaking space U+00A0", ""}}},
		{"one non-breaking space more", []string{section("featureSet: CustomNoUpgrade", "\u00a0customNoUpgrade: {}")},
			[]problem{{"a:4:5", "error", "unknown-key", fg + `["\u00a0customNoUpgrade"]`, `"\u00a0customNoUpgrade"`, "the non-breaking space U+00A0", ""}}},

		{"a FeatureGate object", []string{"apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata:\n  name: cluster\nspec:\n  featureSet: CustomNoUpgrade\n"},
			[]problem{{"a:2:1", "warning", "feature-gate-object", "kind", "OpenShift FeatureGate object, and nothing in it applies", "move what is under its spec: to " + fg, ""}}},
		{"a KubeletConfiguration object", []string{"kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nfeatureGates:\n  MemoryQoS: true\n"}, []problem{
			{"a:1:1", "warning", "kubelet-configuration-object", "kind", "KubeletConfiguration object, and nothing in it applies", "move feature gates to " + fg, ""},
			{"a:3:1", "warning", "misplaced", "featureGates", "nothing in featureGates applies", "move it there", ""}}},
		{"another object", []string{"apiVersion: v1\nkind: FeatureGate\n", "kind: FeatureGate\n", "kind:\napiVersion:\n"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { checkProblems(t, tt.files, tt.want) })
	}
}

func TestTypes(t *testing.T) {
	enabled := custom + ".enabled"
	list := func(text string) []string { return []string{section("customNoUpgrade:", "  enabled: "+text)} }
	for _, tt := range []struct {
		name  string
		files []string
		want  []problem
	}{
		{"objects with names", list("[{name: MemoryQoS}]"),
			[]problem{{"a:4:17", "error", "wrong-type", enabled + "[0]", enabled + "[0] is a mapping, not a gate name", `write the bare name: "- MemoryQoS"`, ""}}},
		{"gates with values", []string{section("customNoUpgrade:", "  enabled:", "  - MemoryQoS: true", "  - Other:")}, []problem{
			{"a:5:9", "error", "wrong-type", enabled + "[0]", "is a mapping", `"- MemoryQoS"; the list already says whether it is enabled`, ""},
			{"a:6:9", "error", "wrong-type", enabled + "[1]", "is a mapping", `"- Other"`, ""}}},
		{"booleans, numbers, nothing", []string{section("customNoUpgrade:", "  enabled:", "  - true", "  - 1.30", "  - off", "  - 0x1F", "  -", "  - ~", "  - MemoryQoS")}, []problem{
			{"a:5:9", "error", "wrong-type", enabled + "[0]", enabled + "[0] is the boolean true, not a gate name", "write the name of a feature gate", ""},
			{"a:6:9", "error", "wrong-type", enabled + "[1]", "is the number 1.30", "booleans and numbers are none", ""},
			{"a:7:9", "error", "wrong-type", enabled + "[2]", "is the boolean false", "write the name", ""},
			{"a:8:9", "error", "wrong-type", enabled + "[3]", "is the number 0x1F", "write the name", ""},
			{"a:9:8", "error", "wrong-type", enabled + "[4]", enabled + "[4] is empty, not a gate name", "remove the empty item", ""},
			{"a:10:9", "error", "wrong-type", enabled + "[5]", "is empty", "remove the empty item", ""}}},
		{"lists in the list", list("[[A], [B, C], []]"), []problem{
			{"a:4:17", "error", "wrong-type", enabled + "[0]", "is a list", `"- A"`, ""},
			{"a:4:22", "error", "wrong-type", enabled + "[1]", "is a list", `"- B"`, ""},
			{"a:4:30", "error", "wrong-type", enabled + "[2]", "is a list", "write each name as an item of the outer list", ""}}},
		{"one name", list("MemoryQoS"),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, enabled + ` is the string "MemoryQoS", not a list`, "write the gates as a list: [MemoryQoS]", ""}}},
		{"names in a string", list(`"A, B,C"`),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, `the string "A, B,C"`, "write the gates as a list: [A, B, C]", ""}}},
		{"the flag in a string", list("A=true,B=false"),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, `the string "A=true,B=false"`, "write the gates as lists: {enabled: [A], disabled: [B]}", ""}}},
		{"dashes without spaces", []string{section("customNoUpgrade:", "  enabled:", "    -A", "    -B")},
			[]problem{{"a:5:9", "error", "wrong-type", enabled, `the string "-A -B"`, "write the gates as a list: [A, B]", ""}}},
		{"a stray bracket", list("A, B]"),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, `the string "A, B]"`, "[A, B]", ""}}},
		{"a mapping", list("{MemoryQoS: true, Other: false}"),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, "is a mapping, not a list", "{enabled: [MemoryQoS], disabled: [Other]}", ""}}},
		{"an empty string", list(`""`),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, `the string ""`, "write the gates as a list: [GateName]", ""}}},
		{"a boolean", list("yes"),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, "is the boolean true", "write the gates as a list", ""}}},
		{"a text that could forge output", list(`"\e[2J\u202e\n"`),
			[]problem{{"a:4:16", "error", "wrong-type", enabled, `the string "\x1b[2J\u202e\n"`, `["\x1b`, ""}}},

		{"lists without keys", []string{section("customNoUpgrade: [A, B]", "specialHandlingSupportExceptionRequired: A")}, []problem{
			{"a:3:22", "error", "wrong-type", custom, custom + " is a list, not a mapping", "in the lists enabled and disabled: {enabled: [A, B]}", ""},
			{"a:4:46", "error", "wrong-type", fg + ".specialHandlingSupportExceptionRequired", `the string "A"`, "{enabled: [A]}", ""}}},
		{"a list of sets", []string{section("featureSet: [CustomNoUpgrade]")},
			[]problem{{"a:3:17", "error", "wrong-type", fg + ".featureSet", fg + ".featureSet is a list, not a string", "featureSet: CustomNoUpgrade", ""}}},
		{"a set that is no string", []string{section("featureSet: {CustomNoUpgrade: true}", "minimumKubeletVersion: 1.36")}, []problem{
			{"a:3:17", "error", "wrong-type", fg + ".featureSet", "is a mapping", "write the name of one feature set", ""},
			{"a:4:28", "error", "wrong-type", fg + ".minimumKubeletVersion", "is the number 1.36, not a string", `"1.36.0"`, ""}}},
		{"the flag as section", []string{"apiServer:\n  featureGates: \"A=true,B=false\"\n"},
			[]problem{{"a:2:17", "error", "wrong-type", fg, fg + ` is the string "A=true,B=false", not a mapping`,
				"write {featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [A], disabled: [B]}}", ""}}},
		{"a list as section", []string{"apiServer:\n  featureGates:\n  - A=true\n  - B\n"},
			[]problem{{"a:3:3", "error", "wrong-type", fg, "is a list", "customNoUpgrade: {enabled: [A, B]}", ""}}},
		{"the set as section", []string{"apiServer:\n  featureGates: CustomNoUpgrade\n"},
			[]problem{{"a:2:17", "error", "wrong-type", fg, "is the string", "write {featureSet: CustomNoUpgrade}", ""}}},
		{"no space behind the colon", []string{section("featureSet:CustomNoUpgrade")},
			[]problem{{"a:3:5", "error", "wrong-type", fg, "is the string", "put a space behind each colon", ""}}},
		{"apiServer is a secret", []string{"apiServer: hunter2\n"},
			[]problem{{"a:1:12", "error", "wrong-type", "apiServer", "apiServer is a string, not a mapping", `each as "key: value"`, ""}}},
		{"apiServer is a list", []string{"apiServer:\n- featureGates: {}\n"},
			[]problem{{"a:2:1", "error", "wrong-type", "apiServer", "apiServer is a list, not a mapping", "write the settings below it", ""}}},

		{"quoted booleans", []string{"kubelet:\n  featureGates:\n    A: \"true\"\n    B: 1\n    C: yes\n    D:\n    E: {}\n"}, []problem{
			{"a:3:8", "error", "wrong-type", "kubelet.featureGates.A", `kubelet.featureGates.A is the string "true", not true or false`, "without quotes", ""},
			{"a:4:8", "error", "wrong-type", "kubelet.featureGates.B", "is the number 1", "write true or false", ""},
			{"a:7:8", "error", "wrong-type", "kubelet.featureGates.E", "is a mapping", "write true or false", ""}}},
		{"the flag for the kubelet", []string{"kubelet:\n  featureGates: A=true,B=false\n"},
			[]problem{{"a:2:17", "error", "wrong-type", "kubelet.featureGates", "not a mapping of gate names to true or false", "{A: true, B: false}", ""}}},
		{"a list for the kubelet", []string{"kubelet:\n  featureGates: [A]\n"},
			[]problem{{"a:2:17", "error", "wrong-type", "kubelet.featureGates", "is a list", "{A: true}", ""}}},
		{"kubelet is MicroShift's", []string{"kubelet: hunter2\n"}, nil},
		{"a replaced list does no harm", []string{section("customNoUpgrade: {enabled: [1, true, {}]}"), section("customNoUpgrade: {enabled: [A]}")}, nil},
		{"at the alias", []string{"x: &x [true]\napiServer: {featureGates: {customNoUpgrade: {enabled: *x}, featureSet: *x}}\n"}, []problem{
			{"a:1:8", "error", "wrong-type", enabled + "[0]", "is the boolean true", "", ""},
			{"a:2:72", "error", "wrong-type", fg + ".featureSet", "is a list", "", ""}}},
	} {
		t.Run(tt.name, func(t *testing.T) { checkProblems(t, tt.files, tt.want) })
	}
}

// TestNulls tells deletions that matter from others.
func TestNulls(t *testing.T) {
	base := section("featureSet: CustomNoUpgrade", "customNoUpgrade:", "  enabled: [A]", "  disabled: [B]")
	for _, tt := range []struct {
		name  string
		files []string
		want  []problem
	}{
		{"the section", []string{base, "apiServer:\n  featureGates:\n"},
			[]problem{{"b:2:3", "warning", "null-deletes", fg, "this empty key deletes " + fg + ", which a sets", "a key without a value is null, and null deletes", "a:2:3"}}},
		{"all of apiServer", []string{base, "apiServer: null\n"},
			[]problem{{"b:1:1", "warning", "null-deletes", "apiServer", "deletes " + fg + ", which a sets", "null deletes", "a:2:3"}}},
		{"the set", []string{base, section("featureSet: ~")},
			[]problem{{"b:3:5", "warning", "null-deletes", fg + ".featureSet", "deletes " + fg + ".featureSet", "null deletes", "a:3:5"}}},
		{"a list, all items commented out", []string{base, section("customNoUpgrade:", "  enabled:", "  # - A")},
			[]problem{{"b:4:7", "warning", "null-deletes", custom + ".enabled", "deletes " + custom + ".enabled", "null deletes", "a:5:7"}}},
		{"the kubelet's gates", []string{"kubelet: {featureGates: {A: true}}\n", "kubelet:\n"},
			[]problem{{"b:1:1", "warning", "null-deletes", "kubelet", "deletes kubelet.featureGates", "null deletes", "a:1:11"}}},
		{"one of the kubelet's gates", []string{"kubelet: {featureGates: {A: true}}\n", "kubelet: {featureGates: {A: }}\n"},
			[]problem{{"b:1:26", "warning", "null-deletes", "kubelet.featureGates.A", "deletes kubelet.featureGates.A", "null deletes", "a:1:26"}}},
		{"twice", []string{base, section("featureSet:"), section("featureSet:")},
			[]problem{{"b:3:5", "warning", "null-deletes", fg + ".featureSet", "which a sets", "", "a:3:5"}}},
		{"what nobody set", []string{section("customNoUpgrade:", "  enabled:", "  # - A"), section("featureSet:"), "apiServer: {featureGates: {featureSet: X}}\n"}, nil},
		{"what is MicroShift's", []string{"dns: {baseDomain: a}\napiServer: {auditLog: {a: 1}}\n", "dns:\napiServer: {auditLog: }\n"}, nil},
		{"apiServer without ours", []string{"apiServer: {auditLog: {a: 1}}\n", "apiServer:\n"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { checkProblems(t, tt.files, tt.want) })
	}
}
