//go:build e2e

package trust

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// binary is the command under test, statically linked as it is shipped, and
// writer is one that writes a rollout file.
var binary, writer string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "trust:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "trust-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // nobody runs the command too
		return 0, err
	}
	if binary = os.Getenv("TRUST_BINARY"); binary == "" {
		if binary, err = build(dir, "../../cmd/microshift-feature-gates"); err != nil {
			return 0, err
		}
	}
	if writer, err = build(dir, "./testdata/writerollout"); err != nil {
		return 0, err
	}
	code := m.Run()
	notes.print()
	return code, nil
}

// build builds the command of a folder as a release does.
func build(dir, folder string) (string, error) {
	file := filepath.Join(dir, filepath.Base(folder))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", file, folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
}

// workers is how many runs of the command a test has going at once.
func workers() int { return min(runtime.GOMAXPROCS(0), 4) }

// inParallel calls do for each element, a few at a time.
func inParallel[T any](list []T, do func(T)) {
	var group sync.WaitGroup
	free := make(chan struct{}, workers())
	for _, x := range list {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			do(x)
		})
	}
	group.Wait()
}

// skip says aloud that a test can't run here, or fails it where that is not
// accepted.
func skip(t testing.TB, format string, args ...any) {
	t.Helper()
	reason := fmt.Sprintf(format, args...)
	if os.Getenv("E2E_NO_SKIP") != "" {
		t.Fatalf("would be skipped: %s", reason)
	}
	note("SKIPPED %s: %s", t.Name(), reason)
	t.Skip(reason)
}

// noteList holds lines for the end, where people look first.
type noteList struct {
	sync.Mutex
	lines []string
}

var notes noteList

func note(format string, args ...any) {
	notes.Lock()
	defer notes.Unlock()
	notes.lines = append(notes.lines, fmt.Sprintf(format, args...))
}

func (n *noteList) print() {
	n.Lock()
	defer n.Unlock()
	slices.Sort(n.lines)
	for _, line := range n.lines {
		fmt.Println("trust:", strings.ReplaceAll(line, "\n", "\n  "))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
