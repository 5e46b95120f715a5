//go:build e2e

package device

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	config  = "/etc/microshift/config.yaml"
	options = "/etc/sysconfig/microshift-feature-gates"
	lock    = "/var/lib/microshift/no-upgrade"
	failure = "/var/lib/microshift-backups/prerun_failed.log"
	health  = "/etc/greenboot/check/required.d/35_microshift_feature_gates_check.sh"

	memoryQoS = "apiServer:\n  featureGates:\n    featureSet: CustomNoUpgrade\n    customNoUpgrade:\n      enabled: [MemoryQoS]\n"
	twoGates  = "apiServer:\n  featureGates:\n    featureSet: CustomNoUpgrade\n    customNoUpgrade:\n      enabled: [MemoryQoS, KubeletPSI]\n"
	misspelt  = "apiServer:\n  featureGates:\n    featureSet: CustomNoUpgrades\n"
)

// device is a machine with the packages, and the story of its starts so far.
type device struct {
	*machine
	story []string // outcomes that inspect must tell, in order
}

// start starts MicroShift, and checks how that ends.
func (d *device) start(want string) {
	d.t.Helper()
	_, _ = d.try("systemctl", "reset-failed", "microshift") // many starts in a short time are a failure of their own
	_, code := d.try("systemctl", "restart", "microshift")
	if (code == 0) != (want == "started") {
		d.t.Fatalf("the start ended with %d, want it %s:\n%s", code, want, d.status())
	}
	d.story = append(d.story, want)
}

// status returns what an administrator sees.
func (d *device) status() string {
	out, _ := d.try("systemctl", "status", "--no-pager", "--full", "microshift")
	return out
}

func (d *device) property(name string) string {
	return strings.TrimSpace(d.run("systemctl", "show", "--value", "-p", name, "microshift"))
}

// refused starts MicroShift, which must be refused with that exit code, at
// once, for good, and with the reason in the last ten lines of the status.
func (d *device) refused(want string, code int, reason ...string) {
	d.t.Helper()
	restarts := d.property("NRestarts")
	d.start(want)
	time.Sleep(1500 * time.Millisecond) // restarts come after 100 ms
	status := d.status()
	if got := d.property("NRestarts"); got != restarts && got != "0" {
		d.t.Errorf("systemd restarts a refused start: %s restarts, before %s\n%s", got, restarts, status)
	}
	if got := d.property("ActiveState"); got != "failed" {
		d.t.Errorf("the service is %s, want failed", got)
	}
	if want := fmt.Sprintf("(code=exited, status=%d", code); !strings.Contains(status, want) {
		d.t.Errorf("the status lacks %q:\n%s", want, status)
	}
	lines := strings.Split(strings.TrimSpace(status), "\n")
	last := strings.Join(lines[max(0, len(lines)-10):], "\n")
	journal := d.run("journalctl", "-u", "microshift", "-n", "10", "--no-pager")
	for _, r := range reason {
		if !strings.Contains(last, r) {
			d.t.Errorf("the last ten lines of the status lack %q:\n%s", r, last)
		}
		if !strings.Contains(journal, r) {
			d.t.Errorf("the last ten lines of the journal lack %q:\n%s", r, journal)
		}
		// The message that is the last but for systemd's own three lines.
		if line := lines[len(lines)-4]; !strings.Contains(line, "MicroShift does not start") {
			d.t.Errorf("the reason is not the last thing before systemd's own words: %s", line)
		}
	}
	if d.read(failure) == "" {
		d.t.Errorf("%s is not there", failure)
	}
}

// started starts MicroShift, which must come up.
func (d *device) started() {
	d.t.Helper()
	d.start("started")
	if text := d.read(failure); text != "" {
		d.t.Errorf("%s is still there: %s", failure, text)
	}
}

