//go:build e2e

package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// What a run may cost at most on any device, in bytes. An empty one costs 8 KiB
// and 14 MiB; all configuration together may have 32 MiB, a lock 1 MiB.
const (
	mostRead   = 1<<20 + 64<<10 // where no large configuration is read
	mostMemory = 448 << 20
	mostOutput = 512 << 10 // to each of stdout and stderr
)

// cost is what a run took, in bytes. Memory is the peak of what was resident.
type cost struct{ read, memory int64 }

func (c cost) String() string {
	return fmt.Sprintf("%d KiB read, %d MiB of memory", c.read>>10, c.memory>>20)
}

// measure runs a command that may fail, and says what it took: /proc has what
// was read as long as nobody has waited for the process.
func measure(t testing.TB, cmd *exec.Cmd) (outcome, cost) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must(t, cmd.Start())
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		must(t, err)
		break
	}
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", cmd.Process.Pid))
	must(t, err)
	var c cost
	_, err = fmt.Sscanf(string(io), "rchar: %d", &c.read)
	must(t, err)
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	c.memory = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), cmd.ProcessState}, c
}

// odd is something that stands where a file is expected.
type odd struct {
	name string
	make func(path string) error
}

var (
	oddFIFO   = odd{"a FIFO", func(path string) error { return unix.Mkfifo(path, 0o600) }}
	oddSocket = odd{"a socket", func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) }}
	oddDevice = odd{"an endless device", func(path string) error {
		return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5)))
	}}
	oddDirectory = odd{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }}
	oddNowhere   = odd{"a link to nowhere", func(path string) error { return os.Symlink("nowhere", path) }}
	oddLoop      = odd{"a link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }}
	oddSparse    = odd{"a sparse file of 1 GiB", func(path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<30))
	}}
	odds = []odd{oddFIFO, oddSocket, oddDevice, oddDirectory, oddNowhere, oddLoop, oddSparse}
)

// TestOddFiles puts each odd thing at each place of a device where a file or a
// directory is expected. A start ends, as it should, and reads little.
func TestOddFiles(t *testing.T) {
	const extra = dropIns + "/60-extra.yaml"
	all := func(code int, except map[string]int) map[string]int {
		codes := map[string]int{}
		for _, o := range odds {
			codes[o.name] = code
		}
		for name, code := range except {
			codes[name] = code
		}
		return codes
	}
	// A link to nowhere is not read, as if it were absent. The gates are both in
	// config.yaml and in a drop-in, so that either can be missing.
	for _, place := range []struct {
		path  string
		codes map[string]int // of prestart
		log   string         // it must have
	}{
		{configFile, all(failed, map[string]int{oddNowhere.name: fine, oddLoop.name: fine, oddSparse.name: rejected}), configFile},
		{extra, all(failed, map[string]int{oddNowhere.name: fine, oddLoop.name: fine, oddSparse.name: rejected, oddDirectory.name: fine}), ""},
		{dropIns, all(fine, nil), ""},
		{lockFile, all(locked, nil), "the lock /" + lockFile + " is "},
		{versionFile, all(fine, nil), ""},
		{rolloutPath, all(fine, nil), "rollout-unusable"},
		{"run/microshift-feature-gates/started.json", all(fine, nil), ""},
		{"run/microshift-feature-gates/cluster.json", all(fine, nil), ""},
		{failureLog, all(fine, nil), ""},
		{backupDir, all(fine, nil), ""},
		{dataDir, all(failed, map[string]int{oddDirectory.name: fine, oddNowhere.name: fine}), ""}, // what a link points to is made
	} {
		for _, o := range odds {
			t.Run(place.path+" is "+o.name, func(t *testing.T) {
				d := newDevice(t, files{configFile: custom("MemoryQoS"), dropIns + "/50-gates.yaml": custom("MemoryQoS"), lockFile: lockOf("MemoryQoS"),
					versionFile: `{"version":"5.0.0"}`, failureLog: "an earlier reason\n", "run/microshift-feature-gates/": ""})
				must(t, os.RemoveAll(d.path(place.path)))
				if err := o.make(d.path(place.path)); errors.Is(err, fs.ErrPermission) {
					skip(t, "this user can't make %s", o.name)
				} else {
					must(t, err)
				}
				for _, command := range sample([]string{"prestart", "show", "validate"}, 3) {
					out, c := measure(t, d.command(command))
					if command == "prestart" && (out.code != place.codes[o.name] || !strings.Contains(out.stderr, place.log)) {
						t.Errorf("prestart exits with %d, want %d and %q in the log:\n%s", out.code, place.codes[o.name], place.log, out.stderr)
					}
					if c.read > mostRead || c.memory > 64<<20 {
						t.Errorf("%s: %v", command, c)
					}
				}
			})
		}
	}
	for _, command := range []string{"validate", "inspect"} { // of a file of this host
		for _, o := range odds[:3] {
			t.Run(command+" "+o.name, func(t *testing.T) {
				d := newDevice(t, nil)
				if err := o.make(d.path("x")); err != nil {
					skip(t, "this user can't make %s", o.name)
				}
				cmd := exec.Command(binary, command, d.path("x"), "--microshift-version", running)
				if out, c := measure(t, cmd); out.code != failed || c.read > mostRead {
					t.Errorf("exit code %d, want %d; %v\n%s", out.code, failed, c, out.stderr)
				}
			})
		}
	}
}

