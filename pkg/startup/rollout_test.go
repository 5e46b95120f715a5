package startup_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// TestRecord wants a start to be recorded when systemd runs it, and a check by
// hand to leave the record of the MicroShift that runs.
func TestRecord(t *testing.T) {
	root := device(t, map[string]string{
		configFile:       "apiServer: {featureGates: {minimumKubeletVersion: 1.30.0}}\n",
		rollout.FilePath: `{"generation": 2, "enabled": ["ProcMountType"], "disabled": [], "minimum": "1.30.0"}`,
	})
	record := filepath.Join(root, rollout.StartedPath)
	start := func(by bool) string {
		t.Helper()
		var log bytes.Buffer
		o := options(t, root, "4.22.0", &log)
		o.BySystemd = by
		if _, err := startup.Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(log.String(), "this is not recorded"); said == by {
			t.Errorf("says that it is not recorded: %t\n%s", said, log.String())
		}
		data, err := os.ReadFile(record)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := start(false); got != "" {
		t.Errorf("a first check by hand records %s", got)
	}
	first := start(true)
	if !strings.Contains(first, `"generation": 2`) {
		t.Errorf("the record is %s", first)
	}
	next := `{"generation": 3, "enabled": [], "disabled": ["ProcMountType"], "minimum": "1.30.0"}`
	if err := os.WriteFile(filepath.Join(root, rollout.FilePath), []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := start(false); got != first {
		t.Errorf("a check by hand has made the record %s", got)
	}
	if got := start(true); !strings.Contains(got, `"generation": 3`) {
		t.Errorf("the record is %s", got)
	}
}

// TestBySystemd checks what tells a process that systemd runs from what such a
// process runs in turn, like a login on the console.
func TestBySystemd(t *testing.T) {
	for variable, want := range map[string]bool{"": false, "1": false, strconv.Itoa(os.Getppid()): false, strconv.Itoa(os.Getpid()): true} {
		t.Setenv("INVOCATION_ID", "0123456789abcdef0123456789abcdef")
		t.Setenv("SYSTEMD_EXEC_PID", variable)
		var log bytes.Buffer
		if got := options(t, t.TempDir(), "4.22.0", &log).BySystemd; got != want {
			t.Errorf("SYSTEMD_EXEC_PID=%q: %t, want %t", variable, got, want)
		}
	}
}
