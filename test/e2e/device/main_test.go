//go:build e2e

package device

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is the root of this module, and output where the tests keep
// their things; both are absolute.
var repository, output string

func TestMain(m *testing.M) {
	dir, err := filepath.Abs("../../..")
	if err != nil {
		fmt.Fprintln(os.Stderr, "device:", err)
		os.Exit(1)
	}
	repository, output = dir, filepath.Join(dir, "_output/e2e/device")
	os.Exit(m.Run())
}

// skip says aloud what can't run here, and fails where everything must.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	reason := fmt.Sprintf(format, args...)
	if os.Getenv("E2E_NO_SKIP") != "" {
		t.Fatalf("E2E_NO_SKIP is set, and this would be skipped: %s", reason)
	}
	fmt.Fprintf(os.Stderr, "SKIPPED %s: %s\n", t.Name(), reason)
	t.Skip(reason)
}

// needs skips a test unless it is root's and has the programs.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "needs root")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			skip(t, "needs %s", p)
		}
	}
}

// do runs a program of this host, and returns what it prints.
func do(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = repository
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