// TestLargeDevices has what is meant to exhaust a start.
func TestLargeDevices(t *testing.T) {
	custom := func(list string) string {
		return "apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [" + list + "]}}}\n"
	}
	config := func(text string) func(testing.TB, device) {
		return func(t testing.TB, d device) { d.put(t, files{configFile: text}) }
	}
	// Text of 1 MiB, less room for what stands around it.
	fill := func(text string) string { return strings.Repeat(text, (1<<20-1000)/len(text)) }
	for _, tt := range []struct {
		name string
		make func(testing.TB, device)
		code int
		log  string // in prestart's
		read int64  // at most, besides mostRead
	}{
		{"100,000 drop-ins", links(100_000, "%d.yaml"), rejected, "more than 10000 .yaml files", 10_000 * 2},
		{"100,001 other files", links(100_001, "%d.txt"), rejected, "more than 100000 entries below the directory", 0},
		{"100,000 files that look like drop-ins", links(100_000, "%d.yml"), fine, "and 99800 more problems", 0},
		{"33 MiB", func(t testing.TB, d device) {
			for i := range 33 {
				d.put(t, files{fmt.Sprintf("%s/%d.yaml", dropIns, i): strings.Repeat("#\n", 1<<19)})
			}
		}, rejected, "exceeds 33554432 bytes", 33 << 20},
		{"values", func(t testing.TB, d device) {
			for i := range 31 {
				d.put(t, files{fmt.Sprintf("%s/%d.yaml", dropIns, i): fmt.Sprintf("a%d: [%s]", i, fill("a,"))})
			}
		}, rejected, "more than 524288 values", 31 << 20},
		{"keys", config("a: {" + fill("k: ,") + "}"), rejected, "written twice", 0},
		{"names", config(custom(fill("A,"))), rejected, "no more than 1000 are allowed here", 0},
		{"one name", config(custom(fill("A"))), rejected, "no more than 256 are allowed", 0},
		{"one feature set", config("apiServer: {featureGates: {featureSet: " + fill("A") + "}}"), rejected, "feature-set-unknown", 0},
		{"wrong names", config(custom(fill("1,"))), rejected, "limit-names", 0},
		{"unknown keys", config("apiServer: {featureGates: {" + ascending("k%d: 1, ") + "}}"), rejected, "and 9801 more problems", 0},
		{"gates of the kubelet", config("kubelet: {featureGates: {" + ascending("K%d: true, ") + "}}"), rejected, "limit-names", 0},
		{"an alias bomb", config("a0: &a0 lol\n" + bomb("a%[2]d: &a%[2]d [*a%[1]d, *a%[1]d, *a%[1]d, *a%[1]d, *a%[1]d, *a%[1]d, *a%[1]d, *a%[1]d]\n")), rejected, "limit-alias", 0},
		{"a bomb of merge keys", config("a0: &a0 {k: v}\n" + bomb("a%[2]d: &a%[2]d {<<: [*a%[1]d, *a%[1]d], k%[1]d: v}\n")), rejected, "limit-alias", 0},
		{"nesting", config("a: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), rejected, "nested deeper than 100 levels", 0},
		{"NUL bytes", config(fill("\x00")), rejected, "config.yaml", 0},
		{"a NUL byte", config(custom("\"A\x00B\"")), rejected, "config.yaml", 0},
		{"one line break after the other", config(fill("\n") + "]"), rejected, "yaml-syntax", 0},
		{"directories in directories", deep(10_000), failed, "file name too long", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDevice(t, files{dropIns + "/": "", dataDir + "/": "", backupDir + "/": ""})
			tt.make(t, d)
			for _, command := range sample([]string{"prestart", "show", "validate"}, 3) {
				out, c := measure(t, d.command(command))
				note("%s: %s takes %v, and prints %d KiB", tt.name, command, c, (len(out.stdout)+len(out.stderr))>>10)
				if command == "prestart" && (out.code != tt.code || !strings.Contains(out.stderr, tt.log)) {
					t.Errorf("prestart exits with %d, want %d and %q in the log:\n%.2000s", out.code, tt.code, tt.log, out.stderr)
				}
				if c.read > mostRead+tt.read || c.memory > mostMemory {
					t.Errorf("%s takes %v", command, c)
				}
				if most := max(len(out.stdout), len(out.stderr)); most > mostOutput {
					t.Errorf("%s prints %d bytes, want at most %d", command, most, mostOutput)
				}
			}
			if left, _ := d.read(t, failureLog); len(left) > mostOutput {
				t.Errorf("%d bytes are left in %s", len(left), failureLog)
			}
		})
	}
}

// links makes n names of files, which cost less than files.
func links(n int, format string) func(testing.TB, device) {
	return func(t testing.TB, d device) {
		const most = 50_000 // ext4 has 65,000 for one file
		for i := range n {
			first := d.path(fmt.Sprintf("file%d", i/most))
			if i%most == 0 {
				must(t, os.WriteFile(first, []byte("{}"), 0o600))
			}
			must(t, os.Link(first, d.path(filepath.Join(dropIns, fmt.Sprintf(format, i)))))
		}
	}
}

// deep makes directories in each other, deeper than any path reaches.
func deep(levels int) func(testing.TB, device) {
	return func(t testing.TB, d device) {
		dir, err := unix.Open(d.path(dropIns), unix.O_DIRECTORY, 0)
		must(t, err)
		for range levels {
			must(t, unix.Mkdirat(dir, "d", 0o755))
			below, err := unix.Openat(dir, "d", unix.O_DIRECTORY, 0)
			must(t, errors.Join(err, unix.Close(dir)))
			dir = below
		}
		must(t, unix.Close(dir))
	}
}

// ascending returns about 1 MiB of text with ascending numbers.
func ascending(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20-1000; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// bomb returns lines of which each names the one before several times.
func bomb(format string) string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, format, i, i+1)
	}
	return b.String()
}

