package config

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

const dropins = "/etc/microshift/config.d/"

// device makes a device's file system: a file for each name, with its text;
// a text that begins with "-> " makes a link, and a name that ends in "/" a
// directory.
func device(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		target, isLink := strings.CutPrefix(text, "-> ")
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case isLink:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// summary is what Read says, on short lines.
type summary struct {
	Files    []string // names below config.d, in order
	Problems []string // "code name", sorted by name
	Errors   []string
}

func read(root string) (summary, []File, diag.List) {
	files, problems, err := Read(DefaultPaths(root))
	var s summary
	for _, f := range files {
		s.Files = append(s.Files, strings.TrimPrefix(f.Name, dropins))
	}
	for _, d := range problems {
		s.Problems = append(s.Problems, d.Code+" "+strings.TrimPrefix(d.Pos.File, dropins))
	}
	if err != nil {
		s.Errors = strings.Split(err.Error(), "\n")
	}
	return s, files, problems
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  summary
	}{
		{"nothing at all", nil, summary{}},
		{"no config.d", map[string]string{"/etc/microshift/config.yaml": "a: 1"}, summary{Files: []string{"/etc/microshift/config.yaml"}}},
		{"no config.yaml", map[string]string{dropins + "10-a.yaml": ""}, summary{Files: []string{"10-a.yaml"}}},
		{"config.yaml first, then the lexical order of a walk", map[string]string{
			"/etc/microshift/config.yaml": "", dropins + "9-a.yaml": "", dropins + "20-a.yaml": "", dropins + "100-a.yaml": "",
			dropins + "a.yaml": "", dropins + "B.yaml": "", dropins + "ä.yaml": "", dropins + "-.yaml": ""},
			summary{Files: []string{"/etc/microshift/config.yaml", "-.yaml", "100-a.yaml", "20-a.yaml", "9-a.yaml", "B.yaml", "a.yaml", "ä.yaml"}}},
		{"a directory stands where its name does", map[string]string{
			dropins + "b.yaml": "", dropins + "a/z.yaml": "", dropins + "a.yaml": "", dropins + "a-b.yaml": "", dropins + "b/c/d.yaml": "", dropins + "x.yaml/in.yaml": ""},
			summary{Files: []string{"a/z.yaml", "a-b.yaml", "a.yaml", "b/c/d.yaml", "b.yaml", "x.yaml/in.yaml"},
				Problems: []string{"read-too a/z.yaml", "read-too b/c/d.yaml", "read-too x.yaml/in.yaml"}}},
		{"hidden ones", map[string]string{dropins + ".a.yaml": "", dropins + ".yaml": "", dropins + ".git/b.yaml": "", dropins + "c/.d/e.yaml": ""},
			summary{Files: []string{".a.yaml", ".git/b.yaml", ".yaml", "c/.d/e.yaml"},
				Problems: []string{"read-too .a.yaml", "read-too .git/b.yaml", "read-too .yaml", "read-too c/.d/e.yaml"}}},
		{"other endings", map[string]string{dropins + "a.yml": "", dropins + "b.YAML": "", dropins + "c.Yml": "", dropins + "d.json": "", dropins + "e": "",
			dropins + "f.yaml.bak": "", dropins + "g.yaml~": "", dropins + "h.yaml.rpmsave": "", dropins + ".i.yaml.swp": "", dropins + "j/k.yml": ""},
			summary{Problems: []string{"not-read a.yml", "not-read b.YAML", "not-read c.Yml", "not-read j/k.yml"}}},
		{"beside config.yaml", map[string]string{"/etc/microshift/config.yml": "", "/etc/microshift/Config.yaml": "", "/etc/microshift/config.YAML": "",
			"/etc/microshift/lvmd.yaml": "", "/etc/microshift/config.yaml.default": "", "/etc/microshift/config": ""},
			summary{Problems: []string{"not-read /etc/microshift/Config.yaml", "not-read /etc/microshift/config.YAML", "not-read /etc/microshift/config.yml"}}},
		{"names of backups", map[string]string{dropins + "a.bak.yaml": "", dropins + "b-old.yaml": "", dropins + "c.yaml.yaml": "", dropins + "d (copy).yaml": "",
			dropins + "e~.yaml": "", dropins + "f.disabled.yaml": "", dropins + "g_orig.yaml": "", dropins + "#h#.yaml": "", dropins + "i.rpmsave.yaml": "",
			dropins + "j-copy-2.yaml": "", dropins + "k.BACKUP.yaml": ""},
			summary{Files: []string{"#h#.yaml", "a.bak.yaml", "b-old.yaml", "c.yaml.yaml", "d (copy).yaml", "e~.yaml", "f.disabled.yaml", "g_orig.yaml", "i.rpmsave.yaml", "j-copy-2.yaml", "k.BACKUP.yaml"},
				Problems: []string{"read-too #h#.yaml", "read-too a.bak.yaml", "read-too b-old.yaml", "read-too c.yaml.yaml", "read-too d (copy).yaml", "read-too e~.yaml",
					"read-too f.disabled.yaml", "read-too g_orig.yaml", "read-too i.rpmsave.yaml", "read-too j-copy-2.yaml", "read-too k.BACKUP.yaml"}}},
		{"names of no backups", map[string]string{dropins + "10-off.yaml": "", dropins + "20-bold.yaml": "", dropins + "30-gates-disabled.yaml": "",
			dropins + "40-threshold.yaml": "", dropins + "50-my.feature.yaml": "", dropins + "60-tmpfs.yaml": "", dropins + "70-backup-agent.yaml": ""},
			summary{Files: []string{"10-off.yaml", "20-bold.yaml", "30-gates-disabled.yaml", "40-threshold.yaml", "50-my.feature.yaml", "60-tmpfs.yaml", "70-backup-agent.yaml"}}},
		{"links", map[string]string{"/etc/microshift/config.yaml": "-> ../managed/main.yaml", "/etc/managed/main.yaml": "main", "/etc/managed/extra": "extra",
			dropins + "a.yaml": "-> ../../managed/extra", dropins + "b.yaml": "-> /etc/managed/extra", dropins + "c.yaml": "-> a.yaml"},
			summary{Files: []string{"/etc/microshift/config.yaml", "a.yaml", "b.yaml", "c.yaml"}}},
		{"a linked directory", map[string]string{"/etc/managed/a.yaml": "", dropins + "sub": "-> /etc/managed"},
			summary{Problems: []string{"not-read sub"}}},
		{"links that lead nowhere", map[string]string{"/etc/microshift/config.yaml": "-> nowhere", dropins + "a.yaml": "-> nowhere", dropins + "b.yaml": "-> b.yaml",
			dropins + "c.yaml": "-> d.yaml", dropins + "d.yaml": "-> c.yaml", dropins + "e.yaml": "-> f.txt/g", dropins + "f.txt": "", dropins + "h.txt": "-> nowhere", dropins + ".#i.yaml": "-> me@host.123:456"},
			summary{Problems: []string{"link-skipped .#i.yaml", "link-skipped a.yaml", "link-skipped b.yaml", "link-skipped c.yaml", "link-skipped d.yaml",
				"link-skipped e.yaml", "link-skipped /etc/microshift/config.yaml"}}},
		{"a link to a directory", map[string]string{dropins + "a.yaml": "-> sub", dropins + "sub/": "", dropins + "b": "-> sub"},
			summary{Problems: []string{"not-read b"}, Errors: []string{"cannot read " + dropins + "a.yaml: is a directory"}}},
		{"a link out of the root", map[string]string{dropins + "a.yaml": "-> /../../../../etc/passwd", "/etc/passwd": "this one",
			dropins + "b.yaml": "-> ../../../../../../../../etc/passwd", dropins + "c.yaml": "-> /proc/self/environ"},
			summary{Files: []string{"a.yaml", "b.yaml"}, Problems: []string{"link-skipped c.yaml"}}},
		{"config.d is a link", map[string]string{"/etc/microshift/config.d": "-> shared.d", "/etc/microshift/shared.d/a.yaml": ""},
			summary{Files: []string{"a.yaml"}, Problems: []string{"dir-link /etc/microshift/config.d"}}},
		{"config.d is an absolute link, over others", map[string]string{"/etc/microshift/config.d": "-> /usr/x", "/usr/x": "-> /opt/y", "/opt/y": "-> ../srv/z", "/srv/z/a.yaml": ""},
			summary{Files: []string{"a.yaml"}, Problems: []string{"dir-link /etc/microshift/config.d"}}},
		{"config.d is a link to nowhere", map[string]string{"/etc/microshift/config.d": "-> nowhere"},
			summary{Problems: []string{"dir-link /etc/microshift/config.d", "link-skipped /etc/microshift/config.d"}}},
		{"config.d is a link to itself", map[string]string{"/etc/microshift/config.d": "-> config.d"},
			summary{Problems: []string{"dir-link /etc/microshift/config.d", "link-skipped /etc/microshift/config.d"}}},
		{"config.d is a file", map[string]string{"/etc/microshift/config.d": "a: 1"}, summary{Problems: []string{"not-read /etc/microshift/config.d"}}},
		{"config.yaml is a directory", map[string]string{"/etc/microshift/config.yaml/": ""},
			summary{Errors: []string{"cannot read /etc/microshift/config.yaml: is a directory"}}},
		{"everything is a link", map[string]string{"/etc": "-> usr/etc", "/usr/etc/microshift": "-> /opt/m", "/opt/m/config.yaml": "", "/opt/m/config.d/a.yaml": ""},
			summary{Files: []string{"/etc/microshift/config.yaml", "a.yaml"}}},
		{"/etc/microshift is a file", map[string]string{"/etc/microshift": ""},
			summary{Errors: []string{"cannot read /etc/microshift: not a directory", "cannot read /etc/microshift/config.d: not a directory"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := device(t, tt.files)
			got, files, problems := read(root)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
			for _, f := range files {
				if strings.Contains(string(f.Data), "root:") {
					t.Errorf("%s holds a file of the host", f.Name)
				}
			}
			for _, d := range problems {
				if strings.Contains(fmt.Sprint(d), root) {
					t.Errorf("a path of the host in %v", d)
				}
			}
		})
	}
}

// TestReadOnDevice reads without a root, where links are the host's.
func TestReadOnDevice(t *testing.T) {
	root := device(t, map[string]string{"m/config.yaml": "a", "m/config.d": "-> ../shared.d", "shared.d/b.yaml": "-> ../c", "c": "c"})
	files, problems, err := Read(Paths{Config: filepath.Join(root, "m/config.yaml"), Dir: filepath.Join(root, "m/config.d")})
	if len(files) != 2 || string(files[1].Data) != "c" || files[1].Name != filepath.Join(root, "m/config.d/b.yaml") || err != nil {
		t.Errorf("files %v, error %v, want config.yaml and config.d/b.yaml", files, err)
	}
	if len(problems) == 0 || problems[0].Code != "dir-link" {
		t.Errorf("problems %v, want dir-link", problems)
	}
}

// TestReadRelativeRoot has a root with a dot-dot in it.
func TestReadRelativeRoot(t *testing.T) {
	root := device(t, map[string]string{"/etc/microshift/config.yaml": "a"})
	t.Chdir(filepath.Join(root, "etc"))
	if got, _, _ := read(".."); len(got.Files) != 1 || len(got.Errors) > 0 {
		t.Errorf("read %+v, want config.yaml", got)
	}
}

func TestReadMissingRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "nowhere")
	want := summary{Errors: []string{"cannot read " + root + ": no such file or directory"}}
	if got, _, _ := read(root); !cmp.Equal(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

// TestReadSpecial wants what is no regular file to be refused without opening
// it, since that can block or have effects.
func TestReadSpecial(t *testing.T) {
	root := device(t, map[string]string{dropins + "zero.yaml": "-> /dev/zero", dropins + "tty.yaml": "-> /dev/tty", dropins + "good.yaml": "a: 1"})
	dir := filepath.Join(root, dropins)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the address of a socket has to be short
	socket, err := net.Listen("unix", "sock.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	paths := Paths{Config: filepath.Join(root, "/etc/microshift/config.yaml"), Dir: dir}
	files, _, readErr := Read(paths)
	if len(files) != 1 || filepath.Base(files[0].Name) != "good.yaml" {
		t.Errorf("files %v, want good.yaml alone", files)
	}
	for _, want := range []string{"fifo.yaml: is a named pipe", "sock.yaml: is a socket", "tty.yaml: is a device", "zero.yaml: is a device"} {
		if readErr == nil || !strings.Contains(readErr.Error(), want) {
			t.Errorf("error %v, want %s", readErr, want)
		}
	}
}

// TestReadUnreadable reads as another user, in a process of its own.
func TestReadUnreadable(t *testing.T) {
	if root := os.Getenv("CONFIG_TEST_ROOT"); root != "" {
		got, _, _ := read(root)
		fmt.Printf("%q %q\n", got.Files, got.Errors)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	root := device(t, map[string]string{"/etc/microshift/config.yaml": "", dropins + "a.yaml": "", dropins + "b/c.yaml": "", dropins + "d.yaml": ""})
	for name, mode := range map[string]os.FileMode{"a.yaml": 0, "b": 0} {
		if err := os.Chmod(filepath.Join(root, dropins, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for dir := root; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode()&0o001 == 0 {
			if err := os.Chmod(dir, info.Mode()|0o011); err != nil {
				t.Fatal(err)
			}
		}
	}
	exe, err := os.ReadFile(os.Args[0]) // the other user may not reach where it is
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "test")
	if err := os.WriteFile(program, exe, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestReadUnreadable$")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CONFIG_TEST_ROOT="+root)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	want := fmt.Sprintf("%q %q\n", []string{"/etc/microshift/config.yaml", "d.yaml"},
		[]string{"cannot read " + dropins + "a.yaml: permission denied", "cannot read " + dropins + "b: permission denied"})
	if err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("another user read:\n%s%v, want\n%s", out, err, want)
	}
}
