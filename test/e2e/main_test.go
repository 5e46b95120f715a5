//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// kubernetes is a Kubernetes of which the tests run the real components.
type kubernetes struct {
	minor      string   // 1.NN
	microshift string   // a MicroShift that contains it
	module     string   // below components, which pins the version
	programs   []string // its components that the tests run

	// waiting has what kube-apiserver complains of while it waits for an API
	// that it does not serve by default, by the gate that makes it wait.
	waiting map[string]string
}

const notFound = "the server could not find the requested resource"

// newest is the Kubernetes that everything is proven on, older another one,
// for which kube-apiserver alone is enough.
var (
	newest = kubernetes{
		minor: "1.36", microshift: "5.0.0", module: ".",
		programs: []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"},
		waiting: map[string]string{
			"CoordinatedLeaderElection": "failed to list *v1beta1.LeaseCandidate: " + notFound,
			"GenericWorkload":           "failed to list *v1alpha2.Workload: " + notFound,
			"StorageVersionAPI":         notFound + " (post storageversions.internal.apiserver.k8s.io)",
		},
	}
	older = kubernetes{
		minor: "1.35", microshift: "4.22.0", module: "kubernetes-1.35",
		programs: []string{"kube-apiserver"},
		waiting: map[string]string{
			"CoordinatedLeaderElection": "failed to list *v1beta1.LeaseCandidate: " + notFound,
			"MutatingAdmissionPolicy":   "failed to list *v1beta1.MutatingAdmissionPolicy: " + notFound,
			"StorageVersionAPI":         notFound + " (post storageversions.internal.apiserver.k8s.io)",
		},
	}
)

// each runs test once for each Kubernetes.
func each(t *testing.T, test func(*testing.T, kubernetes)) {
	for _, k := range []kubernetes{newest, older} {
		t.Run(k.minor, func(t *testing.T) { test(t, k) })
	}
}

// registry returns what this module knows of the Kubernetes.
func (k kubernetes) registry(t testing.TB) *gates.Registry {
	t.Helper()
	reg, exact, err := gates.ForVersion(version.MustParse(k.minor))
	if err != nil {
		t.Fatal(err)
	}
	if !exact {
		t.Fatalf("no registry of Kubernetes %s is embedded", k.minor)
	}
	return reg
}

// repository is the root of this module, and output where programs and logs
// of the tests go; both are absolute.
var repository, output string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	var err error
	if repository, err = filepath.Abs("../.."); err != nil {
		return 0, err
	}
	output = filepath.Join(repository, "_output", "e2e")
	unlock, err := takeOutput()
	if err != nil {
		return 0, err
	}
	defer unlock()
	if err := os.RemoveAll(filepath.Join(output, "logs")); err != nil {
		return 0, err
	}
	if err := goBuild(repository, "-o", output+"/", "./cmd/microshift-feature-gates"); err != nil {
		return 0, err
	}
	if err := makeKeys(filepath.Join(output, "keys")); err != nil {
		return 0, err
	}
	code := m.Run()
	reportCounts()
	report()
	return code, nil
}

// skip says aloud that a test can't run here, or fails it where that is not
// accepted.
func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("E2E_NO_SKIP") != "" {
		t.Fatalf("would be skipped: %s", reason)
	}
	note("SKIPPED %s: %s", t.Name(), reason)
	t.Skip(reason)
}

// notes are printed when all tests are through.
var notes struct {
	sync.Mutex
	lines []string
}

// note keeps a line for the end, where people look first.
func note(format string, args ...any) {
	notes.Lock()
	defer notes.Unlock()
	notes.lines = append(notes.lines, fmt.Sprintf(format, args...))
}

func report() {
	notes.Lock()
	defer notes.Unlock()
	slices.Sort(notes.lines)
	for _, line := range notes.lines {
		fmt.Println("e2e:", line)
	}
}