// evil are texts that forge a line of a log, steer a terminal, turn the reading
// direction, or are not what they seem. All but the last can be file names.
var evil = []string{
	"a\nlevel=error msg=forged", "a\r\nforged", "a\x1b[2J\x1b[31mb", "a\x1b]0;title\x07b", "a\u009b31mb", "a\u202eb\u2066c\u2069", "a\u200bb\ufeffc",
	"a\x7fb\bc", "a\x85b\xff\xfe", "a\u2028forged\u2029b", "a\" level=error msg=\"forged", "a`$(touch forged)`", strings.Repeat("\u202e", 80), "a\x00b",
}

// TestEvilTexts puts such texts wherever a device can hold one, and wants none
// of them raw in anything that is printed, logged or left.
func TestEvilTexts(t *testing.T) {
	quoted := func(text string) string { return strconv.Quote(strings.ToValidUTF8(text, "")) } // YAML has Go's escapes
	escaped := func(text string) string {
		return strings.NewReplacer(`\x`, `\u00`, `\a`, `\u0007`, `\v`, `\u000b`).Replace(quoted(text)) // and so has JSON
	}
	for i, text := range evil {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			var places []files
			if !strings.Contains(text, "\x00") {
				places = append(places,
					files{dropIns + "/10-" + text + ".yaml": custom("MemoryQoS"), dropIns + "/20-" + text + ".yml": "", dropIns + "/30-" + text + "/x.yaml": "{}"},
					files{dropIns + "/10-" + text + ".yaml": "apiServer: {featureGates: {wrong: 1}}", dropIns + "/20-" + text + ".yaml": "a: ["},
					files{dropIns + "/10-" + text + ".yaml": "-> nowhere", dropIns + "/20-" + text + ".yaml": "-> .", configFile: custom("A-" + "B")})
			}
			places = append(places,
				files{configFile: custom(quoted(text), "MemoryQoS"), lockFile: lockOf("MemoryQoS")},
				files{configFile: "apiServer: {featureGates: {featureSet: " + quoted(text) + ", minimumKubeletVersion: " + quoted(text) + "}}"},
				files{configFile: quoted(text) + ": 1\napiServer: {" + quoted(text) + ": 1, featureGates: {" + quoted(text) + ": 1, " + quoted("customNoUpgrade"+text) + ": 1}}\n"},
				files{configFile: custom("MemoryQoS") + "kubelet: {featureGates: {" + quoted(text) + ": true, MemoryQoS: false}}\n"},
				files{configFile: "# " + text + "\napiServer:\n  featureGates:\n    featureSet: \"" + text + "\"\n"},
				files{configFile: custom("MemoryQoS"), lockFile: "customNoUpgrade: {enabled: [" + quoted(text) + "], disabled: []}\nfeatureSet: CustomNoUpgrade\nversion: 5.0.0\nhistory:\n- {time: 2026-03-01T08:00:00Z, version: " + quoted(text) + ", change: " + quoted(text) + "}\n"},
				files{configFile: custom("MemoryQoS"), lockFile: "featureSet: " + quoted(text) + "\nversion: 5.0.0\n"},
				files{configFile: custom("MemoryQoS"), lockFile: "featureSet: CustomNoUpgrade\nversion: " + quoted(text) + "\n"},
				files{configFile: custom("MemoryQoS"), lockFile: text},
				files{configFile: custom("MemoryQoS"), versionFile: `{"version":` + escaped("4.21.0"+text) + `}`},
				files{configFile: custom("MemoryQoS"), rolloutPath: `{"generation":1,"enabled":[` + escaped(text) + `],"minimumKubeletVersion":` + escaped(text) + `,"time":` + escaped(text) + `}`},
				files{configFile: custom("MemoryQoS"), rolloutPath: text},
				files{configFile: "apiServer: {featureGates: {minimumKubeletVersion: \"1.36.0\"}}", "run/microshift-feature-gates/cluster.json": `{"phase":` + escaped(text) + `,"waiting":[` + escaped(text) + `],"outdated":[` + escaped(text) + `]}`},
			)
			for j, place := range places {
				d := newDevice(t, files{dropIns + "/": "", dataDir + "/": "", backupDir + "/": ""})
				for name, data := range place {
					if target, ok := strings.CutPrefix(data, "-> "); ok {
						must(t, os.Symlink(target, d.path(name)))
					} else {
						d.put(t, files{name: data})
					}
				}
				for k, args := range [][]string{
					{"validate"}, {"validate", "-o", "json"}, {"show"}, {"show", "-o", "json"}, {"show", "-o", "yaml"}, {"lock"}, {"lock", "-o", "json"},
					{"explain", "MemoryQoS"}, {"explain", text}, {"upgrade-check", "5.0.1"}, {"render"}, {"flags", "kubelet"}, {"prestart", "--log-format", "json"}, {"prestart"},
				} {
					if strings.Contains(strings.Join(args, ""), "\x00") || testing.Short() && (i+j+k)%25 > 0 {
						continue
					}
					out := d.run(t, args...)
					left, _ := d.read(t, failureLog)
					for what, printed := range map[string]string{"stdout": out.stdout, "stderr": out.stderr, failureLog: left} {
						if bad := unfit(printed); bad != "" {
							t.Errorf("%q, at place %d: %v has in %s the line %q", text, j, args, what, bad)
						}
					}
					if out.code < fine || out.code > locked {
						t.Errorf("%q, at place %d: %v exits with %d\n%s", text, j, args, out.code, out.stderr)
					}
				}
			}
		})
	}
}

