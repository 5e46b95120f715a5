package lock

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
)

// own is a lock as this package writes it, for tables.
func own(version string, s Section, counted ...string) *Lock {
	v, err := ParseVersion(version)
	if err != nil {
		panic(err)
	}
	l := &Lock{Section: s, Version: v}
	if len(counted) > 0 {
		l.History = []Entry{{Change: "gates changed", CountsAgainstUpgrade: Lists{Enabled: counted}}}
	}
	return l
}

func TestCheck(t *testing.T) {
	none := Section{}
	techPreview := Section{FeatureSet: "TechPreviewNoUpgrade"}
	a := custom("A", "", "")
	aExempt := custom("A", "", "A")
	for _, tc := range []struct {
		name    string
		lock    *Lock
		now     Section
		running string
		policy  Policy
		want    Kind
	}{
		{"nothing", nil, none, "4.21.0", PolicyNone, None},
		{"first start", nil, a, "4.21.0", PolicyNone, Created},
		{"first start without gates", nil, custom("", "", ""), "4.21.0", PolicyNone, Created},
		{"first start of a preview set", nil, techPreview, "4.21.0", PolicyNone, Created},

		{"the same", own("4.21.0", a), a, "4.21.0", PolicyNone, Held},
		{"another order, repeated", own("4.21.0", custom("A B", "", "")), custom("B A B", "", ""), "4.21.0", PolicyNone, Held},
		{"suffix in the lock", own("4.14.0~ec3", a), a, "4.14.0", PolicyNone, Held},
		{"suffix of the running version", own("5.0.0-0.nightly-arm64-2026-07-27-004356", a), a, "5.0.0-0.nightly-2026-07-23-224236", PolicyNone, Held},
		{"preview set", own("4.21.0", techPreview), techPreview, "4.21.0", PolicyNone, Held},

		{"set removed", own("4.21.0", a), none, "4.21.0", PolicyNone, RefusedRemoved},
		{"set removed, lists kept", own("4.21.0", a), Section{Gates: a.Gates}, "4.21.0", PolicyNone, RefusedRemoved},
		{"preview set removed", own("4.21.0", techPreview), none, "4.21.0", PolicyNone, RefusedRemoved},
		{"set removed and version differs", own("4.21.0", a), none, "4.22.0", PolicyZStream, RefusedRemoved},
		{"set changed", own("4.21.0", a), techPreview, "4.21.0", PolicyNone, RefusedSetChanged},
		{"preview to custom", own("4.21.0", techPreview), aExempt, "4.21.0", PolicyNone, RefusedSetChanged},
		{"preview to preview", own("4.21.0", techPreview), Section{FeatureSet: "DevPreviewNoUpgrade"}, "4.21.0", PolicyNone, RefusedSetChanged},
		{"set changed and version differs", own("4.21.0", a), techPreview, "4.21.5", PolicyZStream, RefusedSetChanged},

		{"gate added", own("4.21.0", a), custom("A B", "", ""), "4.21.0", PolicyNone, Changed},
		{"gate removed", own("4.21.0", a), custom("", "", ""), "4.21.0", PolicyNone, Changed},
		{"gate turned over", own("4.21.0", a), custom("", "A", ""), "4.21.0", PolicyNone, Changed},
		{"gate moved to the exceptions", own("4.21.0", a), custom("", "", "A"), "4.21.0", PolicyNone, Changed},
		{"exception added", own("4.21.0", a), aExempt, "4.21.0", PolicyNone, Changed},
		{"exception removed", own("4.21.0", aExempt), a, "4.21.0", PolicyNone, Changed},

		{"upgrade, major", own("4.22.0", a), a, "5.0.0", PolicyNone, RefusedVersion},
		{"upgrade, minor", own("4.21.0", a), a, "4.22.0", PolicyNone, RefusedVersion},
		{"upgrade, patch", own("4.21.0", a), a, "4.21.1", PolicyNone, RefusedVersion},
		{"downgrade, minor", own("4.22.0", a), a, "4.21.9", PolicyNone, RefusedVersion},
		{"downgrade, patch", own("4.21.5", a), a, "4.21.4", PolicyNone, RefusedVersion},
		{"upgrade of a preview set", own("4.21.0", techPreview), techPreview, "4.22.0", PolicyNone, RefusedVersion},
		{"upgrade with a changed list", own("4.21.0", a), custom("B", "", ""), "4.22.0", PolicyNone, RefusedVersion},
		{"upgrade with no gate at all", own("4.21.0", custom("", "", "")), custom("", "", ""), "4.22.0", PolicyNone, RefusedVersion},

		{"z-stream, up", own("4.21.0", a), a, "4.21.5", PolicyZStream, MovedByPolicy},
		{"z-stream, down", own("4.21.5", a), a, "4.21.0", PolicyZStream, MovedByPolicy},
		{"z-stream with a changed list", own("4.21.0", a), custom("B", "", ""), "4.21.5", PolicyZStream, MovedByPolicy},
		{"z-stream of a preview set", own("4.21.0", techPreview), techPreview, "4.21.5", PolicyZStream, MovedByPolicy},
		{"z-stream, the same", own("4.21.0", a), a, "4.21.0", PolicyZStream, Held},
		{"z-stream, minor", own("4.21.0", a), a, "4.22.0", PolicyZStream, RefusedVersion},
		{"z-stream, major with the same minor", own("4.0.0", a), a, "5.0.1", PolicyZStream, RefusedVersion},

		{"exempt", own("4.21.0", aExempt), aExempt, "4.22.0", PolicyNone, MovedByException},
		{"exempt, downgrade", own("4.22.0", aExempt), aExempt, "4.21.0", PolicyNone, MovedByException},
		{"exempt at upgrade time", own("4.21.0", a), aExempt, "4.22.0", PolicyNone, MovedByException},
		{"exempt by the exceptions alone", own("4.21.0", a), custom("", "", "A"), "4.22.0", PolicyNone, MovedByException},
		{"exempt, lock without gates", own("4.21.0", custom("", "", "")), custom("", "", "A"), "4.22.0", PolicyNone, MovedByException},
		{"exempt, z-stream too", own("4.21.0", aExempt), aExempt, "4.21.5", PolicyZStream, MovedByException},
		{"only a former exception is gone", own("4.21.0", custom("A B", "", "A B")), aExempt, "4.22.0", PolicyNone, MovedByException},
		{"exempt, history too", own("4.21.0", a, "A", "B"), custom("A", "", "A B"), "4.22.0", PolicyNone, MovedByException},
		{"no exception is left", own("4.21.0", aExempt), custom("", "", ""), "4.22.0", PolicyNone, RefusedVersion},
		{"exception in the lock alone", own("4.21.0", aExempt), a, "4.22.0", PolicyNone, RefusedVersion},
		{"not exempt in the configuration", own("4.21.0", aExempt), custom("A B", "", "A"), "4.22.0", PolicyNone, RefusedVersion},
		{"not exempt in the lock", own("4.21.0", custom("A B", "", "")), aExempt, "4.22.0", PolicyNone, RefusedVersion},
		{"not exempt in the history", own("4.21.0", a, "B"), aExempt, "4.22.0", PolicyNone, RefusedVersion},
		{"exempt for the other value", own("4.21.0", custom("", "A", "")), custom("", "", "A"), "4.22.0", PolicyNone, RefusedVersion},
		{"exceptions of a preview set", own("4.21.0", techPreview), Section{techPreview.FeatureSet, aExempt.Gates}, "4.22.0", PolicyNone, RefusedVersion},
	} {
		v := Check(tc.lock, tc.now, version(t, tc.running), tc.policy, noon)
		if v.Kind != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, v.Kind, tc.want)
		}
		if refused := strings.HasPrefix(tc.want.String(), "refused-"); v.Refused() != refused {
			t.Errorf("%s: Refused is %v, want %v", tc.name, v.Refused(), refused)
		}
		if writes := !v.Refused() && tc.want != None && tc.want != Held; (v.Next != nil) != writes {
			t.Errorf("%s: there is something to write: %v, want %v", tc.name, v.Next != nil, writes)
		}
		checkNext(t, tc.name, v, tc.policy)
	}
}

