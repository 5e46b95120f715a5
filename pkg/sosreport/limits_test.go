package sosreport

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// block returns a header of a tar archive as it is on the disk.
func block(name string, kind byte, size int) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000644\x000000000\x000000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x0000000000000\x00        ", size))
	b[156] = kind
	copy(b[257:], "ustar\x0000")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// padded fills up to the size of a block.
func padded(text string) []byte {
	return append([]byte(text), make([]byte, 512-len(text)%512)...)
}

// sparse returns an entry of a size that consists of one hole.
func sparse(name, size string) []byte {
	var records strings.Builder
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + name, "GNU.sparse.realsize=" + size} {
		fmt.Fprintf(&records, "%03d %s\n", len(r)+5, r) // three digits, a blank and a line feed
	}
	var b bytes.Buffer
	b.Write(block("PaxHeader", tar.TypeXHeader, records.Len()))
	b.Write(padded(records.String()))
	b.Write(block("hole", tar.TypeReg, 512))
	b.Write(padded("0\n")) // the map, which has no data
	return b.Bytes()
}

// TestHoles checks that a file which claims to be huge is left out, whatever it
// is for, and that the rest is read.
func TestHoles(t *testing.T) {
	const huge = "1152921504606846976" // 2^60
	for _, name := range []string{journalName + "_0", "sos_commands/microshift/microshift_version", "etc/microshift/config.d/10.yaml", "proc/kcore"} {
		data := append(sparse("sosreport-vm-2026/"+name, huge), archive(t, sample())...)
		r, err := opened(t, data, standard)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(r.Starts) != 2 {
			t.Errorf("%s: there are %d starts, want 2", name, len(r.Starts))
		}
		if notes := strings.Join(r.Notes, "\n"); strings.Contains(notes, "which is too much") != (purposeOf(name) == log) {
			t.Errorf("%s: the notes are %q", name, notes)
		}
	}

	dir := t.TempDir()
	name := filepath.Join(dir, journalName)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, maxTotal+1); err != nil {
		t.Skip(err) // no file system for files with holes
	}
	r, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "which is too much") {
		t.Errorf("directory: the notes are %q", notes)
	}
}

