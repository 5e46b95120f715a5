package resolve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// custom is a configuration of CustomNoUpgrade with the four lists, each in
// YAML flow style; an empty one is left out.
func custom(enabled, disabled, exEnabled, exDisabled string) string {
	var b strings.Builder
	b.WriteString("apiServer:\n  featureGates:\n    featureSet: CustomNoUpgrade\n")
	group := func(name, enabled, disabled string) {
		if enabled+disabled == "" {
			return
		}
		fmt.Fprintf(&b, "    %s:\n", name)
		if enabled != "" {
			fmt.Fprintf(&b, "      enabled: [%s]\n", enabled)
		}
		if disabled != "" {
			fmt.Fprintf(&b, "      disabled: [%s]\n", disabled)
		}
	}
	group("customNoUpgrade", enabled, disabled)
	group("specialHandlingSupportExceptionRequired", exEnabled, exDisabled)
	return b.String()
}

func registry(t testing.TB, kube string) *gates.Registry {
	t.Helper()
	reg, exact, err := gates.ForVersion(version.MustParseGeneric(kube))
	if err != nil {
		t.Fatal(err)
	}
	if !exact {
		t.Skipf("the registry of Kubernetes %s is not embedded", kube)
	}
	return reg
}

// of resolves a configuration of one file.
func of(t testing.TB, kube, yaml string) (*resolve.Result, diag.List) {
	t.Helper()
	cfg, diags := config.Merge([]config.File{{Name: "c", Data: []byte(yaml)}})
	if len(diags) > 0 {
		t.Fatalf("the configuration of the test is wrong: %v", diags)
	}
	r, diags, err := resolve.Gates(cfg, registry(t, kube), 5)
	if err != nil {
		t.Fatal(err)
	}
	return r, diags
}