// TestStory tells the whole life of a device, one chapter after the other,
// and in the end what a sosreport of it tells.
func TestStory(t *testing.T) {
	dir := packages(t)
	arch := strings.TrimSpace(do(t, "rpm", "--eval", "%_arch"))
	tmp := t.TempDir()
	older, newer := standIn(t, tmp, "5.0.0"), standIn(t, tmp, "5.0.1")
	d := &device{machine: newMachine(t)}
	begin := time.Now()
	d.boot()
	t.Logf("booted in %s", time.Since(begin).Round(time.Millisecond))
	d.install(older)
	d.install(rpmFile(t, dir, "microshift-feature-gates", arch), rpmFile(t, dir, "microshift-feature-gates-greenboot", "noarch"),
		rpmFile(t, dir, "microshift-feature-gates-controller", arch))
	d.run("systemctl", "daemon-reload")
	d.run("systemctl", "enable", "microshift")
	d.run("systemctl", "stop", "microshift")
	d.write("/etc/standin/.keep", "")

	for _, chapter := range []struct {
		name string
		tell func(*testing.T, *device)
	}{
		{"units", units},
		{"power cut before the lock", powerCutBefore},
		{"power cut at the lock", powerCutAt},
		{"power cut after the lock", powerCutAfter},
		{"first start", firstStart},
		{"restart", restart},
		{"bad configuration", badConfiguration},
		{"revert", revert},
		{"changed gates", changedGates},
		{"ends of MicroShift itself", ends},
		{"update and rollback", func(t *testing.T, d *device) { updateAndRollback(t, d, older, newer) }},
		{"lock damage", lockDamage},
		{"full disk", fullDisk},
		{"read-only var", readOnlyVar},
		{"clock jump", clockJump},
		{"record of a start", recordedStart},
		{"log in JSON", jsonLog},
		{"update that can't be judged", func(t *testing.T, d *device) { unjudged(t, d, older, newer) }},
		{"policy of the packager", func(t *testing.T, d *device) { policy(t, d, older, newer) }},
		{"sosreport", sosreport},
	} {
		begin := time.Now()
		ok := t.Run(chapter.name, func(t *testing.T) {
			outer := d.t
			d.t = t
			defer func() { d.t = outer }()
			chapter.tell(t, d)
		})
		t.Logf("%s: %s", chapter.name, time.Since(begin).Round(time.Millisecond))
		if !ok {
			return // the next ones would not mean much
		}
	}
}

// units has systemd judge the drop-in, and the controller's service.
func units(t *testing.T, d *device) {
	const controller = "microshift-feature-gates-controller.service"
	for _, unit := range []string{"microshift.service", controller} {
		if out := d.run("systemd-analyze", "verify", unit); out != "" {
			t.Errorf("systemd-analyze verify %s: %s", unit, out)
		}
	}
	exposure := func(unit string) string {
		d.run("systemctl", "daemon-reload")
		out := d.run("systemd-analyze", "security", "--no-pager", unit)
		_, level, _ := strings.Cut(out, "Overall exposure level for "+unit+": ")
		return strings.TrimSpace(level)
	}
	level, _, _ := strings.Cut(exposure(controller), " ")
	if n, err := strconv.ParseFloat(level, 64); err != nil || n > 3 {
		t.Errorf("the exposure of the controller is %q, want at most 3", level)
	}
	// The controller is skipped, which is no failure, unless it has a kubeconfig.
	const own = "/etc/microshift-feature-gates-controller/kubeconfig"
	begins := func() string {
		d.run("systemctl", "start", controller)
		defer d.run("systemctl", "stop", controller)
		return strings.TrimSpace(d.run("systemctl", "show", "--value", "-p", "ConditionResult", controller))
	}
	if got := begins(); got != "no" {
		t.Errorf("without a kubeconfig, the condition of the controller is %q, want no", got)
	}
	d.write(own, "")
	if got := begins(); got != "yes" {
		t.Errorf("with a kubeconfig of its own, the condition of the controller is %q, want yes", got)
	}
	d.remove(own)
	dropIn := "/usr/lib/systemd/system/microshift.service.d/10-feature-gates.conf"
	with := exposure("microshift.service")
	text := d.read(dropIn)
	d.remove(dropIn)
	without := exposure("microshift.service")
	d.write(dropIn, text)
	if d.run("systemctl", "daemon-reload"); with == "" || with != without {
		t.Errorf("the exposure of microshift.service is %q with the drop-in, and %q without", with, without)
	}
	if got := d.property("ExecStartPre"); !strings.Contains(got, "argv[]=/usr/bin/microshift-feature-gates prestart ;") {
		t.Errorf("ExecStartPre is %s", got)
	}
}