// endless never ends, and is interrupted at its third read.
type endless struct {
	cancel func()
	reads  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.reads++; e.reads == 3 {
		e.cancel()
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestInterrupt checks that a line without an end, and streams without content,
// can be interrupted.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &endless{cancel: cancel}
	c := &collector{limits: standard}
	if err := c.readJournal(ctx, "journal", maxTotal, e); !errors.Is(err, context.Canceled) || e.reads != 3 {
		t.Errorf("line: got %v after %d reads, want %v after 3", err, e.reads, context.Canceled)
	}

	for _, form := range []string{"xz", "gzip"} {
		ctx, cancel := context.WithCancel(context.Background())
		empty := compressed(t, nil, form)
		head := bytes.NewReader(bytes.Repeat(empty, 100_000))
		r, err := decompress(ctx, io.MultiReader(head, &endless{cancel: cancel}))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := r.Read(make([]byte, 512)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", form, err, context.Canceled)
		}
	}
}

// TestReason checks that a reason of many lines does not grow with them.
func TestReason(t *testing.T) {
	const failure = "Nov 30 13:24:12 vm microshift-feature-gates[7]: microshift-feature-gates: x\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	starts := read(t, strings.Repeat(failure, 60_000))
	runtime.ReadMemStats(&after)
	if len(starts) != 1 || !strings.HasPrefix(starts[0].Reason, "x; x") || len(starts[0].Reason) > maxReason+maxLine {
		t.Fatalf("there are %d starts, the first with a reason of %d bytes", len(starts), len(starts[0].Reason))
	}
	// Joining all would take 60,000² · 3 / 2 bytes, which is 5 GB.
	if n := after.TotalAlloc - before.TotalAlloc; n > 200<<20 {
		t.Errorf("it took %d bytes", n)
	}
}

// startLines returns the lines of starts with process numbers up to last.
func startLines(first, last int) string {
	var b strings.Builder
	for pid := first; pid <= last; pid++ {
		fmt.Fprintf(&b, "Nov 30 13:24:12 vm microshift-feature-gates[%d]: level=info msg=\"checking feature gates\" microshift=5.0.0\n", pid)
	}
	return b.String()
}

// TestManyJournals checks that there is a limit on the number of journals, on
// starts in all of them, and on what these tell, in an archive and a directory.
func TestManyJournals(t *testing.T) {
	small := standard
	small.journals, small.starts = 5, 10
	narrow := standard
	narrow.text = 1000
	long := strings.ReplaceAll(startLines(1, 1), "microshift=5.0.0", "microshift=5.0.0 x="+strings.Repeat("x", 2000))
	for name, tt := range map[string]struct {
		journals []string
		limits   limits
		starts   int
		note     string
	}{
		"at the limits":    {[]string{startLines(1, 2), startLines(3, 4), startLines(5, 6), startLines(7, 8), startLines(9, 10)}, small, 10, ""},
		"a journal more":   {[]string{startLines(1, 1), startLines(2, 2), startLines(3, 3), startLines(4, 4), startLines(5, 5), startLines(6, 6)}, small, 5, "more than 5 journals; the last 1 are left out"},
		"starts in one":    {[]string{startLines(1, 13)}, small, 10, "more than 10 starts; the last 3 are left out"},
		"starts in two":    {[]string{startLines(1, 8), startLines(9, 13)}, small, 10, "more than 10 starts; the last 3 are left out"},
		"the same starts":  {[]string{startLines(1, 4), startLines(1, 4)}, small, 4, ""},
		"more than can be": {[]string{long, startLines(2, 2)}, narrow, 2, "more than 1000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var files []file
			for i, text := range tt.journals {
				f := file{name: fmt.Sprintf("sos_commands/j/journalctl_%d", i), text: text}
				files = append(files, f)
				path := filepath.Join(dir, f.name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ofArchive, err := opened(t, archive(t, files), tt.limits)
			if err != nil {
				t.Fatal(err)
			}
			ofDirectory, err := open(context.Background(), dir, tt.limits)
			if err != nil {
				t.Fatal(err)
			}
			for form, r := range map[string]*Report{"archive": ofArchive, "directory": ofDirectory} {
				if len(r.Starts) != tt.starts {
					t.Errorf("%s: there are %d starts, want %d", form, len(r.Starts), tt.starts)
				}
				notes := strings.Join(r.Notes, "\n")
				if tt.note == "" && strings.Contains(notes, "left out") || !strings.Contains(notes, tt.note) {
					t.Errorf("%s: the notes are %q, want %q", form, notes, tt.note)
				}
			}
		})
	}
}

// TestCutShort checks that a small archive, which is one block of xz, is read
// as far as it goes in every form, and that this is the first note.
func TestCutShort(t *testing.T) {
	files := append(sample(), file{name: "proc/random", text: noise(8 << 10)})
	for i := range 200 { // each with a note
		files = append([]file{{name: fmt.Sprintf("etc/microshift/config.d/%d", i), kind: tar.TypeFifo}}, files...)
	}
	for _, form := range []string{"plain", "gzip", "xz"} {
		data := compressed(t, archive(t, files), form)
		r, err := opened(t, data[:len(data)-(6<<10)], standard)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		if len(r.Starts) != 2 || !strings.Contains(r.Notes[0], "cut off or damaged after 208 entries") {
			t.Errorf("%s: %d starts, first note %q", form, len(r.Starts), r.Notes[0])
		}
	}
}

// TestCutAtTheEnd checks that a cut is told of even where it is behind the last
// entry, in what the compression leaves at the end.
func TestCutAtTheEnd(t *testing.T) {
	for _, form := range []string{"gzip", "xz"} {
		data := compressed(t, archive(t, sample()), form)
		for cut := 1; cut <= 40; cut++ {
			r, err := opened(t, data[:len(data)-cut], standard)
			if err != nil {
				t.Fatalf("%s, %d bytes cut off: %v", form, cut, err)
			}
			if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "cut off or damaged after") {
				t.Errorf("%s, %d bytes cut off: the notes are %q", form, cut, r.Notes)
			}
		}
	}
}

// TestShown checks what proves that a device had no lock, or no configuration.
func TestShown(t *testing.T) {
	for name, tt := range map[string]struct {
		text                    string
		noLock, noConfiguration bool
	}{
		"neither":             {`{"files": [], "lock": {"state": "absent"}, "diagnostics": []}`, true, true},
		"both":                {`{"files": [{"path": "/etc/microshift/config.yaml"}], "lock": {"state": "held"}}`, false, false},
		"no lock":             {`{"files": [{"path": "/etc/microshift/config.yaml"}], "lock": {"state": "absent"}}`, true, false},
		"unknown":             {`{"files": [], "lock": {"state": "unknown"}}`, false, true},
		"blocked":             {`{"files": [], "lock": {"state": "blocked"}, "diagnostics": [{"file": "/var/lib/microshift/no-upgrade"}]}`, false, true},
		"no file":             {`{"files": [], "lock": {"state": "absent"}, "diagnostics": [{"file": "/etc/microshift/config.yaml"}]}`, true, false},
		"not all":             {`{"files": [], "lock": {"state": "absent"}}` + "\nmicroshift-feature-gates: cannot read /etc/microshift/config.yaml: permission denied\n", false, false},
		"no version":          {"microshift-feature-gates: cannot tell the running version\n", false, false},
		"nothing":             {"", false, false},
		"something else":      {`["absent"]`, false, false},
		"without these words": {`{}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := opened(t, archive(t, []file{{name: "sos_commands/microshift_feature_gates/" + shown, text: tt.text}}), standard)
			if err != nil {
				t.Fatal(err)
			}
			if r.NoLock != tt.noLock || r.NoConfiguration != tt.noConfiguration {
				t.Errorf("no lock: %t, no configuration: %t", r.NoLock, r.NoConfiguration)
			}
			notes := strings.Join(r.Notes, "\n")
			if strings.Contains(notes, "has no lock") == tt.noLock || strings.Contains(notes, "has no configuration") == tt.noConfiguration {
				t.Errorf("the notes are %q", notes)
			}
		})
	}
}

// TestLockTold checks what the starts tell of a lock that is not in the report.
func TestLockTold(t *testing.T) {
	const (
		prefix  = "Jan  1 00:00:00 vm microshift-feature-gates[7]: "
		begin   = prefix + `time="2026-01-01T00:00:00Z" level=info msg="checking feature gates" microshift=5.0.1` + "\n"
		set     = prefix + `level=warning msg="a feature set is configured" featureSet=CustomNoUpgrade at="/etc/microshift/config.yaml:1:1"` + "\n"
		history = prefix + `level=info msg="lock history" change=locked version=5.0.0 when="2025-11-22T01:00:00Z"` + "\n" +
			prefix + `level=info msg="lock history" change=changed version=5.0.0 when="2025-12-24T01:00:00Z"` + "\n"
		at = " lock=/var/lib/microshift/no-upgrade\n"
	)
	for name, tt := range map[string]struct{ text, want string }{
		"nothing": {begin, ""},
		"created": {begin + set + prefix + `level=warning msg="upgrades are now blocked: /l locks this device to feature set \"CustomNoUpgrade\" and MicroShift 5.0.1"` + at,
			"the starts below tell of one: CustomNoUpgrade, 5.0.1"},
		"held": {begin + set + prefix + `level=info msg="/l locks this device to feature set \"CustomNoUpgrade\" since MicroShift 5.0.0"` + at + history,
			"the starts below tell of one: CustomNoUpgrade, 5.0.0, since 2025-11-22"},
		"changed": {begin + set + prefix + `level=warning msg="/l locks this device to feature set \"CustomNoUpgrade\" since MicroShift 5.0.0; it is brought up to date"` + at + history,
			"the starts below tell of one: CustomNoUpgrade, 5.0.0, since 2025-11-22"},
		"moved": {begin + set + prefix + `level=warning msg="MicroShift 5.0.1 starts on data locked to 5.0.0, because the upgrade policy allows another patch version; /l moves to this version"` + at + history,
			"the starts below tell of one: CustomNoUpgrade, 5.0.1, since 2025-11-22"},
		"refused": {begin + prefix + `level=info msg="this device is locked" featureSet=DevPreviewNoUpgrade version=4.22.0` + at,
			"the starts below tell of one: DevPreviewNoUpgrade, 4.22.0"},
		"none":              {begin + prefix + `level=info msg="no feature set is configured, and there is no lock"` + at, "the last start that tells of it had none, on 2026-01-01"},
		"none, and refused": {begin + prefix + `level=info msg="there is no lock"` + at, "the last start that tells of it had none, on 2026-01-01"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Report{Starts: read(t, tt.text)}
			if got := r.LockTold(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRoom checks that memory is refused that this process may not have.
func TestRoom(t *testing.T) {
	if err := roomFor(1); err != nil {
		t.Errorf("a byte: %v", err)
	}
	if err := roomFor(math.MaxUint64); err == nil {
		t.Error("all that can be addressed: no error")
	}
}

// TestPolicyFile checks that an archive has the file by which the lock is judged.
func TestPolicyFile(t *testing.T) {
	r, err := opened(t, archive(t, []file{{name: "etc/sysconfig/microshift-feature-gates", text: "x"}}), standard)
	if err != nil {
		t.Fatal(err)
	}
	if files := tree(t, r.Root); files["etc/sysconfig/microshift-feature-gates"] != "x" {
		t.Errorf("unpacked %v", files)
	}
}