// TestDiagnostics holds the rows of the product's table that are decided here:
// what is written, and each diagnostic as line:column severity code.
func TestDiagnostics(t *testing.T) {
	const section = "apiServer:\n  featureGates:\n"
	for name, tt := range map[string]struct {
		yaml string
		want string
	}{
		"nothing":                  {"", ""},
		"empty section":            {section, ""},
		"good":                     {custom("MemoryQoS", "", "", ""), ""},
		"set unknown":              {section + "    featureSet: CustomNoUpgrad\n", "3:17 error feature-set-unknown"},
		"set Default":              {section + "    featureSet: Default\n", "3:17 error feature-set-unknown"},
		"set OKD":                  {section + "    featureSet: OKD\n", "3:17 error feature-set-unknown"},
		"set in wrong case":        {section + "    featureSet: customnoupgrade\n", "3:17 error feature-set-unknown"},
		"custom empty":             {section + "    featureSet: CustomNoUpgrade\n", "3:17 warning custom-empty"},
		"lists without set":        {section + "    customNoUpgrade: {enabled: [MemoryQoS]}\n", "3:32 error lists-without-set"},
		"exceptions without set":   {section + "    specialHandlingSupportExceptionRequired: {disabled: [MemoryQoS]}\n", "3:57 error lists-without-set"},
		"empty lists without set":  {section + "    customNoUpgrade: {enabled: [], disabled: []}\n", ""},
		"lists with a preview set": {section + "    featureSet: TechPreviewNoUpgrade\n    customNoUpgrade: {enabled: [MemoryQoS]}\n", "4:32 error lists-without-set"},
		"two faults at once": {custom(`"A=true", " B"`, "", "", ""),
			"5:17 error gate-name\n5:27 error gate-name"},
		"empty name":       {custom(`""`, "", "", ""), "5:17 error gate-name"},
		"comma":            {custom(`"A,B"`, "", "", ""), "5:17 error gate-name"},
		"quotes in name":   {custom(`"'MemoryQoS'"`, "", "", ""), "5:17 error gate-name"},
		"cyrillic letter":  {custom("M\u0435moryQoS", "", "", ""), "5:17 error gate-name"},
		"newline":          {custom(`"MemoryQoS\n"`, "", "", ""), "5:17 error gate-name"},
		"kube: prefix":     {custom(`"kube:MemoryQoS"`, "", "", ""), "5:17 error gate-name"},
		"dots are allowed": {custom("a.b-c.", "", "", ""), "5:17 warning gate-unknown"},
		"repeated":         {custom("MemoryQoS, MemoryQoS", "", "", ""), "5:28 warning gate-repeated"},
		"in both groups":   {custom("MemoryQoS", "", "MemoryQoS", ""), ""},
		"conflict":         {custom("MemoryQoS", "MemoryQoS", "", ""), "6:18 error gate-conflict"},
		"conflict of groups": {custom("MemoryQoS", "", "", "MemoryQoS"),
			"7:18 error gate-conflict"},
		"required disabled":        {custom("", "UserNamespacesSupport", "", ""), "5:18 error gate-required"},
		"required, gone since":     {custom("", "UserNamespacesPodSecurityStandards", "", ""), "5:18 error gate-required"},
		"required enabled":         {custom("UserNamespacesSupport", "", "", ""), ""},
		"locked to on":             {custom("", "NodeLogQuery", "", ""), "5:18 error gate-locked"},
		"locked, the default":      {custom("NodeLogQuery", "", "", ""), ""},
		"needs a gate that is off": {custom("UnknownVersionInteroperabilityProxy", "APIServerIdentity", "", ""), "5:17 error gate-needs"},
		"needs a gate that is on":  {custom("UnknownVersionInteroperabilityProxy", "", "", ""), ""},
		"waits for an API":         {custom("CoordinatedLeaderElection", "", "", ""), "5:17 error gate-needs-api"},
		"would wait for an API":    {custom("", "CoordinatedLeaderElection", "", ""), ""},
		"needs one that waits":     {custom("GangScheduling", "", "", ""), "5:17 error gate-needs"},
		// kube-apiserver is long ready when the kubelet writes into their common table.
		"kubelet, waits for an API": {"kubelet: {featureGates: {GenericWorkload: true}}\n", "1:43 warning kubelet-gates"},
		"typo":                      {custom("MemoryQos", "", "", ""), "5:17 warning gate-unknown"},
		"AllAlpha":                  {custom("AllAlpha", "", "", ""), "5:17 warning gate-all"},
		"AllBeta off":               {custom("", "AllBeta", "", ""), "5:18 warning gate-all"},
		"minimum":                   {section + "    minimumKubeletVersion: 1.36.0\n", ""},
		"minimum with v":            {section + "    minimumKubeletVersion: v1.36.0\n", "3:28 error minimum-kubelet-version"},
		"minimum with zeros":        {section + "    minimumKubeletVersion: 1.036.0\n", "3:28 error minimum-kubelet-version"},
		"minimum too long":          {section + "    minimumKubeletVersion: 1.36.12345\n", "3:28 error minimum-kubelet-version"},
		"kubelet alone":             {"kubelet:\n  featureGates:\n    MemoryQoS: true\n", "3:16 warning kubelet-gates"},
		"kubelet contradicts": {custom("MemoryQoS", "", "", "") + "kubelet: {featureGates: {MemoryQoS: false}}\n",
			"6:37 warning kubelet-contradicts"},
		"kubelet agrees":            {custom("MemoryQoS", "", "", "") + "kubelet: {featureGates: {MemoryQoS: true}}\n", ""},
		"kubelet, built in":         {"kubelet: {featureGates: {PodSecurity: true, RotateKubeletServerCertificate: false}}\n", ""},
		"kubelet, built in changed": {"kubelet: {featureGates: {RotateKubeletServerCertificate: true}}\n", "1:58 warning kubelet-gates"},
		"kubelet, locked":           {"kubelet: {featureGates: {NodeLogQuery: false}}\n", "1:40 error gate-locked"},
		"kubelet, required":         {"kubelet: {featureGates: {UserNamespacesSupport: false}}\n", "1:49 error gate-required"},
		"kubelet, bad name":         {"kubelet: {featureGates: {\"A=true\": true}}\n", "1:36 error gate-name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := of(t, "1.36", tt.yaml)
			var got []string
			for _, d := range diags {
				got = append(got, fmt.Sprintf("%d:%d %s %s", d.Pos.Line, d.Pos.Column, d.Severity, d.Code))
				if d.Hint == "" || d.Path == "" {
					t.Errorf("%s has no hint or no path: %+v", d.Code, d)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%v", diff, diags)
			}
		})
	}
}