// checkNext checks what every written lock has to be.
func checkNext(t *testing.T, name string, v Verdict, p Policy) {
	t.Helper()
	if v.Next == nil {
		return
	}
	again := Check(v.Next, v.Now, v.Running, p, noon)
	if again.Kind != Held {
		t.Errorf("%s: the next start is %v, want held", name, again.Kind)
	}
	before := 0
	if v.Lock != nil {
		before = len(v.Lock.History)
	}
	if n := len(v.Next.History); n != before+1 {
		t.Errorf("%s: the history has %d entries, want one more than %d", name, n, before)
	}
	e := v.Next.History[len(v.Next.History)-1]
	if !e.Time.Equal(noon) || e.Version != v.Running.String() || e.Change == "" || !cmp.Equal(e.Added, v.Added) || !cmp.Equal(e.Removed, v.Removed) {
		t.Errorf("%s: the history says %+v, want time, version, change and the difference", name, e)
	}
	if version := v.Next.Version; v.Kind != Changed && version != v.Running.release() {
		t.Errorf("%s: the lock is at %v, want %v", name, version, v.Running.release())
	}
}

func TestCheckDifference(t *testing.T) {
	l := own("4.14.0~ec3", custom("A B", "C", "E"))
	v := Check(l, custom("A D", "B", "C"), version(t, "4.14.0"), PolicyNone, noon)
	added := Gates{CustomNoUpgrade: Lists{Enabled: []string{"D"}, Disabled: []string{"B"}}, Exceptions: Lists{Enabled: []string{"C"}}}
	removed := Gates{CustomNoUpgrade: Lists{Enabled: []string{"B"}, Disabled: []string{"C"}}, Exceptions: Lists{Enabled: []string{"E"}}}
	if diff := cmp.Diff([]Gates{added, removed}, []Gates{v.Added, v.Removed}); diff != "" {
		t.Errorf("added and removed (-want +got):\n%s", diff)
	}
	// E was never set without an exception, A still is set.
	counts := Lists{Enabled: []string{"B"}, Disabled: []string{"C"}}
	if diff := cmp.Diff(counts, v.Next.History[0].CountsAgainstUpgrade); diff != "" {
		t.Errorf("what counts against an upgrade (-want +got):\n%s", diff)
	}
	if v.Next.Version.Text != "4.14.0~ec3" {
		t.Errorf("the lock is at %v now, want its version left as it was written", v.Next.Version)
	}
	if l.History != nil || l.CustomNoUpgrade.Enabled[1] != "B" {
		t.Errorf("Check has changed the lock that it was given: %+v", l)
	}
}

