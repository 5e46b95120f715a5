//go:build e2e

package device

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inspection is what the test looks at of what inspect prints.
type inspection struct {
	MicroShiftVersion string `json:"microshiftVersion"`
	VersionFrom       string `json:"versionFrom"`
	Device            struct {
		FeatureSet struct{ Value string }
		Files      []struct{ Path string }
		Lock       struct {
			State, FeatureSet, Version string
			History                    []struct{ Change string }
		}
	}
	Starts []struct {
		Time                        time.Time
		MicroShiftVersion           string `json:"microshiftVersion"`
		Outcome, FeatureSet, Reason string
		Changes                     []string
	}
	Notes []string
}

// sosreport makes a real sosreport of the machine, and has it told what it
// tells.
func sosreport(t *testing.T, d *device) {
	began := time.Now()
	said := d.run("sos", "report", "--batch", "--tmp-dir", "/var/tmp", "--only-plugins", "microshift_feature_gates,logs,systemd")
	t.Logf("sos report took %s", time.Since(began).Round(time.Millisecond))
	found, err := filepath.Glob(d.path("/var/tmp/sosreport-*.tar.xz"))
	check(t, err)
	if len(found) != 1 {
		t.Fatalf("there are %d sosreports, want 1; sos says\n%s", len(found), said)
	}
	archive := found[0]
	binary := d.path("/usr/bin/microshift-feature-gates")

	list := do(t, "tar", "-tf", archive)
	for _, want := range []string{
		"/sos_commands/microshift_feature_gates/microshift-feature-gates_show_-o_json\n",
		"/sos_commands/microshift_feature_gates/microshift-feature-gates_lock\n",
		"/sos_commands/microshift_feature_gates/journalctl_--no-pager_--unit_microshift\n",
		"/etc/microshift/config.yaml\n", "/var/lib/microshift/no-upgrade\n", "/var/lib/microshift/version\n",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("the sosreport lacks %s", want)
		}
	}

	fromArchive := inspect(t, binary, archive)
	dir := t.TempDir()
	do(t, "tar", "-xf", archive, "-C", dir)
	fromDirectory := inspect(t, binary, dir)
	a, _ := json.Marshal(fromArchive)
	b, _ := json.Marshal(fromDirectory)
	if string(a) != string(b) {
		t.Errorf("the archive and the directory tell different stories:\n%s\n%s", a, b)
	}
	d.compare(t, fromArchive)

	inner, err := filepath.Glob(filepath.Join(dir, "sosreport-*"))
	check(t, err)
	show := do(t, binary, "show", "--root", inner[0], "--microshift-version", "5.0.1")
	if !strings.Contains(show, "MemoryQoS") || !strings.Contains(show, "Lock: held") {
		t.Errorf("show --root does not tell of the device:\n%s", show)
	}
	text := do(t, binary, "inspect", archive)
	t.Logf("what a support engineer sees:\n%s", text)
}

func inspect(t *testing.T, binary, report string) inspection {
	t.Helper()
	began := time.Now()
	cmd := exec.Command(binary, "inspect", "-o", "json", report)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(t, err)
	t.Logf("inspect of %s took %s", filepath.Base(report), time.Since(began).Round(time.Millisecond))
	var v inspection
	check(t, json.Unmarshal(out, &v))
	return v
}

// compare holds what inspect tells against what has happened.
func (d *device) compare(t *testing.T, v inspection) {
	t.Helper()
	if v.MicroShiftVersion != "5.0.1" || !strings.Contains(v.VersionFrom, "microshift_version_-o_json") {
		t.Errorf("the version is %q from %q, want 5.0.1 from microshift version", v.MicroShiftVersion, v.VersionFrom)
	}
	if dev := v.Device; dev.FeatureSet.Value != "CustomNoUpgrade" || dev.Lock.State != "held" || dev.Lock.Version != "5.0.1" || len(dev.Lock.History) < 4 {
		t.Errorf("the device is %+v", dev)
	}
	var outcomes []string
	for _, s := range v.Starts {
		outcomes = append(outcomes, s.Outcome)
	}
	// The power cuts come first; how much of these starts reached the disk is
	// a matter of luck.
	for len(outcomes) > len(d.story) && slices.Contains([]string{"cut-off", "accepted"}, outcomes[0]) {
		outcomes = outcomes[1:]
	}
	if !slices.Equal(outcomes, d.story) {
		t.Errorf("the starts ended\n%q, want\n%q", outcomes, d.story)
	}
	var changes []string
	for _, s := range v.Starts {
		changes = append(changes, s.Changes...)
		switch s.Outcome {
		case "rejected", "locked", "failed":
			if s.Reason == "" {
				t.Errorf("the start at %s has no reason", s.Time)
			}
		}
	}
	all := strings.Join(changes, "\n")
	at := 0
	for _, want := range []string{ // in this order
		"feature set: CustomNoUpgrade → CustomNoUpgrades", "feature set: CustomNoUpgrade → none", "feature set: none → CustomNoUpgrade",
		"added customNoUpgrade.enabled: KubeletPSI", "MicroShift: 5.0.0 → 5.0.1", "MicroShift: 5.0.1 → 5.0.0",
		"clock: set back by", "MicroShift: 5.0.0 → 5.0.1",
	} {
		i := strings.Index(all[at:], want)
		if i < 0 {
			t.Errorf("the changes do not tell %q where it belongs:\n%s", want, all)
			continue
		}
		at += i + len(want)
	}
}