// TestWords checks that messages and hints say what helps.
func TestWords(t *testing.T) {
	for name, tt := range map[string]struct {
		kube, yaml string
		want       []string // in message, hint or related places
	}{
		"typo":              {"1.36", custom("MemoryQos", "", "", ""), []string{"MemoryQos", "did you mean MemoryQoS?"}},
		"removed":           {"1.36", custom("UserNamespacesPodSecurityStandards", "", "", ""), []string{"removed in Kubernetes 1.35", "remove it"}},
		"not yet":           {"1.34", custom("ManifestBasedAdmissionControlConfig", "", "", ""), []string{"1.36"}},
		"form of flags":     {"1.36", custom(`"A=true,B=false,C"`, "", "", ""), []string{"enabled: [A, C] and disabled: [B]"}},
		"comma":             {"1.36", custom("", `"A, B"`, "", ""), []string{"disabled: [A, B]"}},
		"padded":            {"1.36", custom(`" MemoryQoS "`, "", "", ""), []string{`" MemoryQoS "`, "write it without them: MemoryQoS"}},
		"cyrillic":          {"1.36", custom("M\u0435moryQoS", "", "", ""), []string{"U+0435"}},
		"bidi override":     {"1.36", custom(`"Memory\u202eQoS"`, "", "", ""), []string{`\u202e`, "U+202E"}},
		"conflict":          {"1.36", custom("MemoryQoS", "", "", "MemoryQoS"), []string{"customNoUpgrade.enabled[0]", "specialHandlingSupportExceptionRequired.disabled[0]", "c:5:17"}},
		"locked":            {"1.36", custom("", "NodeLogQuery", "", ""), []string{"locked to true in Kubernetes 1.36"}},
		"needs":             {"1.36", custom("UnknownVersionInteroperabilityProxy", "APIServerIdentity", "", ""), []string{"needs APIServerIdentity", "c:6:18"}},
		"set near":          {"1.36", "apiServer: {featureGates: {featureSet: TechPreview}}", []string{"did you mean TechPreviewNoUpgrade?"}},
		"set default":       {"1.36", "apiServer: {featureGates: {featureSet: Default}}", []string{"remove it", "CustomNoUpgrade, TechPreviewNoUpgrade, DevPreviewNoUpgrade"}},
		"kubelet and lists": {"1.36", custom("MemoryQoS", "", "", "") + "kubelet: {featureGates: {MemoryQoS: false}}\n", []string{"the kubelet uses false", "c:5:17"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := of(t, tt.kube, tt.yaml)
			if len(diags) != 1 {
				t.Fatalf("got %d diagnostics, want one: %v", len(diags), diags)
			}
			text := fmt.Sprint(diags[0].Message, "\n", diags[0].Hint, "\n", diags[0].Related)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("got\n%s\nwant %q in it", text, want)
				}
			}
		})
	}
}

func TestFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		kube, yaml string
		component  gates.Component
		want       string
	}{
		"nothing configured, both required gates exist": {"1.34", "", gates.KubeAPIServer,
			"--feature-gates=UserNamespacesPodSecurityStandards=true,UserNamespacesSupport=true"},
		"nothing configured, one is gone": {"1.36", "", gates.Kubelet, "--feature-gates=UserNamespacesSupport=true"},
		"sorted, unknown ones to kube-apiserver": {"1.36", custom("Zeta, MemoryQoS, Alpha", "Charlie", "", ""), gates.KubeAPIServer,
			"--feature-gates=Alpha=true,Charlie=false,MemoryQoS=true,UserNamespacesSupport=true,Zeta=true"},
		"unknown ones nowhere else": {"1.36", custom("Zeta, MemoryQoS", "", "", ""), gates.Kubelet,
			"--feature-gates=MemoryQoS=true,UserNamespacesSupport=true"},
		"one flag for both groups": {"1.36", custom("MemoryQoS", "", "MemoryQoS", ""), gates.KubeScheduler,
			"--feature-gates=MemoryQoS=true,UserNamespacesSupport=true"},
		"a component that does not recognise it": {"1.36", custom("", "ControllerManagerReleaseLeaderElectionLockOnExit", "", ""), gates.KubeScheduler,
			"--feature-gates=UserNamespacesSupport=true"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := of(t, tt.kube, tt.yaml)
			if got := r.Flag(tt.component); got != tt.want {
				t.Errorf("%s is given\n  %s\nwant\n  %s", tt.component, got, tt.want)
			}
		})
	}
}

