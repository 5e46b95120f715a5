package gates

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/assets"
)

const head = "# comment\ngeneratedFrom: here\ngates:\n"

func TestDecode(t *testing.T) {
	source, gates, err := decode(head +
		`  A: {since: "1.2", specs: [1.2 alpha off, 1.3 beta off, 1.3 beta on min-compatibility=1.2], components: [kubelet]}` + "\n" +
		`  B: {since: "1.4", specs: [0.0 deprecated on locked], components: [kube-apiserver, kubelet], requires: [A, C], api: g/v1, openshift: true}` + "\n" +
		`  C: {since: "1.4", specs: [1.4 alpha off], components: [kubelet], api: g.io/v1beta1}` + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if source != "here" || len(gates) != 3 {
		t.Fatalf("got %d gates of %q, want 3 of here", len(gates), source)
	}
	a, b := gates[0], gates[1]
	if got := specText(a.Specs[2]); got != "1.3 beta on min-compatibility=1.2" || len(a.Specs) != 3 || a.Since != "1.2" {
		t.Errorf("A is %+v", a)
	}
	if got := specText(b.Specs[0]); got != "0.0 deprecated on locked" || !b.OpenShift ||
		len(b.Requires) != 2 || b.Requires[1] != "C" || len(b.Components) != 2 || b.Components[1] != Kubelet || b.UnservedAPI != "g/v1" {
		t.Errorf("B is %+v", b)
	}
	if c := gates[2]; c.UnservedAPI != "g.io/v1beta1" || c.OpenShift || a.UnservedAPI != "" {
		t.Errorf("C is %+v, A is %+v", c, a)
	}
}

func TestDecodeErrors(t *testing.T) {
	const good = `  A: {since: "1.2", specs: [1.2 alpha off], components: [kubelet]}`
	for _, tc := range []struct{ replace, by, want string }{
		{good + "\n", "", "missing"},
		{good, good + "\n" + good, "line 5: A is not sorted"},
		{good, good + "\n\n", "line 5: not a gate"},
		{"generatedFrom: here\n", "", "generatedFrom"},
		{"  A", "A", "line 4: not a gate"},
		{"since", "Since", "not a gate"},
		{", specs", ", Specs", "specs missing"},
		{", components: [kubelet]", "", "components missing"},
		{"kubelet]}", "kubelet", "not ended"},
		{"kubelet]}", "kubelet], requires: [B", "not ended"},
		{"kubelet]}", "kubelet], api: g/v1", "api not ended"},
		{"kubelet]}", "kubelet], api: g/v1, requires: [B]}", "closing brace"},
		{"kubelet]}", "kubelet]", "closing brace"},
		{"kubelet]}", "kubelet], more: x}", "closing brace"},
		{"[kubelet]", "[kubelet, kube-proxy]", `unknown component "kube-proxy"`},
		{"[kubelet]", "[]", `unknown component ""`},
		{"1.2 alpha off", "", "version"},
		{"1.2 alpha off", "1 alpha off", "version"},
		{"1.2 alpha off", "v1.2 alpha off", "version"},
		{"1.2 alpha off", "1.2.3 alpha off", "version"},
		{"1.2 alpha off", "1.99999 alpha off", "version"},
		{"1.2 alpha off", "1.2 gamma off", `unknown stage "gamma"`},
		{"1.2 alpha off", "1.2 alpha", "neither on nor off"},
		{"1.2 alpha off", "1.2 alpha true", "neither on nor off"},
		{"1.2 alpha off", "1.2 alpha off shut", `unknown word "shut"`},
		{"1.2 alpha off", "1.2 alpha off min-compatibility=x", "version"},
	} {
		_, gates, err := decode(strings.Replace(head+good+"\n", tc.replace, tc.by, 1))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q instead of %q: got %v, %v; want an error with %q", tc.by, tc.replace, gates, err, tc.want)
		}
	}
}

// FuzzDecode looks for panics.
func FuzzDecode(f *testing.F) {
	f.Add(head + `  A: {since: "1.2", specs: [1.2 alpha off], components: [kubelet]}`)
	f.Add(head + `  B: {since: "1.4", specs: [0.0 ga on locked], components: [kubelet], requires: [A], openshift: true}`)
	f.Fuzz(func(t *testing.T, data string) {
		if _, gates, err := decode(data); err == nil && len(gates) == 0 {
			t.Error("no error and no gates")
		}
	})
}

// The files must be the YAML that they look like: a real parser has to find
// what decode finds.
func TestFilesAreYAML(t *testing.T) {
	for _, v := range Versions() {
		data, err := assets.FS.ReadFile("gates/kubernetes-" + v.String() + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			GeneratedFrom string
			Gates         map[string]struct {
				Since                       string
				Specs, Components, Requires []string
				API                         string
				OpenShift                   bool
			}
		}
		if err := yaml.UnmarshalStrict(data, &file); err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		reg := registryOf(t, v.Minor())
		if file.GeneratedFrom != reg.Source() || len(file.Gates) != len(reg.Gates()) {
			t.Errorf("%s: YAML has %d gates of %s, the registry %d of %s",
				v, len(file.Gates), file.GeneratedFrom, len(reg.Gates()), reg.Source())
		}
		for _, g := range reg.Gates() {
			y := file.Gates[g.Name]
			var specs, components []string
			for _, s := range g.Specs {
				specs = append(specs, specText(s))
			}
			for _, c := range g.Components {
				components = append(components, string(c))
			}
			got := []any{g.Since, specs, components, g.Requires, g.UnservedAPI, g.OpenShift}
			want := []any{y.Since, y.Specs, y.Components, y.Requires, y.API, y.OpenShift}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-YAML +registry):\n%s", v, g.Name, diff)
			}
		}
	}
}

func specText(s featuregate.FeatureSpec) string {
	words := []string{s.Version.String(), stageText(s), "off"}
	if s.Default {
		words[2] = "on"
	}
	if s.LockToDefault {
		words = append(words, "locked")
	}
	if s.MinCompatibilityVersion != nil {
		words = append(words, "min-compatibility="+s.MinCompatibilityVersion.String())
	}
	return strings.Join(words, " ")
}
