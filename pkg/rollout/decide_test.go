package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sameVersion = cmp.Comparer(func(v, w Version) bool { return v == w })

// must reads a minimum.
func must(s string) Version {
	v, err := ParseMinimum(s)
	if err != nil {
		panic(err)
	}
	return v
}

// kubelets makes nodes a, b, … of the versions.
func kubelets(versions ...string) []Node {
	var nodes []Node
	for i, v := range versions {
		nodes = append(nodes, Node{Name: string(rune('a' + i)), Kubelet: v})
	}
	return nodes
}

// The table of the design page, then what lies around it.
func TestDecide(t *testing.T) {
	all36 := kubelets("v1.36.2", "v1.36.0", "1.36.1+x")
	for _, tt := range []struct {
		spec, status, requires string
		nodes                  []Node
		on                     bool
		reason                 Reason
		next                   string
	}{
		{"", "", "1.30.0", all36, false, NoMinimum, ""},
		{"1.30.0", "1.30.0", "1.30.0", all36, true, Satisfied, "1.30.0"},
		{"1.31.0", "1.31.0", "1.30.0", all36, true, Satisfied, "1.31.0"},
		{"1.30.0", "1.30.0", "1.31.0", all36, false, MinimumTooLow, "1.30.0"},
		{"1.30.0", "1.30.0", "1.30.0", kubelets("v1.36.2", "v1.29.8"), false, KubeletOutdated, "1.30.0"},
		{"1.30.0", "", "1.30.0", all36, false, StatusPending, "1.30.0"},

		{"", "1.30.0", "1.30.0", all36, false, NoMinimum, ""},
		{"1.29.0", "1.30.0", "1.30.0", all36, false, MinimumTooLow, "1.29.0"},
		{"1.31.0", "1.30.0", "1.31.0", all36, false, StatusPending, "1.31.0"},
		{"1.31.0", "1.30.0", "1.30.0", all36, true, Satisfied, "1.31.0"},
		{"1.31.0", "1.30.0", "1.30.0", kubelets("1.30.5"), true, Satisfied, "1.30.0"},
		{"1.31.0", "", "1.30.0", kubelets("1.30.5"), false, StatusPending, ""},
		{"1.30.0", "1.30.0", "1.30.0", nil, false, NoNodes, "1.30.0"},
		{"1.30.0", "", "1.30.0", nil, false, StatusPending, ""},
		{"1.30.0", "1.30.0", "1.30.0", kubelets("1.36.0", "bogus"), false, KubeletUnknown, "1.30.0"},
		{"1.30.0", "1.30.0", "1.30.0", kubelets("", "1.29.0"), false, KubeletOutdated, "1.30.0"},
		{"1.30.0", "", "1.30.0", kubelets("1.36.0", "1.30"), false, StatusPending, ""},
		{"1.37.0", "1.37.0", "1.30.0", all36, true, Satisfied, "1.37.0"},
		{"0.0.0", "0.0.0", "", kubelets("1.0.0"), true, Satisfied, "0.0.0"},
		{"0.0.0", "0.0.0", "", kubelets("bogus"), false, KubeletUnknown, "0.0.0"},
		{"0.0.0", "", "", all36, false, StatusPending, "0.0.0"},
	} {
		t.Run(fmt.Sprintf("%s,%s,%s,%d", tt.spec, tt.status, tt.requires, len(tt.nodes)), func(t *testing.T) {
			d := Decide(must(tt.spec), must(tt.status), []Guard{{"G", must(tt.requires), Settable}}, tt.nodes)
			if got := slices.Contains(d.Enabled, "G"); got != tt.on || slices.Contains(d.Disabled, "G") == got {
				t.Errorf("enabled %v, disabled %v, want on: %v", d.Enabled, d.Disabled, tt.on)
			}
			if len(d.Verdicts) != 1 || d.Verdicts[0].Reason != tt.reason || d.Verdicts[0].On() != tt.on {
				t.Errorf("verdicts %+v, want %s", d.Verdicts, tt.reason)
			}
			if d.NextStatus != must(tt.next) {
				t.Errorf("next status %v, want %s", d.NextStatus, tt.next)
			}
		})
	}
}

