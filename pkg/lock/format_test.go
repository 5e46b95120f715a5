package lock

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// upstream is a lock as MicroShift writes it.
const upstream = `customNoUpgrade:
  disabled: null
  enabled:
  - MemoryQoS
featureSet: CustomNoUpgrade
version: 4.21.0
`

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// sameLock compares locks by all that they say, but for unknown fields.
var sameLock = cmp.Options{cmpopts.IgnoreUnexported(Lock{}, Entry{}), cmpopts.EquateEmpty()}

func parseLock(t testing.TB, text string) *Lock {
	t.Helper()
	l, err := Parse("no-upgrade", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return l
}

func encodeLock(t testing.TB, l *Lock) string {
	t.Helper()
	data, err := l.encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func custom(enabled, disabled, exceptions string) Section {
	s := Section{FeatureSet: customNoUpgrade}
	s.CustomNoUpgrade = Lists{strings.Fields(enabled), strings.Fields(disabled)}
	s.Exceptions.Enabled = strings.Fields(exceptions)
	return s
}

func TestParseUpstream(t *testing.T) {
	want := &Lock{Section: custom("MemoryQoS", "", ""), Version: Version{4, 21, 0, "4.21.0"}}
	for name, text := range map[string]string{
		"as MicroShift writes it": upstream,
		"empty list":              strings.Replace(upstream, "null", "[]", 1),
		"list missing":            strings.Replace(upstream, "  disabled: null\n", "", 1),
		"unsorted, repeated":      strings.Replace(upstream, "- MemoryQoS", "- MemoryQoS\n  - MemoryQoS", 1),
		"null history":            upstream + "history: null\n",
		"CRLF":                    strings.ReplaceAll(upstream, "\n", "\r\n"),
		"flow style":              "{customNoUpgrade: {enabled: [MemoryQoS]}, featureSet: CustomNoUpgrade, version: 4.21.0}\n",
		"comments":                "# a\n" + upstream + "# b\n",
	} {
		if diff := cmp.Diff(want, parseLock(t, text), sameLock); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseUnusable(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, tc := range []struct{ name, text, reason string }{
		{"zero bytes", "", "is empty"},
		{"white space", " \n\n", "is empty"},
		{"comment", "# nothing\n", "is empty"},
		{"zeros", "\x00\x00\x00\x00", "is not YAML"},
		{"marker", "---\n", "is not a YAML mapping, but null"},
		{"binary", "\xff\xfe\x1b[31m", "is not YAML"},
		{"text", "hello\n", "is not a YAML mapping, but text"},
		{"list", "- a\n", "is not a YAML mapping, but a list"},
		{"null", "null\n", "is not a YAML mapping, but null"},
		{"no set", "version: 4.21.0\n", "has no featureSet"},
		{"null set", "featureSet: null\nversion: 4.21.0\n", "has no featureSet"},
		{"empty set", "featureSet: ''\nversion: 4.21.0\n", "has no featureSet"},
		{"no version", "featureSet: CustomNoUpgrade\n", "has no version"},
		{"short version", "featureSet: A\nversion: '4.21'\n", "has an unreadable version"},
		{"number version", "featureSet: A\nversion: 4.21\n", "version is a number, not text (line 2)"},
		{"cut in the version", strings.TrimSuffix(upstream, "\n"), "is cut off"},
		{"cut before the version", "customNoUpgrade:\n  enabled:\n", "has no featureSet"},
		{"zeros at the end", upstream + "\x00\x00", "is not YAML"},
		{"two documents", upstream + "---\n" + upstream, "has a second YAML document (line 7)"},
		{"marker at the end", upstream + "---\n", "has a second YAML document"},
		{"key twice", upstream + "version: 4.22.0\n", `has the key "version" twice (lines 6 and 7)`},
		{"nested key twice", "customNoUpgrade:\n  enabled: []\n  enabled: []\n" + "featureSet: A\nversion: 4.21.0\n", `"enabled" twice`},
		{"set is a list", "featureSet: [A]\nversion: 4.21.0\n", "featureSet is a list, not text"},
		{"group is a list", "customNoUpgrade: [A]\nfeatureSet: A\nversion: 4.21.0\n", "customNoUpgrade is a list, not a mapping"},
		{"names are text", "customNoUpgrade: {enabled: A}\nfeatureSet: A\nversion: 4.21.0\n", "customNoUpgrade.enabled is text, not a list of names"},
		{"name is a number", "customNoUpgrade: {enabled: [A, 1]}\nfeatureSet: A\nversion: 4.21.0\n", "customNoUpgrade.enabled[1] is a number, not a name"},
		{"name is null", "customNoUpgrade: {disabled: [~]}\nfeatureSet: A\nversion: 4.21.0\n", "customNoUpgrade.disabled[0] is null, not a name"},
		{"name is a mapping", "specialHandlingSupportExceptionRequired: {enabled: [{name: A}]}\nfeatureSet: A\nversion: 4.21.0\n", "is a mapping, not a name"},
		{"history is a mapping", "history: {}\nfeatureSet: A\nversion: 4.21.0\n", "history is a mapping, not a list"},
		{"entry is text", "history: [a]\nfeatureSet: A\nversion: 4.21.0\n", "history[0] is text, not a mapping"},
		{"entry is null", "history: [{}, null]\nfeatureSet: A\nversion: 4.21.0\n", "history[1] is null, not a mapping"},
		{"time", "history: [{time: noon}]\nfeatureSet: A\nversion: 4.21.0\n", `history[0].time is "noon", not a time`},
		{"far time", "history: [{time: '0000-01-01T00:00:00+10:00'}]\nfeatureSet: A\nversion: 4.21.0\n", "not a time"},
		{"delta", "history: [{added: [A]}]\nfeatureSet: A\nversion: 4.21.0\n", "history[0].added is a list, not a mapping"},
		{"delta list", "history: [{removed: {customNoUpgrade: {enabled: A}}}]\nfeatureSet: A\nversion: 4.21.0\n", "history[0].removed.customNoUpgrade.enabled is text"},
		{"alias", "a: &x {}\nb: *x\nfeatureSet: A\nversion: 4.21.0\n", "has a YAML anchor or alias (line 1)"},
		{"merge key", "<<: {featureSet: A}\nversion: 4.21.0\n", "has a key that is not text (line 1)"},
		{"tag", "featureSet: !x A\nversion: 4.21.0\n", "has a YAML tag (line 1)"},
		{"nested", "x: " + deep + "\nfeatureSet: A\nversion: 4.21.0\n", "is nested more than 20 levels deep"},
		{"huge", upstream + strings.Repeat("#", maxLock), "is over 1048576 bytes"},
		{"unknown anchor", "a: *" + strings.Repeat("x", 500) + "\n", "is not YAML"},
	} {
		l, err := Parse("/var/lib/microshift/no-upgrade", []byte(tc.text))
		var unusable *UnusableError
		if !errors.As(err, &unusable) {
			t.Errorf("%s: Parse = %v, %v, want an *UnusableError", tc.name, l, err)
			continue
		}
		if !strings.Contains(unusable.Reason, tc.reason) {
			t.Errorf("%s: the reason is %q, want %q", tc.name, unusable.Reason, tc.reason)
		}
		if text := err.Error(); len(text) > 250 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == utf8.RuneError }) {
			t.Errorf("%s: the error prints the file raw or unbounded: %q", tc.name, text)
		}
	}
}

// locks returns several locks that Check has made.
func locks(t testing.TB) map[string]*Lock {
	first := Check(nil, custom("MemoryQoS on", "B", "E"), version(t, "4.21.10"), PolicyNone, noon).Next
	changed := Check(first, custom("C", "", ""), version(t, "4.21.10"), PolicyNone, noon.Add(time.Hour)).Next
	moved := Check(changed, custom("C", "", "C"), version(t, "4.21.11~rc.1"), PolicyZStream, noon.Add(2*time.Hour)).Next
	long := moved
	for i := range 2 * maxHistory {
		long = Check(long, custom(fmt.Sprintf("G%d", i), "", ""), version(t, "4.21.11"), PolicyNone, noon.Add(time.Duration(i)*24*time.Hour)).Next
	}
	return map[string]*Lock{
		"no gates":  Check(nil, custom("", "", ""), version(t, "5.0.0"), PolicyNone, noon).Next,
		"preview":   Check(nil, Section{FeatureSet: "TechPreviewNoUpgrade"}, version(t, "4.21.10"), PolicyNone, noon).Next,
		"first":     first,
		"changed":   changed,
		"moved":     moved,
		"long":      long,
		"upstream":  parseLock(t, upstream),
		"unknown":   parseLock(t, unknown),
		"odd names": {Section: custom("\"quote\" \x1b[31m null ~ 1.0 yes x:y #z 日本 \u2028", "- ! &a *b", ""), Version: version(t, "4.21.1")},
	}
}

func TestRoundTrip(t *testing.T) {
	for name, l := range locks(t) {
		text := encodeLock(t, l)
		got := parseLock(t, text)
		want := *l
		want.Gates = want.normal()
		if diff := cmp.Diff(&want, got, sameLock); diff != "" {
			t.Errorf("%s: what was written reads differently (-want +got):\n%s", name, diff)
		}
		if again := encodeLock(t, got); again != text {
			t.Errorf("%s: writing again gives\n%s\nwant\n%s", name, again, text)
		}
	}
}

func TestEveryPrefixIsUnusable(t *testing.T) {
	for name, l := range locks(t) {
		text := encodeLock(t, l)
		for n := range len(text) {
			if len(text)-n > 1000 && n%17 != 0 {
				continue // a long history is slow to parse that often
			}
			if got, err := Parse("no-upgrade", []byte(text[:n])); err == nil {
				t.Errorf("%s: cut after %d of %d bytes, it reads as %v %v, want an *UnusableError", name, n, len(text), got.FeatureSet, got.Version)
			}
		}
	}
	// MicroShift's own lock has the version last as well.
	for n := range len(upstream) {
		if _, err := Parse("no-upgrade", []byte(upstream[:n])); err == nil {
			t.Errorf("MicroShift's lock cut after %d bytes reads, want an *UnusableError", n)
		}
	}
}

// unknown has a field zN of a later version at every mapping level.
const unknown = `customNoUpgrade:
  enabled: [B, A]
  z1: {a: 1, b: [0x1F, 1.10, true, null, "true", 2026-08-01], c: {}, d: []}
featureSet: CustomNoUpgrade
history:
- time: 2026-08-01T12:00:00Z
  version: 4.21.0
  change: locked
  added:
    customNoUpgrade: {enabled: [A], z2: text}
    z3: "multi\nline "
  countsAgainstUpgrade: {enabled: [C], z4: "on"}
  z5: |
    block
specialHandlingSupportExceptionRequired: {z6: [[1, [2]], {x: y}]}
version: 4.21.0
z7: last
`

func TestUnknownFieldsSurvive(t *testing.T) {
	var want, got map[string]any
	l := parseLock(t, unknown)
	for i, now := range []Section{custom("C", "", "D"), custom("A", "", ""), custom("A B", "", "")} {
		l = Check(l, now, version(t, "4.21.0"), PolicyNone, noon).Next
		if l == nil {
			t.Fatalf("rewrite %d: Check has nothing to write, want a changed lock", i)
		}
		l = parseLock(t, encodeLock(t, l))
	}
	text := encodeLock(t, l)
	if err := sigsyaml.Unmarshal([]byte(unknown), &want); err != nil {
		t.Fatal(err)
	}
	if err := sigsyaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	// All that the rewrites may add.
	got["history"] = got["history"].([]any)[:1]
	delete(got["customNoUpgrade"].(map[string]any), "disabled")
	want["customNoUpgrade"].(map[string]any)["enabled"] = []any{"A", "B"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after three rewrites (-want +got):\n%s\n%s", diff, text)
	}
	if !strings.HasSuffix(text, "\nversion: 4.21.0\n") {
		t.Errorf("the version is not the last line, want it there so that a cut shows:\n%s", text)
	}
}

// TestMicroShiftReads decodes our locks as MicroShift does, into a struct like
// its own in pkg/admin/prerun/featuregate_lock.go.
func TestMicroShiftReads(t *testing.T) {
	for name, l := range locks(t) {
		var got struct {
			FeatureSet      string `json:"featureSet"`
			CustomNoUpgrade struct {
				Enabled  []string `json:"enabled"`
				Disabled []string `json:"disabled"`
			} `json:"customNoUpgrade"`
			Version string `json:"version"`
		}
		text := encodeLock(t, l)
		if err := sigsyaml.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: MicroShift reads %v\n%s", name, err, text)
			continue
		}
		want := l.CustomNoUpgrade.normal()
		if diff := cmp.Diff(want, Lists(got.CustomNoUpgrade)); diff != "" { // null for an empty list, as its own
			t.Errorf("%s: MicroShift reads other gates (-want +got):\n%s\n%s", name, diff, text)
		}
		if got.FeatureSet != l.FeatureSet || got.Version != l.Version.release().String() {
			t.Errorf("%s: MicroShift reads %q %q, want %q %q", name, got.FeatureSet, got.Version, l.FeatureSet, l.Version.release())
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	big := make([]string, 100_000)
	for i := range big {
		big[i] = fmt.Sprintf("Gate%09d", i)
	}
	for name, l := range map[string]*Lock{
		"no set":     {Version: version(t, "4.21.0")},
		"no version": {Section: custom("A", "", ""), Version: Version{Text: "unknown"}},
		"not UTF-8":  {Section: custom("\xff", "", ""), Version: version(t, "4.21.0")},
		"too big":    {Section: Section{FeatureSet: customNoUpgrade, Gates: Gates{CustomNoUpgrade: Lists{Enabled: big}}}, Version: version(t, "4.21.0")},
	} {
		if data, err := l.encode(); err == nil {
			t.Errorf("%s: encode gives %d bytes, want an error: it could not be read back", name, len(data))
		}
	}
}

func FuzzRead(f *testing.F) {
	for name, l := range locks(f) {
		if name != "long" {
			f.Add([]byte(encodeLock(f, l)))
		}
	}
	for _, text := range []string{upstream, unknown, "", "a: *b\n", "{featureSet: A, version: 4.21.0, x: ? }\n", "? [a]\n: b\n", "a: |+\n  x\n\n", "<<: {}\n", "\ufeffa: b\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("no-upgrade", data)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) || len(err.Error()) > 600 {
				t.Errorf("the error prints the file raw or unbounded: %q", err)
			}
			return
		}
		text, err := l.encode()
		if err != nil {
			if len(data) < maxLock/20 {
				t.Errorf("what was read can't be written: %v", err)
			}
			return
		}
		got, err := Parse("no-upgrade", text)
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%q", err, text)
		}
		if diff := cmp.Diff(l, got, sameLock); diff != "" {
			t.Errorf("what was written reads differently (-want +got):\n%s\n%s", diff, text)
		}
		if diff := cmp.Diff(dump(l.doc), dump(got.doc)); diff != "" {
			t.Errorf("unknown fields read differently (-want +got):\n%s\n%s", diff, text)
		}
	})
}

// dump returns the fields of the top level that package lock does not know, in
// a form that can be compared.
func dump(doc *yaml.Node) map[string]any {
	var value func(n *yaml.Node) any
	value = func(n *yaml.Node) any {
		if n.Kind == yaml.ScalarNode {
			return n.ShortTag() + " " + n.Value
		}
		var out []any
		for _, c := range n.Content {
			out = append(out, value(c))
		}
		return out
	}
	out := map[string]any{}
	for key, n := range pairs(doc) {
		switch key {
		case keyCustom, keyExceptions, keyFeatureSet, keyHistory, keyVersion:
		default:
			out[key] = value(n)
		}
	}
	return out
}