func TestRemovedGateBlocksForever(t *testing.T) {
	l := own("4.21.0", custom("MemoryQoS", "", ""))
	v421, v422 := version(t, "4.21.0"), version(t, "4.22.0")
	l = Check(l, custom("Other", "", ""), v421, PolicyNone, noon).Next
	for i := range 3 * maxHistory {
		v := Check(l, custom("", "", fmt.Sprintf("E%d", i)), v421, PolicyNone, noon.Add(time.Duration(i)*time.Minute))
		l = v.Next
		if n := len(l.History); n > maxHistory {
			t.Fatalf("the history has %d entries, want at most %d", n, maxHistory)
		}
	}
	if first := l.History[0]; !first.Time.Equal(noon) || !strings.Contains(first.Change, "several changes") {
		t.Errorf("the oldest entry is %+v, want it to stand for several changes since noon", first)
	}
	v := Check(l, custom("", "", "E1"), v422, PolicyNone, noon)
	want := Lists{Enabled: []string{"MemoryQoS", "Other"}}
	if v.Kind != RefusedVersion || !cmp.Equal(v.Blocking, want) {
		t.Errorf("%v by %v, want refused-version by %v", v.Kind, v.Blocking, want)
	}
	v = Check(l, custom("", "", "MemoryQoS Other"), v422, PolicyNone, noon)
	if v.Kind != MovedByException {
		t.Errorf("with every gate exempt: %v by %v, want moved-by-exception", v.Kind, v.Blocking)
	}
	// Moving to another version forgives nothing.
	v = Check(v.Next, custom("", "", "Other"), version(t, "4.23.0"), PolicyNone, noon)
	if want := (Lists{Enabled: []string{"MemoryQoS"}}); v.Kind != RefusedVersion || !cmp.Equal(v.Blocking, want) {
		t.Errorf("at the next upgrade: %v by %v, want refused-version by %v", v.Kind, v.Blocking, want)
	}
}