// The same is decided on a device of any Kubernetes, whatever it locks or lacks.
func TestDecideStanding(t *testing.T) {
	want := Decision{
		Enabled:    []string{"Locked", "ProcMountType", "UserNamespacesPodSecurityStandards"},
		Disabled:   []string{"UserNamespacesSupport"},
		NextStatus: V(1, 30, 0),
		Reason:     Satisfied,
		Verdicts: []Verdict{
			{Gate: "Locked", Requires: V(1, 30, 0), Reason: Satisfied},
			{Gate: "ProcMountType", Requires: V(1, 30, 0), Reason: Satisfied},
			{Gate: "UserNamespacesPodSecurityStandards", Requires: V(1, 30, 0), Reason: Satisfied},
			{Gate: "UserNamespacesSupport", Requires: V(1, 35, 0), Reason: MinimumTooLow}, // the stricter row
		},
	}
	for _, tt := range []struct {
		standing map[string]Standing
		outside  []string
	}{
		{nil, []string{"Locked", "ProcMountType", "UserNamespacesPodSecurityStandards"}},
		{map[string]Standing{"ProcMountType": LockedOn, "UserNamespacesPodSecurityStandards": Settable}, []string{"Locked", "ProcMountType"}},
		{map[string]Standing{"ProcMountType": Settable, "UserNamespacesPodSecurityStandards": Settable}, []string{"Locked"}},
	} {
		guards := DefaultGuards(func(gate string) Standing { return tt.standing[gate] })
		guards = append(guards, Guard{"Locked", V(1, 30, 0), LockedOff}, Guard{"UserNamespacesSupport", V(1, 35, 0), Settable})
		if diff := cmp.Diff(want, Decide(V(1, 30, 0), V(1, 30, 0), guards, kubelets("1.36.0")), sameVersion); diff != "" {
			t.Errorf("%v: %s", tt.standing, diff)
		}
		if got := outside(guards); !slices.Equal(got, tt.outside) {
			t.Errorf("%v: %v are left alone, want %v", tt.standing, got, tt.outside)
		}
	}
	if got := outside(DefaultGuards(nil)); len(got) != 3 {
		t.Errorf("with nothing known, only %v are left alone", got)
	}
}

// Decide neither depends on the order of its arguments nor changes them.
func TestDecideOrder(t *testing.T) {
	guards := DefaultGuards(func(string) Standing { return Settable })
	nodes := kubelets("1.29.0", "bogus", "1.36.0", "1.28.0")
	want := Decide(V(1, 30, 0), V(1, 30, 0), guards, nodes)
	if got := want.Verdicts[0].Nodes; !slices.Equal(got, []string{"a", "b", "d"}) {
		t.Errorf("short: %v", got)
	}
	slices.Reverse(guards)
	slices.Reverse(nodes)
	first := nodes[0].Name
	if got := Decide(V(1, 30, 0), V(1, 30, 0), guards, nodes); !cmp.Equal(want, got, sameVersion) {
		t.Errorf("%+v\n%+v", want, got)
	}
	if guards[0].Gate != "UserNamespacesSupport" || nodes[0].Name != first {
		t.Error("an argument was sorted in place")
	}
}

func TestLagging(t *testing.T) {
	nodes := kubelets("1.34.1", "v1.35.0", "bogus", "1.33.9", "1.36.0-alpha.1")
	since := map[string]Version{"New": V(1, 36, 0), "Mid": V(1, 34, 2), "Old": V(1, 4, 0)}
	got := Lagging([]string{"Old", "New", "Mid", "New", "NotThere"}, since, nodes)
	want := []Lag{
		{"Mid", V(1, 34, 2), []string{"a", "d"}},
		{"New", V(1, 36, 0), []string{"a", "b", "d"}},
	}
	if diff := cmp.Diff(want, got, sameVersion); diff != "" {
		t.Error(diff)
	}
	if s := got[1].String(); !strings.Contains(s, "New exists since Kubernetes 1.36.0") || !strings.Contains(s, "a, b, d") {
		t.Error(s)
	}
}
