package lock

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"
)

var site = Site{
	Path:  "/var/lib/microshift/no-upgrade",
	Files: []string{"/etc/microshift/config.yaml", "/etc/microshift/config.d/10-fg.yaml"},
}

func TestExplain(t *testing.T) {
	l := Check(nil, custom("MemoryQoS Alpha", "Off", "Exempt"), version(t, "4.21.0"), PolicyNone, noon).Next
	for _, tc := range []struct {
		name    string
		now     Section
		running string
		says    []string
		silent  string
	}{
		{"removed", Section{}, "4.21.0", []string{
			`holds feature set "CustomNoUpgrade", and the configuration sets none`,
			"This start has:\n  no feature set, MicroShift 4.21.0\n",
			"put the configuration back as below.\n",
			"      - Alpha\n      - MemoryQoS\n",
		}, `go back to|older|(?i)(you|user) removed|upgrade of`},
		{"removed, and another version", Section{}, "4.22.0", []string{
			"put the configuration back as below; and go back to MicroShift 4.21.0",
		}, `(?i)(you|user) removed`},
		{"changed", Section{FeatureSet: "TechPreviewNoUpgrade"}, "4.21.0", []string{
			`holds feature set "CustomNoUpgrade", and the configuration sets "TechPreviewNoUpgrade"`,
			`put the configuration back as below, in place of what sets "TechPreviewNoUpgrade".`,
		}, `go back to`},
		{"upgrade", custom("New", "", "Exempt"), "4.22.0", []string{
			"holds MicroShift 4.21.0, and this is MicroShift 4.22.0: an upgrade is not allowed",
			`customNoUpgrade.enabled: "New"`,
			`enabled: "Alpha", "MemoryQoS", "New"` + "\n  disabled: \"Off\"\n",
			"go back to MicroShift 4.21.0, the locked version.",
		}, `downgrade|older|put the configuration back|apiServer:`},
		{"downgrade", custom("MemoryQoS Alpha", "Off", "Exempt"), "4.20.9", []string{
			"holds MicroShift 4.21.0, and this is MicroShift 4.20.9: a downgrade to an older version is not allowed",
		}, `(?i)an upgrade|upgrade (from|to |of)|put the configuration back`},
	} {
		text := Check(l, tc.now, version(t, tc.running), PolicyNone, noon).Explain(site)
		for _, want := range append(tc.says,
			"the lock /var/lib/microshift/no-upgrade holds ",
			"The lock holds:\n  feature set \"CustomNoUpgrade\", MicroShift 4.21.0\n",
			`  customNoUpgrade.enabled: "Alpha", "MemoryQoS"`,
			`  customNoUpgrade.disabled: "Off"`,
			`  specialHandlingSupportExceptionRequired.enabled: "Exempt"`,
			"  on record since 2026-08-01T12:00:00Z\n",
			"configuration read from /etc/microshift/config.yaml, /etc/microshift/config.d/10-fg.yaml\n",
			"microshift-cleanup-data --all", "every file in /etc/microshift/config.d", "restart",
		) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text lacks %q:\n%s", tc.name, want, text)
			}
		}
		text = strings.ReplaceAll(text, "a downgrade", "")
		if found := regexp.MustCompile(tc.silent).FindString(text); found != "" {
			t.Errorf("%s: the text says %q, want it not to:\n%s", tc.name, found, text)
		}
		if strings.Contains(text, "greenboot") {
			t.Errorf("%s: the text speaks of a roll-back on a system without deployments:\n%s", tc.name, text)
		}
	}
}

func TestExplainOSTree(t *testing.T) {
	ostree := site
	ostree.OSTree = true
	texts := map[string]string{
		"version":  Check(own("4.21.0", custom("A", "", "")), custom("A", "", ""), version(t, "4.22.0"), PolicyNone, noon).Explain(ostree),
		"removed":  Check(own("4.21.0", custom("A", "", "")), Section{}, version(t, "4.21.0"), PolicyNone, noon).Explain(ostree),
		"unusable": (&UnusableError{Path: "/x", Reason: "is empty"}).Explain(ostree),
	}
	for name, text := range texts {
		if !strings.Contains(text, "may roll back to its previous deployment by itself (greenboot)") {
			t.Errorf("%s: the text lacks the roll-back:\n%s", name, text)
		}
	}
}

func TestExplainUnusable(t *testing.T) {
	text := (&UnusableError{Path: "/mnt/root/var/lib/microshift/no-upgrade", Reason: "is empty"}).Explain(site)
	for _, want := range []string{"/var/lib/microshift/no-upgrade is empty.", "backup", "microshift-cleanup-data --all"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "/mnt/root") {
		t.Errorf("the text names the path with the root prefix, want the one on the device:\n%s", text)
	}
}

