//go:build e2e

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

var (
	repository string // absolute
	output     string // where programs and logs go
	programs   string // below it, the components of Kubernetes
)

// kubernetesVersion is what test/e2e/components pins.
const kubernetesVersion = "v1.36.2"

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
	if repository, err = filepath.Abs("../../.."); err != nil {
		return 0, err
	}
	output = filepath.Join(repository, "_output", "e2e")
	programs = filepath.Join(output, "1.36")
	unlock, err := takeOutput(filepath.Join(output, "cluster"))
	if err != nil {
		return 0, err
	}
	defer unlock()
	components := filepath.Join(repository, "test/e2e/components")
	for _, c := range []struct{ dir, out, name, path string }{
		{repository, filepath.Join(output, "cluster"), "microshift-feature-gates-controller", "./cmd/microshift-feature-gates-controller"},
		{components, programs, "etcd", "./etcd"},
		{components, programs, "cri", "./cri"},
		{components, programs, "kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
		{components, programs, "kubelet", "k8s.io/kubernetes/cmd/kubelet"},
	} {
		if err := build(c.dir, c.out, c.name, c.path); err != nil {
			return 0, err
		}
	}
	if err := makeKeys(); err != nil {
		return 0, err
	}
	code := m.Run()
	report()
	return code, nil
}

// takeOutput waits until no other run of these tests uses the directory.
func takeOutput(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}

// build builds a program; the controller always, a component where it is missing.
func build(dir, out, name, path string) error {
	file := filepath.Join(out, name)
	if _, err := os.Stat(file); err == nil && out == programs {
		return nil
	}
	fmt.Println("e2e: building", name)
	const stamp = "-X k8s.io/component-base/version."
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w "+stamp+"gitVersion="+kubernetesVersion+" "+stamp+"gitMajor=1 "+stamp+"gitMinor=36", "-o", file, path)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", name, err, text)
	}
	return nil
}

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

func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("E2E_NO_SKIP") != "" {
		t.Fatalf("would be skipped: %s", reason)
	}
	note("SKIPPED %s: %s", t.Name(), reason)
	t.Skip(reason)
}
