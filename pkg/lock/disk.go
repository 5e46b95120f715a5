package lock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func openDirectory(path string) (*os.File, error) {
	// The directory itself may be a link: people move the data to a larger
	// disk that way. Everything after this goes through the descriptor.
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
}

// makeDirectory creates path, and its parents with mode 0755, durably.
func makeDirectory(path string, mode fs.FileMode) error {
	parent := filepath.Dir(path)
	err := os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrNotExist) && parent != path {
		if err := makeDirectory(parent, 0o755); err != nil {
			return err
		}
		err = os.Mkdir(path, mode)
	}
	switch {
	case errors.Is(err, fs.ErrExist): // another start was faster
	case err != nil:
		return err
	default:
		// mkdir(2) is subject to the umask, chmod(2) is not.
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
	}
	// The new directory is an entry of its parent, and is lost in a power cut
	// until the parent is on disk. This holds for another start's as well.
	dir, err := openDirectory(parent)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// irregularError says that a path is no regular file of a fair size.
type irregularError struct{ path, reason string }

func (e *irregularError) Error() string { return e.path + " " + e.reason }

// readRegular reads the regular file at path, whose directory is dir, up to
// limit bytes.
func readRegular(dir *os.File, path string, limit int64) ([]byte, error) {
	// O_NOFOLLOW: a link is not a lock, wherever it points. O_NONBLOCK: opening
	// a FIFO waits for its writer otherwise. All that follows concerns the
	// descriptor, so nobody can exchange the file between check and use.
	f, err := openAt(dir, path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		// A link, a socket and a device without driver can't be opened that way.
		var st unix.Stat_t
		if retry(func() error { return unix.Fstatat(int(dir.Fd()), filepath.Base(path), &st, unix.AT_SYMLINK_NOFOLLOW) }) == nil {
			if kind := irregular(st.Mode); kind != "" {
				return nil, &irregularError{path, "is " + kind}
			}
		}
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return nil, &fs.PathError{Op: "fstat", Path: path, Err: err}
	}
	if kind := irregular(st.Mode); kind != "" {
		return nil, &irregularError{path, "is " + kind}
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, &irregularError{path, fmt.Sprintf("is over %d bytes", limit)}
	}
	return data, nil
}

// irregular names the file type that mode has, "" for a regular file.
func irregular(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return ""
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	default:
		return "a device"
	}
}

// openAt opens the file of path's name in dir. It never reaches a child process.
func openAt(dir *os.File, path string, flags int, mode uint32) (*os.File, error) {
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat(int(dir.Fd()), filepath.Base(path), flags|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// write puts data into dir as name, durably. The caller holds dir. A first
// lock does not replace one that is there: the error is ErrExists then.
func write(dir *os.File, name string, data []byte, first bool) (err error) {
	// Beside name, since rename(2) does not cross file systems, and always the
	// same: what a killed writer left is replaced, and does not pile up. No
	// live one has it, since the caller holds dir.
	tempName := tempName(name)
	if err := remove(dir, tempName); err != nil {
		return err
	}
	// O_EXCL fails on anything that is there nevertheless, a link included.
	temp, err := openAt(dir, filepath.Join(dir.Name(), tempName), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = remove(dir, tempName)
		}
	}()
	if err := fill(temp, data); err != nil {
		return err
	}
	fd := int(dir.Fd())
	if first {
		err = create(dir, tempName, name)
		if errors.Is(err, unix.EEXIST) {
			return ErrExists
		}
	} else {
		err = retry(func() error { return unix.Renameat(fd, tempName, fd, name) })
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: filepath.Join(dir.Name(), name), Err: err}
	}
	// Until the directory is on disk too, a power cut can bring the old state
	// back.
	return dir.Sync()
}

// create gives the temporary file in dir its name. It fails where rename(2)
// would replace: a lock that MicroShift itself wrote since we looked stays.
func create(dir *os.File, tempName, name string) error {
	fd := int(dir.Fd())
	err := retry(func() error { return unix.Renameat2(fd, tempName, fd, name, unix.RENAME_NOREPLACE) })
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// A file system, such as NFS, or a kernel that can't. link(2) fails on a
	// name that is taken too. But killed after it, the lock has both names
	// until the next one is written.
	if err := retry(func() error { return unix.Linkat(fd, tempName, fd, name, 0) }); err != nil {
		return err
	}
	return remove(dir, tempName)
}

// fill writes data to the new file and closes it.
func fill(temp *os.File, data []byte) error {
	defer temp.Close()
	// The umask may have taken bits from the mode; fchmod(2) sets all of them.
	if err := temp.Chmod(0o600); err != nil {
		return err
	}
	if _, err := temp.Write(data); err != nil {
		return err
	}
	// Without fsync(2) the name could reach the disk before the data does, and
	// a power cut would leave an empty lock.
	if err := temp.Sync(); err != nil {
		return err
	}
	// The data is safe, and Linux closes a file even if a signal interrupts that.
	if err := temp.Close(); !errors.Is(err, unix.EINTR) {
		return err
	}
	return nil
}

func tempName(name string) string { return "." + name + ".tmp" }

// remove removes a file from dir. That there is none is fine.
func remove(dir *os.File, name string) error {
	err := retry(func() error { return unix.Unlinkat(int(dir.Fd()), name, 0) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "remove", Path: filepath.Join(dir.Name(), name), Err: err}
	}
	return nil
}

// retry repeats a system call that a signal interrupted, as package os does:
// file systems in user space let themselves be interrupted in any.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