// The configuration in the text must give the lock's section again.
func TestExplainSnippet(t *testing.T) {
	want := custom("MemoryQoS on 1e3 ~", "Off", "Exempt")
	text := Check(own("4.21.0", want), Section{}, version(t, "4.21.0"), PolicyNone, noon).Explain(site)
	var got struct {
		APIServer struct {
			FeatureGates struct {
				FeatureSet      string `json:"featureSet"`
				CustomNoUpgrade Lists  `json:"customNoUpgrade"`
				Exceptions      Lists  `json:"specialHandlingSupportExceptionRequired"`
			} `json:"featureGates"`
		} `json:"apiServer"`
	}
	_, snippet, _ := strings.Cut(text, "\n\n")
	if err := sigsyaml.UnmarshalStrict([]byte(snippet), &got); err != nil {
		t.Fatalf("%v\n%s", err, snippet)
	}
	fg := got.APIServer.FeatureGates
	want.Gates = want.normal()
	if diff := cmp.Diff(want, Section{fg.FeatureSet, Gates{fg.CustomNoUpgrade, fg.Exceptions}}, sameLock); diff != "" {
		t.Errorf("the configuration to put back (-want +got):\n%s", diff)
	}
}

func TestTextsEscape(t *testing.T) {
	evil := "\x1b[31m\nlevel=error"
	s := Section{FeatureSet: customNoUpgrade}
	s.CustomNoUpgrade.Enabled = []string{evil}
	l := own("4.21.0", s)
	files := Site{Path: site.Path, Files: []string{"/etc/microshift/config.d/" + evil + ".yaml"}}
	now := custom("A", "", "")
	var texts []string
	for _, v := range []Verdict{
		Check(l, Section{FeatureSet: evil}, version(t, "4.22.0"), PolicyNone, noon),
		Check(l, Section{}, version(t, "4.21.0"), PolicyNone, noon),
		Check(l, now, version(t, "4.22.0"), PolicyNone, noon),
		Check(l, now, version(t, "4.21.0"), PolicyNone, noon),
		Check(nil, Section{FeatureSet: evil}, version(t, "4.22.0"), PolicyNone, noon),
	} {
		texts = append(texts, v.Explain(files), v.Summary(site.Path))
		if strings.Contains(v.Summary(site.Path), "\n") {
			t.Errorf("%v: the summary has more than one line: %q", v.Kind, v.Summary(site.Path))
		}
	}
	for _, text := range texts {
		if strings.ContainsRune(text, 0x1b) || strings.Contains(text, "\nlevel=") {
			t.Errorf("a name forges a line: %q", text)
		}
	}
}

func TestSummary(t *testing.T) {
	a, exempt := custom("A", "", ""), custom("A", "", "A")
	for _, tc := range []struct {
		lock    *Lock
		now     Section
		running string
		policy  Policy
		says    string
	}{
		{nil, Section{}, "4.21.0", PolicyNone, "no lock"},
		{nil, a, "4.21.0", PolicyNone, `upgrades are now blocked: /l locks this device to feature set "CustomNoUpgrade" and MicroShift 4.21.0`},
		{own("4.21.0", a), a, "4.21.0", PolicyNone, `/l locks this device to feature set "CustomNoUpgrade" since MicroShift 4.21.0`},
		{own("4.21.0", a), custom("B", "", ""), "4.21.0", PolicyNone, `added customNoUpgrade.enabled: "B"; removed customNoUpgrade.enabled: "A"; still counting against an upgrade: enabled: "A"`},
		{own("4.21.0", a), exempt, "4.22.0", PolicyNone, "a support exception (specialHandlingSupportExceptionRequired) exempts every gate"},
		{own("4.21.0", a), a, "4.21.5", PolicyZStream, "MicroShift 4.21.5 starts on data locked to 4.21.0, because the upgrade policy"},
		{own("4.21.0", a), a, "4.22.0", PolicyNone, "an upgrade is not allowed"},
	} {
		v := Check(tc.lock, tc.now, version(t, tc.running), tc.policy, noon)
		if got := v.Summary("/l"); !strings.Contains(got, tc.says) {
			t.Errorf("%v: the summary is %q, want it to say %q", v.Kind, got, tc.says)
		}
		if text := v.Explain(site); (text != "") != v.Refused() {
			t.Errorf("%v: Explain is %q, want a text for refusals alone", v.Kind, text)
		}
	}
}
