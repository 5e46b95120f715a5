//go:build e2e

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without any rights.
const nobody = 65534

// asNobody lets a command run as that user on a device that it can reach.
func (d device) asNobody(t testing.TB, args ...string) outcome {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "only root can run a command as another user")
	}
	must(t, os.Chmod(filepath.Dir(string(d)), 0o755))
	cmd := d.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return finish(t, cmd)
}

// withUmask lets a command run with a umask, in octal, and as systemd does.
func withUmask(umask string, cmd *exec.Cmd) *exec.Cmd {
	args := append([]string{"-c", "umask " + umask + " && " + bySystemd + ` exec "$0" "$@"`}, cmd.Args...)
	return exec.Command("sh", args...)
}

// TestModes wants what is written to have the same mode under any umask: the
// lock and the rollout files are the owner's alone.
func TestModes(t *testing.T) {
	umasks := []string{"000", "022", "077"}
	if os.Geteuid() == 0 {
		umasks = append(umasks, "777") // anybody else shuts himself out
	}
	for _, umask := range umasks {
		t.Run(umask, func(t *testing.T) {
			run := func(cmd *exec.Cmd, code int) {
				t.Helper()
				if out := finish(t, withUmask(umask, cmd)); out.code != code {
					t.Fatalf("%v exits with %d, want %d:\n%s", cmd, out.code, code, out.stderr)
				}
			}
			d := newDevice(t, files{configFile: custom("MemoryQoS"), "var/lib/": "", "run/": ""})
			run(d.command("prestart"), fine)
			run(exec.Command(writer, d.path(rolloutPath)), fine)
			must(t, os.Remove(d.path(lockFile)))
			run(d.command("prestart"), fine) // records in run what it takes
			d.put(t, files{dropIns + "/50-other.yaml": custom("InPlacePodVerticalScalingExclusiveCPUs")})
			run(d.command("prestart"), fine) // changes the lock
			d.put(t, files{dropIns + "/60-wrong.yaml": "apiServer: {featureGates: {wrong: 1}}"})
			run(d.command("prestart"), rejected)
			for name, want := range map[string]fs.FileMode{
				dataDir: fs.ModeDir | 0o700, lockFile: 0o600, rolloutPath: 0o600, "run/microshift-feature-gates/started.json": 0o600,
				backupDir: fs.ModeDir | 0o700, failureLog: 0o600,
			} {
				info, err := os.Lstat(d.path(name))
				must(t, err)
				// A umask may take more, from what need not be kept.
				if got := info.Mode(); got != want && (name != failureLog && name != backupDir || got&^want != 0) {
					t.Errorf("%s has mode %v, want %v", name, got, want)
				}
			}
		})
	}
}

// TestWritable runs the command with a device as its root, since owners count
// only there, and wants a warning for each file and directory of the
// configuration that others than root can write.
func TestWritable(t *testing.T) {
	if os.Geteuid() != 0 {
		skip(t, "only root can change its root")
	}
	d := newDevice(t, files{configFile: custom("MemoryQoS"), dropIns + "/10.yaml": "", dropIns + "/sub/20.yaml": "", "srv/30.yaml": "", "bin/": ""})
	must(t, os.Link(binary, d.path("bin/m")))
	must(t, os.Symlink("/srv/30.yaml", d.path(dropIns+"/30.yaml")))
	writable := func() string {
		t.Helper()
		cmd := exec.Command("/bin/m", "--microshift-version", running, "--color", "never", "validate")
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: string(d)}
		cmd.Dir = "/"
		out := finish(t, cmd)
		if out.code != fine {
			t.Fatalf("exit code %d:\n%s", out.code, out.stderr)
		}
		var names []string
		lines := strings.Split(out.stderr, "\n")
		for i, line := range lines[:len(lines)-1] {
			if strings.HasSuffix(line, "[writable]") {
				names = append(names, strings.TrimPrefix(lines[i+1], "  --> "))
			}
		}
		return strings.Join(names, " ")
	}
	if got := writable(); got != "" {
		t.Errorf("warnings for %s, want none", got)
	}
	for _, name := range []string{"etc/microshift", configFile, dropIns, dropIns + "/10.yaml", dropIns + "/sub", dropIns + "/sub/20.yaml", "srv/30.yaml"} {
		info, err := os.Stat(d.path(name))
		must(t, err)
		want := "/" + name
		if name == "srv/30.yaml" {
			want = "/" + dropIns + "/30.yaml"
		}
		for _, change := range []struct {
			uid, gid int
			mode     fs.FileMode
			want     string
		}{
			{0, 0, 0o002, want}, {0, nobody, 0o020, want}, {nobody, 0, 0, want},
			{0, 0, 0o020, ""}, {0, nobody, 0, ""}, // the group is root's; the group can't write
		} {
			must(t, os.Chown(d.path(name), change.uid, change.gid))
			must(t, os.Chmod(d.path(name), info.Mode().Perm()|change.mode))
			if got := writable(); got != change.want {
				t.Errorf("%s of %d:%d with mode %v: warnings for %q, want %q", name, change.uid, change.gid, info.Mode()|change.mode, got, change.want)
			}
		}
		must(t, os.Chown(d.path(name), 0, 0))
		must(t, os.Chmod(d.path(name), info.Mode().Perm()))
	}
}

