package rollout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

var sampleFile = File{Generation: 7, Enabled: []string{"A"}, Disabled: []string{"B"}, Minimum: V(1, 30, 0), Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}

func TestFileOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.json")
	if _, err := ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	for _, f := range []File{sampleFile, {Generation: 8, Disabled: []string{"A", "B"}, Time: sampleFile.Time}} {
		if err := WriteFile(path, f); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		if diff := cmp.Diff(append([]string{}, f.Enabled...), got.Enabled); err != nil || diff != "" || got.Generation != f.Generation || got.Minimum != f.Minimum {
			t.Errorf("%+v, %v, want %+v", got, err, f)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if err := WriteFile(path, File{}); err == nil {
		t.Error("a file of no generation was written")
	}
}

func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(path("empty"), nil, 0o600),
		os.WriteFile(path("cut"), []byte(`{"generation": 1, "ena`), 0o600),
		os.WriteFile(path("large"), []byte(strings.Repeat(" ", maxBytes+1)), 0o600),
		os.Mkdir(path("directory"), 0o700),
		os.Symlink("empty", path("link")),
		syscall.Mkfifo(path("fifo"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"empty", "cut", "large", "directory", "link", "fifo"} {
		if f, err := ReadFile(path(name)); err == nil || errors.Is(err, fs.ErrNotExist) || f.Generation != 0 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// TestReplaceAfterKill has the temporary file of a writer that was killed.
func TestReplaceAfterKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.json")
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".rollout.json.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, sampleFile); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestStarted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "started.json")
	if _, err := ReadStarted(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	for _, f := range []File{{}, sampleFile, {}} {
		if err := WriteStarted(path, f); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadStarted(path); err != nil || got.Generation != f.Generation {
			t.Errorf("%+v, %v, want %+v", got, err, f)
		}
	}
}

func TestSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", SeenName)
	want := Seen{Time: sampleFile.Time, Phase: Deliver, Generation: 7, Nodes: 2, Waiting: []string{"a"}, Outdated: []string{}, Unreadable: []string{},
		Stale: []string{}, Conditions: []Condition{{Type: Progressing, Status: true, Reason: "Deliver", Message: "m"}}}
	if err := WriteSeen(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSeen(path)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestStandingIn(t *testing.T) {
	for _, tt := range []struct {
		kube string
		want map[string]Standing
	}{
		{"1.36", map[string]Standing{"UserNamespacesSupport": LockedOn, "ProcMountType": LockedOn, "UserNamespacesPodSecurityStandards": Unknown}},
		{"1.35", map[string]Standing{"UserNamespacesSupport": Settable, "ProcMountType": Settable, "UserNamespacesPodSecurityStandards": Unknown}},
	} {
		reg, exact, err := gates.ForVersion(version.MustParse(tt.kube))
		if err != nil || !exact {
			t.Fatal(err, exact)
		}
		for _, g := range DefaultGuards(StandingIn(reg)) {
			if g.Standing != tt.want[g.Gate] {
				t.Errorf("%s in %s: %d, want %d", g.Gate, tt.kube, g.Standing, tt.want[g.Gate])
			}
		}
	}
}

// TestWritersAtOnce has many write one file: each finds its way, and what is
// read meanwhile is that of one of them.
func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.json")
	large := sampleFile
	for i := range 1000 { // not written in one go
		large.Disabled = append(large.Disabled, fmt.Sprintf("Gate%04d", i))
	}
	if err := WriteFile(path, large); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 20 {
		f := large
		f.Generation += int64(i)
		writers.Go(func() {
			if err := WriteFile(path, f); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
			if got, err := ReadFile(path); err != nil || len(got.Disabled) != len(large.Disabled) {
				t.Errorf("writer %d reads a file with %d gates (%v), want %d", i, len(got.Disabled), err, len(large.Disabled))
			}
		})
	}
	writers.Wait()
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}