// powerCutBefore cuts the power while the first start asks for the version.
func powerCutBefore(t *testing.T, d *device) {
	d.write(config, memoryQoS)
	d.write("/etc/standin/version-hangs", "")
	d.run("systemctl", "start", "--no-block", "microshift")
	d.wait("the check runs", func() bool { return d.property("SubState") == "start-pre" })
	d.cutPower()
	if _, err := os.Stat(d.path(lock)); err == nil {
		t.Error("there is a lock already")
	}
	d.remove("/etc/standin/version-hangs")
}

// powerCutAt cuts the power as soon as anything appears where the lock goes.
func powerCutAt(t *testing.T, d *device) {
	d.remove("/etc/systemd/system/multi-user.target.wants/microshift.service")
	d.boot()
	d.run("systemctl", "start", "--no-block", "microshift")
	d.wait("the data directory has something", func() bool {
		entries, _ := os.ReadDir(d.path("/var/lib/microshift"))
		return len(entries) > 0
	})
	d.cutPower()
	text := d.read(lock)
	t.Logf("the lock has %d bytes", len(text))
	if text != "" && !strings.Contains(text, "version: 5.0.0") {
		t.Errorf("the lock is neither absent nor complete:\n%s", text)
	}
}

// powerCutAfter cuts the power when the lock is there and MicroShift not yet up.
func powerCutAfter(t *testing.T, d *device) {
	d.boot()
	d.write("/etc/standin/slow", "")
	d.run("systemctl", "start", "--no-block", "microshift")
	d.wait("MicroShift runs", func() bool {
		return strings.Contains(d.run("journalctl", "-b", "-u", "microshift", "-o", "cat"), "starting")
	})
	d.run("journalctl", "--sync")
	d.cutPower()
	if text := d.read(lock); !strings.Contains(text, "version: 5.0.0") || !strings.Contains(text, "MemoryQoS") {
		t.Errorf("the lock is not complete:\n%s", text)
	}
	d.remove("/etc/standin/slow")
}

// wait waits until something is so.
func (d *device) wait(what string, ok func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("after a minute it is still not so that %s", what)
		}
	}
}

func firstStart(t *testing.T, d *device) {
	d.boot()
	d.run("systemctl", "enable", "microshift")
	d.started()
	journal := d.run("journalctl", "-b", "-u", "microshift", "--no-pager")
	for _, want := range []string{
		"checking feature gates", "file=" + config, "never for production", "gate=MemoryQoS",
		"component=kube-apiserver", "MemoryQoS=true", "component=kubelet", lock,
	} {
		if !strings.Contains(journal, want) {
			t.Errorf("the journal lacks %q:\n%s", want, journal)
		}
	}
	info, err := os.Stat(d.path(lock))
	check(t, err)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("the lock has mode %o, want 600", got)
	}
	leftovers, err := filepath.Glob(d.path("/var/lib/microshift/.*"))
	check(t, err)
	if len(leftovers) > 0 {
		t.Logf("the power cuts have left %v", leftovers)
	}
}

func restart(t *testing.T, d *device) {
	before := d.read(lock)
	begin := time.Now()
	d.started()
	t.Logf("a restart takes %s", time.Since(begin).Round(time.Millisecond))
	if after := d.read(lock); after != before {
		t.Errorf("the lock was changed:\n%s", after)
	}
}

func badConfiguration(t *testing.T, d *device) {
	d.write("/etc/microshift/config.d/50-site.yaml", misspelt)
	before := d.read(lock)
	d.refused("rejected", 1, "/etc/microshift/config.d/50-site.yaml:3:17", `\"CustomNoUpgrades\"`, "CustomNoUpgrade,")
	if after := d.read(lock); after != before {
		t.Errorf("the lock was changed:\n%s", after)
	}
	d.remove("/etc/microshift/config.d/50-site.yaml")
	d.started()
}

func revert(t *testing.T, d *device) {
	d.remove(config)
	before := d.read(lock)
	d.refused("locked", 4, lock, "the configuration sets none")
	if text := d.read(failure); !strings.Contains(text, "microshift-cleanup-data --all") || !strings.Contains(text, "MemoryQoS") {
		t.Errorf("%s lacks the ways out:\n%s", failure, text)
	}
	if after := d.read(lock); after != before {
		t.Errorf("the lock was changed:\n%s", after)
	}
	d.write(config, memoryQoS)
	d.started()
}

