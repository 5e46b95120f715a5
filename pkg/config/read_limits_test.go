package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestReadLimits wants errors that name the limit, and little work.
func TestReadLimits(t *testing.T) {
	sparse := func(t *testing.T, path string, size int64) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a file", func(t *testing.T) {
		root := device(t, map[string]string{dropins + "c.yaml": ""})
		sparse(t, filepath.Join(root, dropins, "a.yaml"), 1<<30)
		sparse(t, filepath.Join(root, dropins, "b.yaml"), MaxFileBytes+1)
		sparse(t, filepath.Join(root, dropins, "d.yaml"), MaxFileBytes)
		var got summary
		bytes := allocated(func() { got, _, _ = read(root) })
		want := summary{Files: []string{"c.yaml", "d.yaml"}, Problems: []string{"limit-file-size a.yaml", "limit-file-size b.yaml"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Read (-want +got):\n%s", diff)
		}
		if bytes > 2*MaxFileBytes {
			t.Errorf("%d bytes allocated to read one file of 1 MiB, want at most twice that", bytes)
		}
	})
	t.Run("all files", func(t *testing.T) {
		root := device(t, map[string]string{dropins: ""})
		for i := range 40 {
			sparse(t, filepath.Join(root, dropins, fmt.Sprintf("%02d.yaml", i)), MaxFileBytes)
		}
		got, _, _ := read(root)
		if diff := cmp.Diff([]string{"limit-total-size 32.yaml"}, got.Problems); diff != "" || len(got.Files) != 32 {
			t.Errorf("%d files, want 32; problems (-want +got):\n%s", len(got.Files), diff)
		}
	})
	t.Run("their number", func(t *testing.T) { // a smaller one, to save the time
		root := device(t, map[string]string{dropins + "a.yaml": "", dropins + "b.yaml": "", dropins + "c/d.yaml": "", dropins + "c/e.yaml": ""})
		for max, want := range map[int]string{2: "limit-files /etc/microshift/config.d", 3: "limit-files /etc/microshift/config.d", 4: ""} {
			r := reader{paths: DefaultPaths(root), maxFiles: max}
			r.read()
			got := ""
			for _, d := range r.diags.Errors() {
				got += d.Code + " " + d.Pos.File
			}
			if got != want || len(r.files) != max {
				t.Errorf("limit %d: %d files and the errors %q, want %d and %q", max, len(r.files), got, max, want)
			}
		}
		if MaxFiles != 10_000 {
			t.Errorf("MaxFiles is %d, want 10,000", MaxFiles)
		}
	})
	t.Run("all entries", func(t *testing.T) { // as if most had been seen, to save the time
		root := device(t, map[string]string{dropins + "a.yaml": "", dropins + "b/c": "", dropins + "b/d.yaml": "", dropins + "e.yaml": ""})
		for left, want := range map[int]string{5: "a.yaml d.yaml e.yaml", 4: "a.yaml", 2: ""} {
			r := reader{paths: DefaultPaths(root), maxFiles: MaxFiles, entries: MaxEntries - left}
			r.read()
			var names []string
			for _, f := range r.files {
				names = append(names, filepath.Base(f.Name))
			}
			limited := len(r.diags.Errors()) == 1 && r.diags.Errors()[0].Code == "limit-files"
			if got := strings.Join(names, " "); got != want || limited != (left < 5) {
				t.Errorf("%d entries left: files %q and the problems %v, want %q", left, got, r.diags, want)
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		links := map[string]string{dropins + "sub/": ""}
		for i := range maxErrors + 5 {
			links[fmt.Sprintf("%s%03d.yaml", dropins, i)] = "-> sub"
		}
		_, _, err := Read(DefaultPaths(device(t, links)))
		lines := strings.Split(fmt.Sprint(err), "\n")
		if last := "cannot read 5 more"; len(lines) != maxErrors+1 || lines[maxErrors] != last {
			t.Errorf("%d errors, the last %q, want %d and %q", len(lines), lines[len(lines)-1], maxErrors+1, last)
		}
	})
}

func TestReadModes(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	root := device(t, map[string]string{"m/config.yaml": "", "m/config.d/a.yaml": "", "m/config.d/b.yaml": "", "m/config.d/c/d.yaml": "", "m/config.d/e's.yaml": ""})
	set := func(name string, mode os.FileMode, uid, gid int) {
		path := filepath.Join(root, name)
		if err := os.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	set("m", 0o755, 0, 0)
	set("m/config.yaml", 0o664, 0, 0)        // its group is root's
	set("m/config.d", 0o1777, 0, 0)          //
	set("m/config.d/a.yaml", 0o664, 0, 1000) //
	set("m/config.d/b.yaml", 0o644, 1000, 0) //
	set("m/config.d/c", 0o775, 0, 1000)      //
	set("m/config.d/c/d.yaml", 0o600, 0, 0)  //
	set("m/config.d/e's.yaml", 0o666, 0, 0)  //
	in := func(name string) string { return filepath.Join(root, "m", name) }
	want := []string{
		in("config.d") + " everybody can write it / chmod go-w " + in("config.d"),
		in("config.d/a.yaml") + " its group (gid 1000) can write it / chmod go-w " + in("config.d/a.yaml"),
		in("config.d/b.yaml") + " its owner (uid 1000) can write it / chown root: " + in("config.d/b.yaml"),
		in("config.d/c") + " its group (gid 1000) can write it / chmod go-w " + in("config.d/c"),
		in("config.d/e's.yaml") + " everybody can write it / chmod go-w '" + in(`config.d/e'\''s.yaml'`),
	}
	check := func(paths Paths, want []string) {
		t.Helper()
		_, problems, err := Read(paths)
		var got []string
		for _, d := range problems {
			if d.Code == "writable" {
				who, _, _ := strings.Cut(d.Message, ",")
				got = append(got, d.Pos.File+" "+who+" / "+d.Hint)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("who can write what (-want +got):\n%s%v", diff, err)
		}
	}
	check(Paths{Config: in("config.yaml"), Dir: in("config.d")}, want)
	// Somewhere else, owners and groups are whoever unpacked the files.
	check(Paths{Root: root, Config: "/m/config.yaml", Dir: "/m/config.d"}, []string{
		"/m/config.d everybody can write it / chmod go-w /m/config.d",
		"/m/config.d/e's.yaml everybody can write it / chmod go-w '/m/config.d/e'\\''s.yaml'",
	})
}

// TestReadNames wants names that could forge output to be escaped.
func TestReadNames(t *testing.T) {
	evil := []string{"a\nerror: b", "a\x1b[2J", "a\u202ec", "a\u2066b", "a\xffb", "a\tb", "a`b`", "a\"b"}
	files := map[string]string{}
	for _, name := range evil {
		files[dropins+name+".yaml"] = "a: &b\n- *c\n"
		files[dropins+name+".yml"] = ""
		files[dropins+name+".bak.yaml"] = "apiServer: {featureGates: {x: " + "1}}\n"
		files[dropins+name+"/d.yaml"] = "apiServer:"
		files[dropins+name+".link.yaml"] = "-> nowhere"
		files[dropins+name+".dir.yaml"] = "-> " + name
	}
	root := device(t, files)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return os.Chmod(path, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	read, problems, err := Read(DefaultPaths(root))
	if err == nil || len(problems) == 0 {
		t.Fatal("nothing was found")
	}
	_, more := Merge(read)
	texts := strings.Split(err.Error(), "\n")
	for _, d := range append(problems, more...) {
		texts = append(texts, d.Message, d.Hint, d.Path, d.String(), d.Pos.String())
		for _, at := range d.Related {
			texts = append(texts, at.String())
		}
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return !visibleRune(r) || r == '\uFFFD' }) {
			t.Errorf("text that is not fit to print: %q", text)
		}
	}
	if want := len(evil); len(texts) < 5*want {
		t.Errorf("%d texts, want more than %d", len(texts), 5*want)
	}
	for _, line := range texts {
		if strings.HasPrefix(line, "error: b") {
			t.Errorf("a name forged the line %q", line)
		}
	}
}