// TestUnprivileged looks at a device as a user who may read the configuration,
// and neither the lock nor the rollout nor one drop-in. Each command shows what
// it can, names what it could not read, and claims nothing about that.
func TestUnprivileged(t *testing.T) {
	d := newDevice(t, files{configFile: custom("MemoryQoS"), dropIns + "/50-secret.yaml": "kubelet: {}\n", lockFile: lockOf("MemoryQoS"), backupDir + "/": ""})
	if out := finish(t, exec.Command(writer, d.path(rolloutPath))); out.code != fine {
		t.Fatal(out.stderr)
	}
	must(t, os.Chmod(d.path(configFile), 0o644))
	must(t, os.Chmod(d.path(dataDir), 0o700))
	before := d.snapshot(t)
	unread := []string{dropIns + "/50-secret.yaml", lockFile, rolloutPath}
	for _, tt := range []struct {
		args []string
		want string // in the result; empty for commands that print no half of one
	}{
		{[]string{"show"}, "Lock: unknown"},
		{[]string{"show", "-o", "json"}, `"state": "unknown"`},
		{[]string{"validate"}, "0 errors, 0 warnings in 1 file"},
		{[]string{"explain", "MemoryQoS"}, "a start: not known"},
		{[]string{"lock"}, "Lock: unknown"},
		{[]string{"upgrade-check", "5.0.1"}, "It is not known whether this device would start"},
		{[]string{"flags", "kubelet"}, ""},
		{[]string{"render"}, ""},
	} {
		out := d.asNobody(t, tt.args...)
		if out.code != failed || !strings.Contains(out.stdout, tt.want) || tt.want == "" && out.stdout != "" {
			t.Errorf("%v exits with %d, want %d and %q:\n%s", tt.args, out.code, failed, tt.want, out.stdout)
		}
		for _, name := range unread {
			if want := "cannot read /" + name + ": permission denied\n"; !strings.Contains(out.stderr, want) {
				t.Errorf("%v says\n%swant %q", tt.args, out.stderr, want)
			}
		}
	}
	if out := d.asNobody(t, "prestart"); out.code != failed {
		t.Errorf("prestart exits with %d, want %d:\n%s", out.code, failed, out.stderr)
	}
	if after := d.snapshot(t); after != before {
		t.Errorf("the device is now\n%s\nwant\n%s", after, before)
	}
	// What everybody may read is read.
	must(t, os.Chmod(d.path(dropIns+"/50-secret.yaml"), 0o644))
	must(t, os.Remove(d.path(lockFile)))
	must(t, os.Remove(d.path(rolloutPath)))
	must(t, os.Chmod(d.path(dataDir), 0o755))
	if out := d.asNobody(t, "show"); out.code != fine || !strings.Contains(out.stdout, "Lock: absent") {
		t.Errorf("show exits with %d, want %d and no lock:\n%s%s", out.code, fine, out.stdout, out.stderr)
	}
}

// TestNothingIsRun has a configuration full of what a shell, a loader or a
// template would run, and traces each command: it starts no program.
func TestNothingIsRun(t *testing.T) {
	needStrace(t)
	d := newDevice(t, files{backupDir + "/": "", dataDir + "/": ""})
	mark := d.path("ran")
	run := "touch " + mark
	d.put(t, files{
		configFile:               fmt.Sprintf("apiServer:\n  featureGates:\n    featureSet: CustomNoUpgrade\n    customNoUpgrade:\n      enabled: [MemoryQoS, \"$(%[1]s)\", \"`%[1]s`\", \"; %[1]s\", \"{{ %[1]s }}\"]\n", run),
		dropIns + "/10-run.yaml": "#!/bin/sh\n" + run + "\n",
		dropIns + "/20.yaml":     "kubelet: {featureGates: {\"$(" + run + ")\": true}}\n",
		dropIns + "/30.yaml":     "a: !!python/object/apply:os.system [\"" + run + "\"]\n",
		dropIns + "/microshift":  "#!/bin/sh\n" + run + "\n",
	})
	for _, name := range []string{"10-run.yaml", "microshift"} {
		must(t, os.Chmod(d.path(dropIns+"/"+name), 0o755))
	}
	for _, args := range [][]string{{"prestart"}, {"validate"}, {"show"}, {"explain", "MemoryQoS"}, {"render"}, {"flags", "kubelet"}} {
		out, calls := strace(t, d.command(args...), string(d), "-e", "trace=execve,execveat,fork,vfork")
		runs := slices.DeleteFunc(calls, func(c call) bool { return strings.HasPrefix(c.name, "exit") })
		if len(runs) != 1 || out.code == -1 {
			t.Errorf("%v exits with %d and runs %v, want itself alone", args, out.code, runs)
		}
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a text of the configuration was run")
	}
}