func changedGates(t *testing.T, d *device) {
	d.write(config, twoGates)
	d.started()
	if text := d.read(lock); !strings.Contains(text, "KubeletPSI") || !strings.Contains(text, "gates changed") {
		t.Errorf("the lock does not tell of the change:\n%s", text)
	}
}

// ends checks that MicroShift itself is restarted as Restart=always has it,
// however it ends, and that even then a refused start is not repeated.
func ends(t *testing.T, d *device) {
	for _, end := range []string{"0", "1", "77", "255", "SIGTERM", "SIGKILL", "SIGHUP"} {
		d.run("systemctl", "reset-failed", "microshift") // the start limit counts these too
		before := d.property("MainPID")
		d.write("/etc/standin/end", end)
		d.wait("MicroShift is up again after "+end, func() bool {
			return d.property("MainPID") != before && d.property("ActiveState") == "active"
		})
		d.story = append(d.story, "started")
	}
	d.remove(config)
	d.write("/etc/standin/end", "1")
	d.wait("the service has failed", func() bool { return d.property("ActiveState") == "failed" })
	time.Sleep(1500 * time.Millisecond)
	d.story = append(d.story, "locked")
	if journal := d.run("journalctl", "-u", "microshift", "-n", "4", "-o", "cat", "--no-pager"); !strings.Contains(journal, "MicroShift does not start") {
		t.Errorf("a refused restart is repeated:\n%s", journal)
	}
	d.write(config, twoGates)
	d.started()
}

// updateAndRollback brings another version, as ostree or rpm would, and takes
// it back as greenboot would.
func updateAndRollback(t *testing.T, d *device, older, newer string) {
	if out := d.run(health); !strings.Contains(out, "did not stop MicroShift") {
		t.Errorf("greenboot's check says %s", out)
	}
	out := d.install(newer)
	for _, want := range []string{"warning: MicroShift 5.0.1 will not start on this device", lock, "an upgrade is not allowed"} {
		if !strings.Contains(out, want) {
			t.Errorf("the update does not say %q:\n%s", want, out)
		}
	}
	d.run("systemctl", "daemon-reload")
	before := d.read(lock)
	d.deployment("newer")
	d.refused("locked", 4, "holds MicroShift 5.0.0, and this is MicroShift 5.0.1")
	check, code := d.try(health)
	if code != 1 || !strings.Contains(check, "go back to MicroShift 5.0.0") {
		t.Errorf("greenboot's check ends with %d, want 1, and says %s", code, check)
	}
	if after := d.read(lock); after != before {
		t.Errorf("the lock was changed:\n%s", after)
	}
	if out := d.install(older); strings.Contains(out, "warning: MicroShift") {
		t.Errorf("the way back is warned of: %s", out)
	}
	d.reboot() // MicroShift is enabled
	d.deployment("older")
	d.wait("MicroShift is up", func() bool { return d.property("ActiveState") == "active" })
	d.story = append(d.story, "started")
	check = d.run(health)
	for where, text := range map[string]string{
		"greenboot's check": check, "the journal": d.run("journalctl", "-b", "-u", "microshift", "--no-pager"),
	} {
		for _, want := range []string{"this system was rolled back or replaced", "/ostree/boot.0/default/newer/0", "this is MicroShift 5.0.1"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not tell of the rollback, %q:\n%s", where, want, text)
			}
		}
	}
	if out := d.run(health); strings.Contains(out, "5.0.1") {
		t.Errorf("greenboot's check tells it twice: %s", out)
	}
}

// deployment has the machine believe that it has booted a deployment of ostree.
func (d *device) deployment(name string) {
	d.t.Helper()
	d.write("/etc/standin/cmdline", "root=/dev/vda1 ostree=/ostree/boot.0/default/"+name+"/0 quiet\n")
	d.run("mount", "--bind", "/etc/standin/cmdline", "/proc/cmdline")
	d.inside("/run/ostree-booted", "")
}

func lockDamage(t *testing.T, d *device) {
	good := d.read(lock)
	for _, damage := range []struct{ name, text string }{
		{"emptied", ""}, {"zeros", strings.Repeat("\x00", 512)}, {"cut off", good[:len(good)/3]},
	} {
		d.write(lock, damage.text)
		d.refused("locked", 4, lock)
		if after := d.read(lock); after != damage.text {
			t.Errorf("%s: the lock was changed:\n%s", damage.name, after)
		}
	}
	d.write(lock, good)
	d.started()
}

