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

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// binary is the command under test, statically linked as it is shipped.
var binary string

// writeEnv makes this test binary write a rollout file at the path that it
// holds, with the generation of writeGenerationEnv.
const writeEnv = "TRUST_WRITE_ROLLOUT"

func TestMain(m *testing.M) {
	if path := os.Getenv(writeEnv); path != "" {
		if err := rollout.WriteFile(path, rolloutFile(2)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
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
		binary = filepath.Join(dir, "microshift-feature-gates")
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, "../../cmd/microshift-feature-gates")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	code := m.Run()
	notes.print()
	return code, nil
}

// workers is how many runs of the command a test has going at once.
func workers() int { return min(runtime.GOMAXPROCS(0), 4) }

// inParallel calls do for each element, on a few workers.
func inParallel[T any](list []T, do func(T)) {
	var group sync.WaitGroup
	queue := make(chan T)
	for range workers() {
		group.Go(func() {
			for x := range queue {
				do(x)
			}
		})
	}
	for _, x := range list {
		queue <- x
	}
	close(queue)
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
