package sosreport

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"
)

// file is an entry of an archive.
type file struct {
	name, text string
	kind       byte // tar.TypeReg unless set
	link       string
	mode       int64
}

const journalName = "sos_commands/microshift/journalctl_--no-pager_--unit_microshift"

// sample is a small report with a lock, two configuration files and a journal.
func sample() []file {
	return []file{
		{name: "etc/microshift/config.yaml", text: "dns: {}\n"},
		{name: "etc/microshift/config.d/10.yaml", text: "apiServer: {}\n", mode: 0o664},
		{name: "var/lib/microshift/no-upgrade", text: "featureSet: CustomNoUpgrade\nversion: 5.0.0\n"},
		{name: "var/lib/microshift/version", text: `{"version":"5.0.0"}`},
		{name: "sos_commands/microshift/microshift_version", text: "MicroShift Version: 5.0.1\n"},
		{name: journalName, text: journalText},
		{name: "etc/passwd", text: "root:x:0:0:root:/root:/bin/bash\n"},
	}
}

// journalText has a start that comes up and one that is refused.
const journalText = `Nov 30 13:24:12 vm systemd[1]: Starting microshift.service - MicroShift...
Nov 30 13:24:12 vm microshift-feature-gates[746]: time="2026-11-30T13:24:12Z" level=info msg="checking feature gates" kubernetes=1.36 microshift=5.0.0
Nov 30 13:24:12 vm microshift-feature-gates[746]: time="2026-11-30T13:24:12Z" level=info msg="read configuration file" file=/etc/microshift/config.yaml
Nov 30 13:24:12 vm microshift-feature-gates[746]: time="2026-11-30T13:24:12Z" level=warning msg="a feature set is configured" at="/etc/microshift/config.yaml:1:40" featureSet=CustomNoUpgrade
Nov 30 13:24:12 vm microshift-feature-gates[746]: time="2026-11-30T13:24:12Z" level=info msg="configured feature gate" at="/etc/microshift/config.yaml:1:85" gate=MemoryQoS path="apiServer.featureGates.customNoUpgrade.enabled[0]"
Nov 30 13:24:12 vm microshift-feature-gates[746]: time="2026-11-30T13:24:12Z" level=info msg="feature gates of component" component=kubelet flag="--feature-gates=MemoryQoS=true"
Nov 30 13:24:12 vm microshift-feature-gates[746]: time="2026-11-30T13:24:12Z" level=warning msg="upgrades are now blocked" lock=/var/lib/microshift/no-upgrade
Nov 30 13:24:12 vm microshift[757]: {"level":"info","msg":"not of this product"}
Nov 30 13:24:13 vm systemd[1]: Started microshift.service - MicroShift.
Nov 30 13:25:12 vm microshift-feature-gates[846]: {"kubernetes":"1.36","level":"info","microshift":"5.0.0","msg":"checking feature gates","time":"2026-11-30T13:25:12Z"}
Nov 30 13:25:12 vm microshift-feature-gates[846]: {"featureSet":"CustomNoUpgrade","level":"info","lock":"/var/lib/microshift/no-upgrade","msg":"this device is locked","time":"2026-11-30T13:25:12Z","version":"5.0.0"}
Nov 30 13:25:12 vm microshift-feature-gates[846]: {"level":"error","msg":"MicroShift does not start: the lock says no","time":"2026-11-30T13:25:12Z"}
Nov 30 13:25:12 vm systemd[1]: microshift.service: Control process exited, code=exited, status=4/NOPERMISSION
`

