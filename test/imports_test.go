package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	module     = "github.com/microshift-io/microshift-feature-gates"
	prestart   = "cmd/microshift-feature-gates"
	controller = "cmd/microshift-feature-gates-controller"
)

// ours has, for each package, which others of this module it may import.
// Bytes flow one way, from files to flags; an import against the stream would
// let a later room decide what an earlier one does.
var ours = map[string]struct {
	may    []string
	reason string
}{
	"assets":             {nil, "it is data; who reads it gives it meaning"},
	"pkg/diag":           {nil, "everything reports with it, so it can depend on nothing"},
	"pkg/config":         {[]string{"pkg/diag"}, "it reads what is written, and does not know which gates or sets are valid"},
	"pkg/gates":          {[]string{"assets", "pkg/diag"}, "it knows what exists, and not what is configured"},
	"pkg/resolve":        {[]string{"pkg/config", "pkg/gates", "pkg/diag"}, "what applies depends on the configuration and the registry, never on the lock or the disk"},
	"pkg/lock":           {[]string{"pkg/config", "pkg/gates", "pkg/diag"}, "it compares sections as configured; what they resolve to changes with Kubernetes, and must not change the verdict"},
	"pkg/startup":        {[]string{"pkg/config", "pkg/gates", "pkg/diag", "pkg/lock", "pkg/resolve", "pkg/rollout"}, "it is what MicroShift embeds, and must stay free of all that talks to a cluster"},
	"pkg/rollout":        {[]string{"assets", "pkg/resolve", "pkg/gates", "pkg/diag"}, "it decides; who asks a cluster, and who reads the configuration, is others' business"},
	"pkg/publish":        {[]string{"assets", "pkg/resolve", "pkg/gates", "pkg/diag"}, "it mirrors what is resolved; files and the lock are startup's"},
	"pkg/controller":     {[]string{"pkg/rollout", "pkg/publish", "pkg/resolve", "pkg/gates", "pkg/diag"}, "it works in a cluster; files and the lock are startup's"},
	"pkg/sosreport":      {nil, "it unpacks what a stranger sends, and leaves the judgement to those who judge a device"},
	prestart:             {[]string{"pkg/config", "pkg/gates", "pkg/diag", "pkg/lock", "pkg/resolve", "pkg/rollout", "pkg/sosreport", "pkg/startup"}, "it runs before MicroShift, without a cluster"},
	controller:           {[]string{"pkg/config", "pkg/controller", "pkg/diag", "pkg/gates", "pkg/lock", "pkg/publish", "pkg/resolve", "pkg/rollout", "pkg/startup"}, "nothing imports a command, and a command no other"},
	"packaging/man":      {nil, "it takes what the built command says of itself"},
	"packaging/licenses": {nil, "it takes what go list says of a command"},
	"test":               {nil, "it looks at the repository from outside, and runs what was built"},
}

// theirs has the packages of others that only some of ours may import.
var theirs = []struct {
	prefixes []string // of import paths
	only     []string // folders of ours
	reason   string
}{
	{[]string{"github.com/spf13/"}, []string{"cmd/"},
		"command lines are a matter of commands; who embeds the packages has one already"},
	{[]string{"k8s.io/client-go"}, []string{"pkg/controller", "pkg/publish", controller},
		"it triples a binary; only what talks to a cluster may pay for that"},
	{[]string{"github.com/openshift/api"}, []string{"pkg/gates", "pkg/publish", "pkg/controller"},
		"its types change with every release; only what reads OpenShift's sets or writes OpenShift's objects needs them"},
	{[]string{"github.com/sirupsen/logrus"}, []string{"pkg/startup", "pkg/rollout", "pkg/publish", "pkg/controller", "cmd/"},
		"below startup nothing logs: packages return what there is to say, and the caller decides where it goes"},
	{[]string{"os/exec", "plugin"}, []string{"cmd/", "packaging/", "test/"},
		"nothing that a configuration says is run; the commands start microshift and systemctl by their fixed names"},
	{[]string{"github.com/google/licensecheck"}, []string{"packaging/licenses"},
		"only a package that is built needs to know licences"},
	{[]string{"log", "log/slog"}, nil,
		"one logger is enough, and it is logrus, MicroShift's own"},
}

// unlinked must not be linked into what runs before MicroShift: its binary
// stays small and starts in milliseconds.
var unlinked = []struct{ prefix, reason string }{
	{"k8s.io/client-go", "there is no API server to talk to yet"},
	{"k8s.io/api", "no Kubernetes object is read or written before the start"},
	{"k8s.io/apiserver", "no Kubernetes object is read or written before the start"},
	{"k8s.io/apiextensions-apiserver", "no Kubernetes object is read or written before the start"},
	{"github.com/openshift/api", "the feature sets are embedded as generated data"},
	{"github.com/evanphx/json-patch", "the merge keeps the origin of every value, which json-patch can't; tests compare the two"},
	{"gopkg.in/evanphx/json-patch", "the merge keeps the origin of every value, which json-patch can't; tests compare the two"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// folder returns where a package of this module is; false for any other.
func folder(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, p := range packages {
		dir, _ := folder(p.ImportPath)
		key := dir
		if strings.HasPrefix(dir, "test/") {
			key = "test"
		}
		rule, ok := ours[key]
		if !ok {
			t.Errorf("%s: a new package; say in ours what it may import, and why", dir)
		}
		for _, i := range p.Imports {
			if other, ok := folder(i); ok && !slices.Contains(rule.may, other) {
				t.Errorf("%s imports %s: %s", dir, other, rule.reason)
			}
			for _, r := range theirs {
				if within(i, r.prefixes) && !slices.ContainsFunc(r.only, func(f string) bool { return strings.HasPrefix(dir+"/", strings.TrimSuffix(f, "/")+"/") }) {
					t.Errorf("%s imports %s: %s", dir, i, r.reason)
				}
			}
		}
		if dir != prestart && dir != "pkg/startup" {
			continue
		}
		for _, r := range unlinked {
			for _, d := range p.Deps {
				if within(d, []string{r.prefix}) {
					t.Errorf("%s links %s: %s", dir, d, r.reason)
				}
			}
		}
	}
}

// TestPackageNames keeps out packages that attract whatever has no place.
func TestPackageNames(t *testing.T) {
	for _, p := range list(t) {
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "shared", "misc"}, path.Base(p.ImportPath)) {
			t.Errorf("%s: name a package for what it is about; a name like this says nothing, and the package grows without end", p.ImportPath)
		}
	}
}

// TestTopLevel keeps the top of the repository readable at a glance.
func TestTopLevel(t *testing.T) {
	folders := []string{"assets", "cmd", "docs", "packaging", "pkg", "test"}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") || e.Name() == "_output"
		if e.IsDir() && !hidden && !slices.Contains(folders, e.Name()) {
			t.Errorf("%s: no folder at the top but %s; put it into one of them", e.Name(), strings.Join(folders, ", "))
		}
	}
}

// within reports whether an import path is one of the prefixes or below it.
func within(importPath string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		rest, ok := strings.CutPrefix(importPath, prefix)
		return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(prefix, "/"))
	})
}

// list returns the packages of this module.
func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
