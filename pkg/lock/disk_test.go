package lock

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestReadUnusable(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, path("target"), upstream)
	writeFile(t, path("empty"), "")
	must(t, os.Mkdir(path("directory"), 0o700))
	must(t, os.Symlink("target", path("link")))
	must(t, os.Symlink("nowhere", path("dangling")))
	must(t, os.Symlink("loop", path("loop")))
	must(t, unix.Mkfifo(path("fifo"), 0o600))
	must(t, os.Truncate(mustCreate(t, path("huge")), 1<<40)) // sparse
	socket, err := net.Listen("unix", path("socket"))
	must(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	if err := unix.Mknod(path("device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err != nil {
		t.Logf("the device is left out: %v", err)
		must(t, os.Symlink("nowhere", path("device")))
	}
	for name, reason := range map[string]string{
		"empty": "is empty", "directory": "is a directory", "link": "is a symbolic link", "dangling": "is a symbolic link",
		"loop": "is a symbolic link", "fifo": "is a FIFO", "socket": "is a socket", "device": "is a ", "huge": "is over 1048576 bytes",
	} {
		_, err := Read(path(name))
		var unusable *UnusableError
		if !errors.As(err, &unusable) || unusable.Path != path(name) || !strings.Contains(unusable.Reason, reason) {
			t.Errorf("%s: Read fails with %v, want an *UnusableError: %s", name, err, reason)
		}
		if errors.Is(err, ErrAbsent) {
			t.Errorf("%s: the lock counts as absent, want unusable", name)
		}
		before := snapshot(t, dir)
		err = Update(path(name), func(*Lock) (*Lock, error) {
			t.Errorf("%s: Update asks for a decision, want the *UnusableError at once", name)
			return locks(t)["first"], nil
		})
		if !errors.As(err, &unusable) {
			t.Errorf("%s: Update fails with %v, want an *UnusableError", name, err)
		}
		if after := snapshot(t, dir); after != before {
			t.Errorf("%s: Update changed the directory to\n%s\nwant it left alone:\n%s", name, after, before)
		}
	}
}

func TestReadAbsent(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"no-upgrade", "missing/no-upgrade"} {
		if _, err := Read(filepath.Join(dir, name)); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: Read fails with %v, want ErrAbsent", name, err)
		}
	}
}

func TestReadFailure(t *testing.T) {
	dir := openTempDir(t)
	writeFile(t, filepath.Join(dir, "no-upgrade"), upstream)
	must(t, os.Chmod(filepath.Join(dir, "no-upgrade"), 0))
	must(t, os.Chmod(dir, 0o755))
	closed := filepath.Join(dir, "closed")
	must(t, os.Mkdir(closed, 0))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	paths := map[string]string{
		"no permission":               filepath.Join(dir, "no-upgrade"),
		"the directory is a file":     filepath.Join(dir, "no-upgrade", "no-upgrade"),
		"the directory can't be read": filepath.Join(closed, "no-upgrade"),
	}
	for name, path := range paths {
		var err error
		asNobody(t, func() { _, err = Read(path) })
		var unusable *UnusableError
		if err == nil || errors.Is(err, ErrAbsent) || errors.As(err, &unusable) || !strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("%s: Read fails with %v, want an error that is neither ErrAbsent nor *UnusableError", name, err)
		}
	}
}

func TestDataDirectoryMayBeALink(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "disk"), 0o700))
	must(t, os.Symlink("disk", filepath.Join(dir, "microshift")))
	must(t, start(filepath.Join(dir, "microshift", "no-upgrade"), custom("A", "", ""), "4.21.0"))
	if _, err := Read(filepath.Join(dir, "disk", "no-upgrade")); err != nil {
		t.Errorf("Read = %v, want the lock where the link points", err)
	}
}

func TestWriteUnderAnyUmask(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o777} {
		path := filepath.Join(t.TempDir(), "data", "no-upgrade")
		old := syscall.Umask(mask)
		err := errors.Join(
			start(path, custom("A", "", ""), "4.21.0"),
			start(path, custom("B", "", ""), "4.21.0"))
		syscall.Umask(old)
		must(t, err)
		for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
			st, err := os.Lstat(p)
			must(t, err)
			if st.Mode() != want {
				t.Errorf("umask %03o: mode of %s is %v, want %v", mask, filepath.Base(p), st.Mode(), want)
			}
		}
	}
}

func TestFirstLockReplacesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no-upgrade")
	foreign := []byte("from another program\n")
	err := Update(path, func(*Lock) (*Lock, error) {
		must(t, os.WriteFile(path, foreign, 0o600))
		return locks(t)["first"], nil
	})
	if !errors.Is(err, ErrExists) {
		t.Errorf("Update fails with %v, want ErrExists", err)
	}
	if data, _ := os.ReadFile(path); string(data) != string(foreign) {
		t.Errorf("the lock of another program is now %q, want it left alone", data)
	}
	only(t, path)
}

func TestWriteFailsWithoutDurableDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no-upgrade")
	// A descriptor like this can do everything but fsync.
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	must(t, err)
	defer dir.Close()
	for _, first := range []bool{true, false} {
		if err := write(dir, "no-upgrade", []byte(upstream), first); err == nil {
			t.Errorf("write(first=%v) succeeds though the directory can't be synced, want an error", first)
		}
	}
	if _, err := Read(path); err != nil {
		t.Errorf("Read fails with %v, want the lock that was written", err)
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "no-upgrade")
	writeFile(t, path, upstream)
	temp := filepath.Join(dir, ".no-upgrade.tmp")
	for what, leave := range map[string]func(){
		"a part of a lock":          func() { writeFile(t, temp, "customNoUpgrade:\n  dis") },
		"a link to the lock":        func() { must(t, os.Symlink(path, temp)) },
		"a second name of the lock": func() { must(t, os.Link(path, temp)) },
	} {
		leave()
		before := snapshot(t, dir)
		must(t, start(path, custom("MemoryQoS", "", ""), "4.21.0"))
		if after := snapshot(t, dir); after != before {
			t.Errorf("%s, an unchanged lock: the directory is now\n%s\nwant it left alone:\n%s", what, after, before)
		}
		must(t, start(path, custom("B", "", ""), "4.21.0"))
		only(t, path)
		must(t, start(path, custom("MemoryQoS", "", ""), "4.21.0"))
		if l, err := Read(path); err != nil || !slices.Equal(l.CustomNoUpgrade.Enabled, []string{"MemoryQoS"}) {
			t.Errorf("%s: the lock is %v (%v), want the last one", what, l, err)
		}
	}

	// A directory of that name is nobody's temporary file.
	must(t, os.Mkdir(temp, 0o700))
	before := snapshot(t, dir)
	if err := start(path, custom("B", "", ""), "4.21.0"); !errors.Is(err, unix.EISDIR) || !strings.Contains(err.Error(), temp) {
		t.Errorf("a directory in the way: the start fails with %v, want an error that names it", err)
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("a directory in the way: the directory is now\n%s\nwant it left alone:\n%s", after, before)
	}
}

func TestNotWritable(t *testing.T) {
	dir := openTempDir(t)
	path := filepath.Join(dir, "no-upgrade")
	writeFile(t, path, upstream)
	must(t, os.Chmod(path, 0o644))
	must(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	before := snapshot(t, dir)
	asNobody(t, func() {
		if err := start(path, custom("MemoryQoS", "", ""), "4.21.0"); err != nil {
			t.Errorf("a start that has nothing to write fails: %v", err)
		}
		for what, path := range map[string]string{
			"changing the lock":      path,
			"creating a lock":        filepath.Join(dir, "first"),
			"creating the directory": filepath.Join(dir, "data", "first"),
		} {
			if err := start(path, custom("B", "", ""), "4.21.0"); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s fails with %v, want no permission", what, err)
			}
		}
	})
	if after := snapshot(t, dir); after != before {
		t.Errorf("the directory is now\n%s\nwant it left alone:\n%s", after, before)
	}
}

func TestFullAndReadOnlyFileSystem(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "no-upgrade")
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no file system to fill up: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	fill, err := os.Create(filepath.Join(dir, "fill"))
	must(t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	fill.Close()
	if err := start(path, custom("A", "", ""), "4.21.0"); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("the first lock on a full disk fails with %v, want ENOSPC", err)
	}
	only(t, fill.Name())

	must(t, os.Truncate(fill.Name(), 0))
	must(t, start(path, custom("A", "", ""), "4.21.0"))
	must(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	must(t, start(path, custom("A", "", ""), "4.21.0"))
	if err := start(path, custom("B", "", ""), "4.21.0"); !errors.Is(err, unix.EROFS) {
		t.Errorf("changing the lock on a read-only disk fails with %v, want EROFS", err)
	}
}

func TestExcludeGivesUp(t *testing.T) {
	open := func() *os.File {
		dir, err := openDirectory(os.TempDir())
		must(t, err)
		return dir
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	holder, other := open(), open()
	defer other.Close()
	must(t, exclude(holder, time.Second))
	if err := exclude(other, 20*time.Millisecond); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("exclude = %v while another holds the directory, want an error that names it", err)
	}
	holder.Close()
	must(t, exclude(other, time.Second))
}

// start does what a start of MicroShift does with the lock.
func start(path string, now Section, running string) error {
	v, err := ParseVersion(running)
	if err != nil {
		return err
	}
	return Update(path, func(current *Lock) (*Lock, error) {
		return Check(current, now, v, PolicyNone, noon).Next, nil
	})
}

// asNobody calls f without root's rights to files.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends here, and its rights with it
		err := unix.Setfsuid(65534)
		if err == nil {
			f()
		}
		done <- err
	}()
	must(t, <-done)
}

// openTempDir returns a temporary directory that every user can reach.
func openTempDir(t *testing.T) string {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustCreate(t testing.TB, path string) string {
	writeFile(t, path, "")
	return path
}

// only checks that nothing else is in the directory of path.
func only(t testing.TB, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s is left in the directory, want only %s", e.Name(), filepath.Base(path))
		}
	}
}

// snapshot describes all that is in dir.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		b.WriteString(fs.FormatFileInfo(info) + "\n")
		if info.Mode().IsRegular() && info.Size() < 1<<20 {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			must(t, err)
			b.Write(data)
		}
	}
	return b.String()
}