// archive returns files as a tar archive, each below a directory.
func archive(t testing.TB, files []file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: f.kind, Linkname: f.link, Mode: f.mode, Size: int64(len(f.text)), Format: tar.FormatPAX}
		if f.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if !strings.HasPrefix(f.name, "/") && !strings.HasPrefix(f.name, "..") {
			h.Name = "sosreport-vm-2026/" + f.name
		}
		if h.Typeflag == tar.TypeLink {
			h.Linkname = "sosreport-vm-2026/" + f.link
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compressed(t testing.TB, data []byte, with string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch with {
	case "xz":
		w, err = xz.NewWriter(&b)
	case "gzip":
		w = gzip.NewWriter(&b)
	default:
		return data
	}
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// opened opens an archive, and closes it in the end.
func opened(t *testing.T, data []byte, l limits) (*Report, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	name := filepath.Join(t.TempDir(), "sosreport")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := open(context.Background(), name, l)
	t.Cleanup(func() {
		if r != nil {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 {
			t.Errorf("%v is left behind", left)
		}
	})
	return r, err
}

// tree returns the regular files below a root: path to text.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if e.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(name)
			files[rel] = "-> " + target
			return err
		}
		data, err := os.ReadFile(name)
		files[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestForms checks that a report tells the same in every form.
func TestForms(t *testing.T) {
	data := archive(t, sample())
	var want *Report
	for _, form := range []string{"plain", "gzip", "xz"} {
		r, err := opened(t, compressed(t, data, form), standard)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		files := tree(t, r.Root)
		if _, ok := files["etc/passwd"]; ok || len(files) != 4 {
			t.Errorf("%s: unpacked %v, want only what a start reads", form, files)
		}
		info, err := os.Stat(filepath.Join(r.Root, "etc/microshift/config.d/10.yaml"))
		if err != nil || info.Mode().Perm() != 0o664 {
			t.Errorf("%s: the mode of a file is %v (%v), want 664", form, info.Mode(), err)
		}
		if r.Version != "5.0.1" || r.VersionFrom != "sos_commands/microshift/microshift_version" {
			t.Errorf("%s: version %s from %s", form, r.Version, r.VersionFrom)
		}
		if want == nil {
			want = r
		} else if diff := cmp.Diff(want.Starts, r.Starts, cmp.AllowUnexported(Start{}, heldLock{})); diff != "" {
			t.Errorf("%s differs (-plain +%s):\n%s", form, form, diff)
		}
	}
	dir := t.TempDir()
	for _, f := range sample() {
		name := filepath.Join(dir, "sosreport-vm", f.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{dir, filepath.Join(dir, "sosreport-vm")} {
		r, err := Open(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Starts, r.Starts, cmp.AllowUnexported(Start{}, heldLock{})); diff != "" {
			t.Errorf("the directory differs:\n%s", diff)
		}
		if r.Root != filepath.Join(dir, "sosreport-vm") || r.Version != "5.0.1" || len(r.Notes) != 0 {
			t.Errorf("%s: root %s, version %s, notes %q", name, r.Root, r.Version, r.Notes)
		}
	}
}

// TestStarts checks what is read out of a journal.
func TestStarts(t *testing.T) {
	r, err := opened(t, archive(t, sample()), standard)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Starts) != 2 {
		t.Fatalf("there are %d starts, want 2", len(r.Starts))
	}
	first, second := r.Starts[0], r.Starts[1]
	if first.Outcome != Started || first.FeatureSet != "CustomNoUpgrade" || first.SetAt != "/etc/microshift/config.yaml:1:40" ||
		first.Kubernetes != "1.36" || !first.LockWritten || first.Flags["kubelet"] != "--feature-gates=MemoryQoS=true" ||
		!slices.Equal(first.Gates, []Gate{{"MemoryQoS", "customNoUpgrade.enabled", "/etc/microshift/config.yaml:1:85"}}) {
		t.Errorf("the first start is %+v", first)
	}
	if second.Outcome != Locked || second.Reason != "the lock says no" || second.Lock != "held: feature set CustomNoUpgrade, MicroShift 5.0.0" {
		t.Errorf("the second start is %+v", second)
	}
	want := []string{"feature set: CustomNoUpgrade → none", "removed customNoUpgrade.enabled: MemoryQoS (/etc/microshift/config.yaml:1:85)", "files: -/etc/microshift/config.yaml"}
	if diff := cmp.Diff(want, second.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestHostile has archives that try to reach out of their place, or to exhaust
// who reads them.
func TestHostile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	small := standard
	small.entries, small.total = 50, 1<<20
	for name, tt := range map[string]struct {
		files []file
		want  map[string]string // files that are unpacked, besides the sample's
		note  string
		err   error
	}{
		"traversal":         {files: []file{{name: "../etc/microshift/evil.yaml", text: "x"}, {name: "etc/microshift/../../../../" + outside, text: "x"}}, note: "points out of it"},
		"absolute":          {files: []file{{name: outside, text: "x"}}, note: "points out of it"},
		"through a link":    {files: []file{{name: "etc/microshift/config.d/sub", kind: tar.TypeSymlink, link: filepath.Dir(outside)}, {name: "etc/microshift/config.d/sub/outside", text: "x"}}, want: map[string]string{"etc/microshift/config.d/sub": "-> " + filepath.Dir(outside)}, note: "cannot unpack"},
		"link out":          {files: []file{{name: "etc/microshift/config.d/20.yaml", kind: tar.TypeSymlink, link: "../../../../../../" + outside}}, want: map[string]string{"etc/microshift/config.d/20.yaml": "-> ../../../../../../" + outside}},
		"loop":              {files: []file{{name: "etc/microshift/config.d/20.yaml", kind: tar.TypeSymlink, link: "20.yaml"}}, want: map[string]string{"etc/microshift/config.d/20.yaml": "-> 20.yaml"}},
		"hard link nowhere": {files: []file{{name: "etc/microshift/config.d/20.yaml", kind: tar.TypeLink, link: "etc/shadow"}}, note: "cannot unpack"},
		"device":            {files: []file{{name: "etc/microshift/config.d/20.yaml", kind: tar.TypeChar}}, note: "neither a file, a directory nor a link"},
		"pipe":              {files: []file{{name: journalName + "_2", kind: tar.TypeFifo}}, note: "neither a file, a directory nor a link"},
		"long name":         {files: []file{{name: "etc/microshift/config.d/" + strings.Repeat("x", 300) + ".yaml", text: "x"}}, note: "cannot unpack"},
		"large file":        {files: []file{{name: "var/lib/microshift/no-upgrade", text: strings.Repeat("x", 3<<20)}}, err: ErrLimit},
		"many entries":      {files: slices.Repeat([]file{{name: "proc/x", text: "x"}}, 60), err: ErrLimit},
		"bomb":              {files: []file{{name: "proc/x", text: strings.Repeat("\x00", 2<<20)}}, err: ErrLimit},
		"twice":             {files: []file{{name: "etc/microshift/config.d/20.yaml", text: "a"}, {name: "etc/microshift/config.d/20.yaml", text: "b"}}, want: map[string]string{"etc/microshift/config.d/20.yaml": "b"}},
		"link, then a file": {files: []file{{name: "etc/microshift/config.d/20.yaml", kind: tar.TypeSymlink, link: outside}, {name: "etc/microshift/config.d/20.yaml", text: "b"}}, want: map[string]string{"etc/microshift/config.d/20.yaml": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := opened(t, compressed(t, archive(t, append(sample(), tt.files...)), "gzip"), small)
			if !errors.Is(err, tt.err) {
				t.Fatalf("got error %v, want %v", err, tt.err)
			}
			if _, err := os.Lstat(outside); err == nil {
				t.Fatal("it has written outside of its directory")
			}
			if tt.err != nil {
				return
			}
			files := tree(t, r.Root)
			for _, f := range sample() {
				delete(files, f.name)
			}
			if diff := cmp.Diff(tt.want, files); diff != "" && len(tt.want)+len(files) > 0 {
				t.Errorf("unpacked (-want +got):\n%s", diff)
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), tt.note) {
				t.Errorf("the notes %q lack %q", r.Notes, tt.note)
			}
			if len(r.Starts) != 2 {
				t.Errorf("there are %d starts, want 2 all the same", len(r.Starts))
			}
		})
	}
}

// TestDictionary checks that a dictionary that is larger than that of xz -9 is
// refused before it takes memory, in each of many streams.
func TestDictionary(t *testing.T) {
	for _, tt := range []struct {
		property byte // of the block header: 2^(12+p/2), and half of that more where p is odd
		err      error
	}{
		{26, nil},      // 32 MiB
		{28, nil},      // 64 MiB, which xz -9 takes
		{29, ErrLimit}, // 96 MiB
		{36, ErrLimit}, // 1 GiB
		{40, ErrLimit}, // 4 GiB less one
	} {
		data := compressed(t, archive(t, sample()), "xz")
		withDictionary(t, data, tt.property)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := opened(t, bytes.Repeat(data, 20), standard)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, tt.err) {
			t.Errorf("property %d: got error %v, want %v", tt.property, err, tt.err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 80<<20 {
			t.Errorf("property %d: it took %d bytes, want no more than one dictionary of 64 MiB and some", tt.property, n)
		}
	}
}

// withDictionary changes the size of the dictionary in the first block header
// of an xz stream that has neither of the optional sizes.
func withDictionary(t *testing.T, data []byte, property byte) {
	t.Helper()
	block := data[12:] // behind the stream header
	size := (int(block[0]) + 1) * 4
	if block[1] != 0 || block[2] != 0x21 || block[3] != 1 {
		t.Fatalf("the block header is % x", block[:size])
	}
	block[4] = property
	binary.LittleEndian.PutUint32(block[size-4:], crc32.ChecksumIEEE(block[:size-4]))
}

// TestLinks checks that what a link points to is found, wherever it is in the
// archive.
func TestLinks(t *testing.T) {
	r, err := opened(t, archive(t, []file{
		{name: "opt/site/gates.yaml", text: "one"},
		{name: "opt/more/sub/x.yaml", text: "two"},
		{name: "etc/microshift/config.d/10.yaml", kind: tar.TypeSymlink, link: "../../../opt/site/gates.yaml"},
		{name: "etc/microshift/config.d/20.yaml", kind: tar.TypeSymlink, link: "/opt/late.yaml"},
		{name: "etc/microshift/config.d/more", kind: tar.TypeSymlink, link: "/opt/more"},
		{name: "etc/microshift/config.yaml", kind: tar.TypeLink, link: "opt/hard.yaml"},
		{name: "var/lib/microshift", kind: tar.TypeSymlink, link: "../../data"},
		{name: "data/no-upgrade", text: "the lock"},
		{name: "opt/late.yaml", text: "three"},
		{name: "opt/hard.yaml", text: "four"},
	}), standard)
	if err != nil {
		t.Fatal(err)
	}
	files := tree(t, r.Root)
	for name, want := range map[string]string{
		"opt/site/gates.yaml": "one", "opt/more/sub/x.yaml": "two", "opt/late.yaml": "three",
		"etc/microshift/config.yaml": "four", "data/no-upgrade": "the lock", "var/lib/microshift": "-> ../../data",
	} {
		if files[name] != want {
			t.Errorf("%s is %q, want %q", name, files[name], want)
		}
	}
}

// TestDamaged checks that what comes before the damage is shown.
func TestDamaged(t *testing.T) {
	for _, form := range []string{"plain", "gzip", "xz"} {
		files := append(sample(), file{name: "proc/random", text: noise(1 << 20)})
		data := compressed(t, archive(t, files), form)
		r, err := opened(t, data[:len(data)-(400<<10)], standard)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if len(r.Starts) != 2 || !strings.Contains(strings.Join(r.Notes, "\n"), "cut off") {
			t.Errorf("%s: %d starts, notes %q", form, len(r.Starts), r.Notes)
		}
	}
	for name, data := range map[string]string{
		"empty": "", "text": "hello\n", "cut at once": "\xfd7zXZ\x00\x00", "zeros": strings.Repeat("\x00", 1024),
		"encrypted": "-----BEGIN PGP MESSAGE-----\n",
	} {
		if _, err := opened(t, []byte(data), standard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// noise returns text that can't be compressed.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

// TestDirectoryLinks checks that a directory is not left by links either.
func TestDirectoryLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "journal"), []byte(journalText), 0o600); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, filepath.Dir(journalName))
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "journal"), filepath.Join(dir, journalName)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Starts) > 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "cannot read "+journalName) {
		t.Errorf("%d starts from outside, notes %q", len(r.Starts), r.Notes)
	}
}

// FuzzArchive feeds anything as an archive: no panic, nothing outside.
func FuzzArchive(f *testing.F) {
	data := archive(f, sample())
	for _, form := range []string{"plain", "gzip", "xz"} {
		f.Add(compressed(f, data, form))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "sosreport")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := open(context.Background(), name, limits{entries: 1000, journals: 10, starts: 100, total: 4 << 20, text: 1 << 20})
		if err != nil {
			return
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.Root); err == nil {
			t.Errorf("%s is left behind", r.Root)
		}
	})
}

// FuzzJournal feeds anything as a journal.
func FuzzJournal(f *testing.F) {
	f.Add(journalText)
	f.Add(strings.ReplaceAll(journalText, "info", "\x00\xff"))
	f.Fuzz(func(t *testing.T, text string) {
		c := &collector{limits: standard}
		if err := c.readJournal(context.Background(), "journal", int64(len(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		c.finish()
	})
}