// unfit returns the first line of a text that is not fit to print, or that was
// forged.
func unfit(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		raw := !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !strconv.IsPrint(r) })
		if raw || strings.HasPrefix(line, "level=") || strings.HasPrefix(line, "forged") {
			return line
		}
	}
	return ""
}

// TestSwappedLock swaps the lock for a link while starts read it: each sees the
// lock or the link, and none what is behind the link.
func TestSwappedLock(t *testing.T) {
	secret := strings.Replace(lockOf("MemoryQoS"), "featureSet: CustomNoUpgrade", "featureSet: Secret", 1)
	d := newDevice(t, files{configFile: custom("MemoryQoS"), lockFile: lockOf("MemoryQoS"), "secret": secret, backupDir + "/": ""})
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	stop, swapped := make(chan struct{}), make(chan error)
	go func() {
		for {
			for _, make := range []func(string) error{
				func(temp string) error { return os.Symlink("../../../secret", temp) },
				func(temp string) error { return os.WriteFile(temp, []byte(lockOf("MemoryQoS")), 0o600) },
			} {
				temp := d.path("swap")
				if err := errors.Join(make(temp), os.Rename(temp, d.path(lockFile))); err != nil {
					swapped <- err
					return
				}
			}
			select {
			case <-stop:
				swapped <- nil
				return
			default:
			}
		}
	}()
	seen := map[int]int{}
	for range rounds {
		out := d.prestart(t)
		seen[out.code]++
		if out.code != fine && out.code != locked || strings.Contains(out.stderr, "Secret") {
			t.Errorf("exit code %d, want %d or %d:\n%s", out.code, fine, locked, out.stderr)
		}
	}
	close(stop)
	must(t, <-swapped)
	if after, _ := d.read(t, "secret"); after != secret {
		t.Errorf("the file behind the link is now\n%s", after)
	}
	note("a lock that is swapped for a link: %d starts went on, %d were refused", seen[fine], seen[locked])
}

// TestLockIsOpenedOnce looks at the trace of a start with a lock: its name is
// used once, to open it without following a link, and all else is about the
// descriptor.
func TestLockIsOpenedOnce(t *testing.T) {
	needStrace(t)
	d := newDevice(t, files{configFile: custom("MemoryQoS"), lockFile: lockOf("MemoryQoS"), backupDir + "/": ""})
	out, calls := strace(t, d.command("prestart"), string(d), "-e", "trace=file")
	var names []call
	for _, c := range calls {
		if strings.Contains(c.args, `no-upgrade"`) {
			names = append(names, c)
		}
	}
	if out.code != fine || len(names) != 1 || !strings.HasPrefix(names[0].name, "openat") || !strings.Contains(names[0].args, "O_NOFOLLOW") {
		t.Errorf("exit code %d; the calls with the lock's name are %v, want one openat with O_NOFOLLOW", out.code, names)
	}
}