// TestReason checks who is said to have set a gate.
func TestReason(t *testing.T) {
	r, _ := of(t, "1.36", custom("MemoryQoS, InPlacePodLevelResourcesVerticalScaling", "", "MemoryQoS", ""))
	for name, want := range map[string]resolve.Reason{
		"MemoryQoS": resolve.Exception,
		"InPlacePodLevelResourcesVerticalScaling": resolve.Custom,
		"UserNamespacesSupport":                   resolve.Required,
		"APIResponseCompression":                  resolve.Default,
	} {
		got := resolve.Reason("not listed")
		for _, s := range r.All() {
			if s.Gate.Name == name {
				got = s.Reason
			}
		}
		if got != want {
			t.Errorf("reason of %s is %q, want %q", name, got, want)
		}
	}
}

// TestPreviewSetWithoutAPI checks that a gate of a preview set is left out where
// kube-apiserver would wait for its API: OpenShift has an operator that lets it
// serve the API, MicroShift has not (OCPBUGS-71208).
func TestPreviewSetWithoutAPI(t *testing.T) {
	for kube, want := range map[string]string{
		"1.33": "in Kubernetes 1.33, kube-apiserver would wait for the API admissionregistration.k8s.io/v1alpha1, which MicroShift does not serve",
		"1.35": "in Kubernetes 1.35, kube-apiserver would wait for the API admissionregistration.k8s.io/v1beta1, which MicroShift does not serve",
		"1.36": "", // it is GA there, and served
	} {
		r, _ := of(t, kube, "apiServer: {featureGates: {featureSet: TechPreviewNoUpgrade}}")
		got := ""
		for _, s := range r.Skipped {
			if s.Name == "MutatingAdmissionPolicy" {
				got = s.Why
			}
		}
		if s, set := r.Setting("MutatingAdmissionPolicy"); got != want || set != (want == "") {
			t.Errorf("Kubernetes %s: left out because of %q, set %t to %t; want %q", kube, got, set, s.Enabled, want)
		}
	}
}

// TestPreviewSets checks that every preview set can be given to every
// Kubernetes: each gate of the manifest is set as it says, or said to be left out.
func TestPreviewSets(t *testing.T) {
	for _, kube := range gates.Versions() {
		for _, set := range []string{gates.TechPreviewNoUpgrade, gates.DevPreviewNoUpgrade} {
			t.Run(kube.String()+"/"+set, func(t *testing.T) {
				r, diags := of(t, kube.String(), "apiServer: {featureGates: {featureSet: "+set+"}}")
				if len(diags) > 0 {
					t.Errorf("got %v, want no diagnostics", diags)
				}
				manifest, err := gates.FeatureSet(set, 5)
				if err != nil {
					t.Fatal(err)
				}
				left := map[string]bool{}
				for _, name := range r.Unrecognized {
					left[name] = true
				}
				for _, s := range r.Skipped {
					left[s.Name] = true
				}
				check := func(names []string, enabled bool) {
					for _, name := range names {
						s, ok := r.Setting(name)
						if ok == left[name] || ok && s.Enabled != enabled && s.Reason != resolve.Required {
							t.Errorf("%s: set %t to %t, left out %t; want it set to %t or left out", name, ok, s.Enabled, left[name], enabled)
						}
					}
				}
				check(manifest.Enabled, true)
				check(manifest.Disabled, false)
				values := map[string]bool{}
				for _, s := range r.Settings {
					values[s.Gate.Name] = s.Enabled
				}
				fg := registry(t, kube.String()).FeatureGate().(featuregate.MutableFeatureGateWithLogger)
				if err := fg.SetFromMapWithLogger(logr.Discard(), values); err != nil {
					t.Errorf("component-base refuses the set: %v", err)
				}
			})
		}
	}
}