func TestUpstreamLockTakesExceptions(t *testing.T) {
	v := Check(parseLock(t, upstream), custom("MemoryQoS", "", "MemoryQoS"), version(t, "4.21.0"), PolicyNone, noon)
	if v.Kind != Changed || !cmp.Equal(v.Next.Exceptions, Lists{Enabled: []string{"MemoryQoS"}}) {
		t.Errorf("%v with exceptions %v, want changed with MemoryQoS", v.Kind, v.Next.Exceptions)
	}
}

func TestVersionBlocked(t *testing.T) {
	a, exempt := custom("A", "", ""), custom("A", "", "A")
	for _, tc := range []struct {
		name    string
		lock    *Lock
		now     Section
		running string
		policy  Policy
		want    bool
	}{
		{"same version", own("4.21.0", a), Section{}, "4.21.0", PolicyNone, false},
		{"other version", own("4.21.0", a), Section{}, "4.22.0", PolicyNone, true},
		{"allowed by the policy", own("4.21.0", a), Section{}, "4.21.1", PolicyZStream, false},
		{"exempt once it is put back", own("4.21.0", exempt), Section{}, "4.22.0", PolicyNone, false},
		{"exempt only in the other set", own("4.21.0", a), Section{"TechPreviewNoUpgrade", exempt.Gates}, "4.22.0", PolicyNone, true},
	} {
		if v := Check(tc.lock, tc.now, version(t, tc.running), tc.policy, noon); v.VersionBlocked != tc.want {
			t.Errorf("%s: VersionBlocked is %v, want %v", tc.name, v.VersionBlocked, tc.want)
		}
	}
}

func TestSectionOf(t *testing.T) {
	names := func(list ...string) (n config.Names) {
		for _, name := range list {
			n.V = append(n.V, config.Value[string]{V: name})
		}
		return n
	}
	got := SectionOf(config.FeatureGates{
		FeatureSet:      config.Value[string]{V: customNoUpgrade},
		CustomNoUpgrade: config.Lists{Enabled: names("B", "A", "B"), Disabled: names("C")},
		Exceptions:      config.Lists{Disabled: names("C")},
	})
	want := custom("A B", "C", "")
	want.Exceptions = Lists{Disabled: []string{"C"}}
	if diff := cmp.Diff(want, got, sameLock); diff != "" {
		t.Errorf("SectionOf (-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	for k := None; k <= RefusedVersion; k++ {
		if k.String() == "" || strings.HasPrefix(k.String(), "Kind(") {
			t.Errorf("kind %d has no name", int(k))
		}
	}
	if got := Kind(99).String(); got != "Kind(99)" {
		t.Errorf("an unknown kind prints %q, want Kind(99)", got)
	}
	for _, p := range []Policy{PolicyNone, PolicyZStream} {
		if got, err := ParsePolicy(p.String()); err != nil || got != p {
			t.Errorf("ParsePolicy(%q) = %v, %v, want the same policy", p, got, err)
		}
	}
	for _, text := range []string{"", "Z-Stream", "all\x1b"} {
		if p, err := ParsePolicy(text); err == nil || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("ParsePolicy(%q) = %v, %v, want an error that escapes it", text, p, err)
		}
	}
}