// fullDisk has the lock change when there is no room for it.
func fullDisk(t *testing.T, d *device) {
	good := d.read(lock)
	d.run("systemctl", "stop", "microshift")
	d.run("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", "/var/lib/microshift")
	d.inside(lock, good)
	_, _ = d.try("sh", "-c", "cat /dev/zero >/var/lib/microshift/filler") // until it is full
	d.write(config, memoryQoS)
	d.refused("failed", 3, "no space left on device")
	if after := d.run("cat", lock); after != good {
		t.Errorf("the lock was changed:\n%s", after)
	}
	d.run("umount", "/var/lib/microshift")
	d.started()
	if text := d.read(lock); !strings.Contains(text, "gates changed") {
		t.Errorf("the lock does not tell of the change:\n%s", text)
	}
}

// inside writes a file as the machine sees it, below its mounts.
func (d *device) inside(name, text string) {
	d.t.Helper()
	cmd := d.command("tee", name)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// readOnlyVar has all of /var read-only, as after an error of its file system.
func readOnlyVar(t *testing.T, d *device) {
	good := d.read(lock)
	d.run("mount", "--bind", "/var", "/var")
	d.run("mount", "-o", "remount,bind,ro", "/var")
	d.started() // with nothing to write, MicroShift may have its try
	d.write(config, twoGates)
	d.refusedWithoutLog("failed", "read-only file system")
	d.run("umount", "/var")
	if after := d.read(lock); after != good {
		t.Errorf("the lock was changed:\n%s", after)
	}
	d.started()
}

// refusedWithoutLog is refused where the reason can't be left in a file.
func (d *device) refusedWithoutLog(want, reason string) {
	d.t.Helper()
	d.start(want)
	if status := d.status(); !strings.Contains(status, reason) || !strings.Contains(status, "MicroShift does not start") {
		d.t.Errorf("the status lacks %q:\n%s", reason, status)
	}
}

// clockJump has a start with the clock of years ago, as devices without a
// battery have it until they have asked for the time.
func clockJump(t *testing.T, d *device) {
	dir := t.TempDir()
	do(t, "go", "build", "-o", filepath.Join(dir, "othertime"), "./test/e2e/device/othertime")
	data, err := os.ReadFile(filepath.Join(dir, "othertime"))
	check(t, err)
	d.write("/usr/local/bin/othertime", string(data))
	check(t, os.Chmod(d.path("/usr/local/bin/othertime"), 0o755))
	dropIn := "/etc/systemd/system/microshift.service.d/90-other-time.conf"
	d.write(dropIn, "[Service]\nSyslogIdentifier=microshift-feature-gates\nExecStartPre=\nExecStartPre=/usr/local/bin/othertime -87600h /usr/bin/microshift-feature-gates prestart\n")
	d.run("systemctl", "daemon-reload")
	d.write(config, memoryQoS)
	d.started()
	d.remove(dropIn)
	d.run("systemctl", "daemon-reload")
	text := d.read(lock)
	year := fmt.Sprint(time.Now().Add(-87600 * time.Hour).UTC().Year())
	if !strings.Contains(text, year+"-") {
		t.Fatalf("the lock does not tell of a start in %s:\n%s", year, text)
	}
	d.write(config, twoGates)
	d.started()
	history := strings.Split(d.read(lock), "change:")
	if last := history[len(history)-1]; !strings.Contains(last+history[len(history)-2], time.Now().UTC().Format("2006-")) {
		t.Errorf("the last change is not of this year:\n%s", d.read(lock))
	}
}

// recordedStart has a start recorded when systemd makes it, and only then.
func recordedStart(t *testing.T, d *device) {
	const file, minimum, record = "/var/lib/microshift/feature-gates-rollout.json", "/etc/microshift/config.d/50-minimum.yaml", "/run/microshift-feature-gates/started.json"
	write := func(generation int) {
		d.write(file, fmt.Sprintf(`{"generation":%d,"enabled":[],"disabled":["ProcMountType"],"minimum":"1.30.0"}`, generation))
	}
	recorded := func(what string, generation int) {
		t.Helper()
		text, code := d.try("cat", record)
		if want := fmt.Sprintf(`"generation": %d,`, generation); code != 0 || !strings.Contains(text, want) {
			t.Errorf("%s leaves %q (%d), want %s", what, text, code, want)
		}
	}
	d.write(minimum, "apiServer:\n  featureGates:\n    minimumKubeletVersion: 1.30.0\n")
	write(2)
	d.started()
	recorded("a start", 2)
	write(3)
	d.run("env", "INVOCATION_ID=0123456789abcdef0123456789abcdef", "microshift-feature-gates", "prestart")
	recorded("a check by hand", 2)
	d.started()
	recorded("the next start", 3)
	d.remove(minimum)
	d.remove(file)
	d.run("rm", record)
	d.started()
}

func jsonLog(t *testing.T, d *device) {
	text := d.read(options)
	d.write(options, strings.Replace(text, "LOG_FORMAT=text", "LOG_FORMAT=json", 1))
	d.started()
	out := d.run("journalctl", "-b", "-u", "microshift", "-t", "microshift-feature-gates", "-n", "1", "-o", "cat")
	var entry map[string]any
	if err := json.Unmarshal([]byte(out), &entry); err != nil {
		t.Errorf("the log is not in JSON (%v): %s", err, out)
	}
	d.write("/etc/microshift/config.d/50-site.yaml", misspelt)
	d.refused("rejected", 1, "/etc/microshift/config.d/50-site.yaml:3:17")
	d.remove("/etc/microshift/config.d/50-site.yaml")
	d.started()
	d.write(options, text)
}

// unjudged has an update whose warning lacks something that it needs. It must
// judge all the same or say what it could not find out, and never fail.
func unjudged(t *testing.T, d *device, older, newer string) {
	const data = "/var/lib/microshift/version"
	version, text := d.read(data), d.read(options)
	warns := func(out string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("the update does not say %q:\n%s", w, out)
			}
		}
	}
	d.write(data, `{"version":"5.0"}`)
	warns(d.install(newer), "warning: MicroShift 5.0.1 will not start on this device", lock, "an upgrade is not allowed")
	d.write(data, version)

	const script = "/usr/libexec/microshift-feature-gates/upgrade-warning"
	d.write(options, strings.Replace(text, "UPGRADE_POLICY=none", "UPGRADE_POLICY=zstream", 1))
	warns(d.run(script), "warning: cannot tell whether MicroShift 5.0.1 will start on this device (exit code 2)",
		options+":", `"zstream": it is none or z-stream`)
	for _, command := range []string{"prestart", "validate", "show", "lock"} { // for all of them as for the start
		if out, code := d.try("microshift-feature-gates", command); code != 2 {
			t.Errorf("%s ends with %d, want 2:\n%s", command, code, out)
		}
	}
	d.remove(options)
	check(t, os.Mkdir(d.path(options), 0o755))
	warns(d.run(script), "warning: cannot tell whether MicroShift 5.0.1 will start on this device (exit code 3)", options+": is a directory")
	check(t, os.Remove(d.path(options)))
	d.write(options, text)
	d.write("/etc/standin/version-fails", "")
	warns(d.run(script), "warning: cannot tell whether the new MicroShift will start on this device", "no answer today")
	d.remove("/etc/standin/version-fails")

	d.install(older)
	d.run("systemctl", "daemon-reload")
}

// policy has another patch version, which the policy of the packager allows:
// to the start, and to every command that tells what a start would do.
func policy(t *testing.T, d *device, older, newer string) {
	text := d.read(options)
	d.write(options, strings.Replace(text, "UPGRADE_POLICY=none", "UPGRADE_POLICY=z-stream", 1))
	d.run("microshift-feature-gates", "upgrade-check", "5.0.1")
	if out := d.install(newer); strings.Contains(out, "warning: ") {
		t.Errorf("the update is warned of: %s", out)
	}
	d.run("systemctl", "daemon-reload")
	d.run("microshift-feature-gates", "validate")
	d.started()
	if text := d.read(lock); !strings.Contains(text, "version: 5.0.1") {
		t.Errorf("the lock has not moved:\n%s", text)
	}
	// Our own package may be updated at any time, and keeps what was edited.
	d.run("rpm", "-V", "--nodeps", "--noscripts", "--nomtime", "--nofiledigest", "--nosize", "microshift-feature-gates")
}
