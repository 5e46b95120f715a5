package lock

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	rounds = 20
	starts = 50
)

// A test binary with this in its environment is one start: it waits for its
// standard input to end and then adds a gate, or is one of many equal starts,
// or changes the lock until it is killed.
const startEnv = "LOCK_TEST_START"

func TestMain(m *testing.M) {
	if do := os.Getenv(startEnv); do != "" {
		if err := child(do, os.Getenv("LOCK_TEST_PATH")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(do, path string) error {
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	switch do {
	case "equal":
		return start(path, custom("MemoryQoS", "", ""), "4.21.0")
	case "forever":
		for i := 0; ; i++ {
			if err := start(path, custom(fmt.Sprintf("G%d", i%7), "", ""), "4.21.0"); err != nil {
				return err
			}
		}
	}
	return addGate(path, do)
}

// addGate adds one gate to those that the lock has, so that a lost update shows.
func addGate(path, gate string) error {
	return Update(path, func(current *Lock) (*Lock, error) {
		now := custom(gate, "", "")
		if current != nil {
			now.CustomNoUpgrade = now.CustomNoUpgrade.union(current.CustomNoUpgrade)
		}
		return Check(current, now, Version{4, 21, 0, "4.21.0"}, PolicyNone, noon).Next, nil
	})
}

func TestStartsAtOnce(t *testing.T) {
	for round := range rounds {
		path := filepath.Join(t.TempDir(), "data", "no-upgrade")
		concurrently(t, func(int) error { return start(path, custom("MemoryQoS", "", ""), "4.21.0") })
		checkEqual(t, round, path)
	}
	path := filepath.Join(t.TempDir(), "data", "no-upgrade")
	concurrently(t, func(i int) error { return addGate(path, fmt.Sprintf("Gate%02d", i)) })
	checkAdded(t, path)
}

func TestProcessesAtOnce(t *testing.T) {
	for round := range 2 { // test/trust has more, of the whole command
		path := filepath.Join(t.TempDir(), "data", "no-upgrade")
		processes(t, path, func(int) string { return "equal" })
		checkEqual(t, round, path)
	}
	path := filepath.Join(t.TempDir(), "data", "no-upgrade")
	processes(t, path, func(i int) string { return fmt.Sprintf("Gate%02d", i) })
	checkAdded(t, path)
}

// concurrently calls f for each start at once; each must succeed.
func concurrently(t *testing.T, f func(i int) error) {
	t.Helper()
	errs := make([]error, starts)
	var ready, done sync.WaitGroup
	ready.Add(1)
	for i := range starts {
		done.Go(func() {
			ready.Wait()
			errs[i] = f(i)
		})
	}
	ready.Done()
	done.Wait()
	must(t, errors.Join(errs...))
}

// processes is concurrently for processes of their own.
func processes(t *testing.T, path string, do func(i int) string) {
	t.Helper()
	hold, release, err := os.Pipe()
	must(t, err)
	var children []*exec.Cmd
	var output [starts]strings.Builder
	for i := range starts {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), startEnv+"="+do(i), "LOCK_TEST_PATH="+path)
		c.Stdin, c.Stderr = hold, &output[i]
		must(t, c.Start())
		children = append(children, c)
	}
	hold.Close()
	release.Close()
	for i, c := range children {
		if err := c.Wait(); err != nil {
			t.Errorf("start %d fails: %v\n%s", i, err, &output[i])
		}
	}
}

func checkEqual(t *testing.T, round int, path string) {
	t.Helper()
	l, err := Read(path)
	if err != nil {
		t.Fatalf("round %d: %v, want one valid lock", round, err)
	}
	if len(l.History) != 1 {
		t.Errorf("round %d: the history has %d entries, want one: the others find the lock held", round, len(l.History))
	}
	only(t, path)
}

func checkAdded(t *testing.T, path string) {
	t.Helper()
	l, err := Read(path)
	if err != nil {
		t.Fatalf("%v, want one valid lock", err)
	}
	if n := len(l.CustomNoUpgrade.Enabled); n != starts {
		t.Errorf("the lock has %d gates, want %d: an update was lost", n, starts)
	}
	if n := len(l.History); n != starts {
		t.Errorf("the history has %d entries, want %d", n, starts)
	}
	only(t, path)
}

func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no-upgrade")
	for round := range rounds {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), startEnv+"=forever", "LOCK_TEST_PATH="+path)
		must(t, c.Start())
		time.Sleep(time.Duration(30+7*round) * time.Millisecond)
		must(t, c.Process.Kill())
		_ = c.Wait()
		if _, err := Read(path); err != nil && !errors.Is(err, ErrAbsent) {
			t.Fatalf("round %d: after the writer was killed: %v, want a valid lock", round, err)
		}
	}
	must(t, start(path, custom("Last", "", ""), "4.21.0"))
	only(t, path)
}
