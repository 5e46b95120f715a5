package startup_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// TestReasonIsLeft has refused starts, whose reason must end up in failFile
// alone, whatever is there before.
func TestReasonIsLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(dir, file string) error
		left    string // what is in the file afterwards
	}{
		"nothing":           {func(string, string) error { return nil }, "no-upgrade"},
		"an earlier reason": {func(_, file string) error { return os.WriteFile(file, []byte("old\n"), 0o600) }, "no-upgrade"},
		"a killed start's": {func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, ".prerun_failed.log.tmp"), []byte("The"), 0o600)
		}, "no-upgrade"},
		"a link": {func(dir, file string) error {
			return os.Symlink(filepath.Join(dir, "..", "microshift", "no-upgrade"), file)
		}, "no-upgrade"},
		"a link for the writer": {func(dir, _ string) error {
			return os.Symlink("../microshift/no-upgrade", filepath.Join(dir, ".prerun_failed.log.tmp"))
		}, "no-upgrade"},
		"another start writes": {func(dir, file string) error {
			holder, err := os.Open(dir)
			if err != nil {
				return err
			}
			t.Cleanup(func() { holder.Close() })
			return errors.Join(os.WriteFile(file, []byte("its reason\n"), 0o600), unix.Flock(int(holder.Fd()), unix.LOCK_EX))
		}, "its reason\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := device(t, map[string]string{configFile: "{}\n", lockFile: locked500, failFile: ""})
			file := filepath.Join(root, failFile)
			if err := errors.Join(os.Remove(file), tt.prepare(filepath.Dir(file), file)); err != nil {
				t.Fatal(err)
			}
			before := disk(t, filepath.Dir(filepath.Join(root, lockFile)))
			var log bytes.Buffer
			_, err := startup.Run(context.Background(), options(t, root, "5.0.0", &log))
			if r := new(startup.Refusal); !errors.As(err, &r) {
				t.Fatalf("the start ends with %v, want a refusal", err)
			}
			if strings.Contains(log.String(), "cannot leave") {
				t.Errorf("the log says that the reason could not be left:\n%s", log.String())
			}
			if got, err := os.ReadFile(file); err != nil || !strings.Contains(string(got), tt.left) {
				t.Errorf("the reason is %q (%v), want %q in it", got, err, tt.left)
			}
			entries, err := os.ReadDir(filepath.Dir(file))
			if err != nil || len(entries) != 1 || !entries[0].Type().IsRegular() {
				t.Errorf("the directory has %v (%v), want the reason alone", entries, err)
			}
			if after := disk(t, filepath.Dir(filepath.Join(root, lockFile))); len(after) != 1 || after[filepath.Join(root, lockFile)] != before[filepath.Join(root, lockFile)] {
				t.Errorf("the data directory has %v, want the lock as it was", after)
			}
		})
	}
}
