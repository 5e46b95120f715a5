package lock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseVersion(t *testing.T) {
	for _, tc := range []struct {
		text                string
		major, minor, patch int
	}{
		{"4.21.0", 4, 21, 0},
		{"v4.21.0", 4, 21, 0},
		{" 4.21.10\n", 4, 21, 10},
		{"4.14.0~ec3", 4, 14, 0},
		{"4.14.0~rc.1", 4, 14, 0},
		{"4.14.0-rc.1", 4, 14, 0},
		{"5.0.0-0.nightly-arm64-2026-07-27-004356", 5, 0, 0},
		{"4.20.0_202608010000.p0.g1234567.assembly.4.20.0.el9", 4, 20, 0},
		{"4.20.0+build.7", 4, 20, 0},
		{"999999999.0.0", 999999999, 0, 0},
	} {
		v, err := ParseVersion(tc.text)
		if err != nil {
			t.Errorf("ParseVersion(%q): %v, want %d.%d.%d", tc.text, err, tc.major, tc.minor, tc.patch)
			continue
		}
		want := Version{tc.major, tc.minor, tc.patch, strings.TrimSpace(tc.text)}
		if v != want {
			t.Errorf("ParseVersion(%q) = %#v, want %#v", tc.text, v, want)
		}
		if v.String() != want.Text {
			t.Errorf("ParseVersion(%q) prints %q, want the text as written", tc.text, v)
		}
	}
	for _, text := range []string{
		"", "4", "4.21", "4.21.", "4.21.x", "a.b.c", "4.21.0.1", "4.21.0rc1", "-4.21.0", "+4.21.0", "4 .21.0", "vv4.21.0",
		"1000000000.0.0", "4.99999999999999999999999.0", "4.21.0-\x1b[31m", "4.21.0-a b", "4.21.0-ü", "4.21.0-" + strings.Repeat("x", 200),
	} {
		v, err := ParseVersion(text)
		if err == nil {
			t.Errorf("ParseVersion(%q) = %v, want an error", text, v)
			continue
		}
		if strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 400 {
			t.Errorf("ParseVersion(%q) prints its text raw or unbounded: %q", text, err)
		}
	}
}

func TestCompare(t *testing.T) {
	ascending := []string{"4.14.0", "4.14.2", "4.14.10", "4.21.0", "5.0.0"}
	for i, a := range ascending {
		for j, b := range ascending {
			want := min(max(i-j, -1), 1)
			if got := version(t, a).Compare(version(t, b+"~rc.1")); got != want {
				t.Errorf("%s.Compare(%s~rc.1) = %d, want %d", a, b, got, want)
			}
		}
	}
	if got := (Version{Major: 4, Minor: 21, Patch: 3}).String(); got != "4.21.3" {
		t.Errorf("a version without a text prints %q, want 4.21.3", got)
	}
}

func version(t testing.TB, text string) Version {
	t.Helper()
	v, err := ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReadDataVersion(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ name, data, want string }{
		{"json", `{"version":"4.21.0","deployment_id":"d","boot_id":"b1"}`, "4.21.0"},
		{"text", "4.13.2\n", "4.13.2"},
		{"text without line feed", "4.13.2", "4.13.2"},
	} {
		path := filepath.Join(dir, tc.name)
		writeFile(t, path, tc.data)
		v, err := ReadDataVersion(path)
		if err != nil || v.String() != tc.want {
			t.Errorf("%s: ReadDataVersion = %q, %v, want %s", tc.name, v, err, tc.want)
		}
	}
	writeFile(t, filepath.Join(dir, "empty"), "")
	for _, name := range []string{"absent", "absent/version", "empty"} {
		if _, err := ReadDataVersion(filepath.Join(dir, name)); !errors.Is(err, ErrNoDataVersion) {
			t.Errorf("%s: ReadDataVersion fails with %v, want ErrNoDataVersion", name, err)
		}
	}
}

func TestReadDataVersionBad(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "garbage"), "\x00\x1b[31m")
	writeFile(t, filepath.Join(dir, "no version"), `{"boot_id":"b1"}`)
	writeFile(t, filepath.Join(dir, "huge"), strings.Repeat(" ", maxVersionFile)+"4.21.0")
	writeFile(t, filepath.Join(dir, "target"), "4.21.0")
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"garbage", "no version", "huge", "link", "fifo", "."} {
		path := filepath.Join(dir, name)
		v, err := ReadDataVersion(path)
		if err == nil || errors.Is(err, ErrNoDataVersion) {
			t.Errorf("%s: ReadDataVersion = %v, %v, want an error other than ErrNoDataVersion", name, v, err)
			continue
		}
		if !strings.Contains(err.Error(), path) && name != "." || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%s: want an error that names the file and escapes its text, not %q", name, err)
		}
	}
}

func writeFile(t testing.TB, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"4.21.0", "v4.21.0", "4.14.0~ec3", "5.0.0-0.nightly-2026-07-23-224236", "", "4.21", "99999999999.1.1", "4.21.0_x+y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseVersion(text)
		if err != nil {
			return
		}
		again, err := ParseVersion(v.String())
		if err != nil || again != v {
			t.Errorf("ParseVersion(%q) prints %q, which reads as %v, %v, want the same", text, v, again, err)
		}
		plain, err := ParseVersion(v.release().String())
		if err != nil || plain.Compare(v) != 0 {
			t.Errorf("ParseVersion(%q).release() = %v, %v, want the same numbers", text, plain, err)
		}
	})
}
