package rollout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// StartedPath is where a start of MicroShift records the File that it took,
// mode 0600. It is gone after a boot, as the start is.
const StartedPath = "/run/microshift-feature-gates/started.json"

// ReadFile reads the rollout file at path. The error is fs.ErrNotExist where
// there is none, and tells what is wrong where it can't be used; the File is
// zero then. A link, a directory and whatever else is no regular file can't.
func ReadFile(path string) (File, error) {
	data, err := readRegular(path, maxBytes)
	if err != nil {
		return File{}, err
	}
	f, err := ParseFile(data)
	if err != nil {
		return File{}, &fs.PathError{Op: "parse", Path: path, Err: err}
	}
	return f, nil
}

// WriteFile writes the rollout file at path, in full and durably, or not at
// all. The directory must exist.
func WriteFile(path string, f File) error {
	data, err := f.Marshal()
	if err != nil {
		return err
	}
	return replace(path, data)
}

// ReadStarted reads what WriteStarted left; the zero File is a start without a
// rollout. The error is fs.ErrNotExist where no start has left anything.
func ReadStarted(path string) (File, error) {
	data, err := readRegular(path, maxBytes)
	if err != nil {
		return File{}, err
	}
	if strings.TrimSpace(string(data)) == noFile {
		return File{}, nil
	}
	f, err := ParseFile(data)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// noFile stands for the zero File, which Marshal refuses.
const noFile = `{"generation": 0}`

// WriteStarted records that MicroShift starts with f, the zero File included.
// It makes the directory where need be.
func WriteStarted(path string, f File) error {
	data := []byte(noFile + "\n")
	if f.Generation != 0 {
		var err error
		if data, err = f.Marshal(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return replace(path, data)
}

// readRegular reads a regular file of at most limit bytes.
func readRegular(path string, limit int64) ([]byte, error) {
	// O_NOFOLLOW: a link is not followed, wherever it points. O_NONBLOCK:
	// opening a FIFO would wait for its writer. What follows concerns the
	// descriptor, so nobody can exchange the file in between.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is over %d bytes", path, limit)
	}
	return data, nil
}

// replace puts a new file of mode 0600 at path, durably. Writers take turns.
func replace(path string, data []byte) error {
	dir, err := os.OpenFile(filepath.Dir(path), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close() // ends the flock too
	// Each holds the directory for milliseconds, and the kernel frees it when
	// its holder dies. A start does the same for the lock.
	if err := retry(func() error { return unix.Flock(int(dir.Fd()), unix.LOCK_EX) }); err != nil {
		return &fs.PathError{Op: "flock", Path: dir.Name(), Err: err}
	}
	temp := filepath.Join(dir.Name(), "."+filepath.Base(path)+".tmp")
	// A name that is always the same: what a killed writer left is replaced,
	// and does not pile up. O_EXCL after it fails on anything put there since.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	if err = fill(f, data); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	// Until the directory is on disk too, a power cut can bring back the old
	// file, of a generation that nobody may go back to. A file system that
	// can't do this answers EINVAL.
	if err := dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

// fill writes data to a new file, durably, and closes it.
func fill(f *os.File, data []byte) error {
	err := f.Chmod(0o600) // the umask may have taken bits
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		// Without fsync(2) the name could reach the disk before the data does,
		// and a power cut would leave an empty file.
		err = f.Sync()
	}
	// Linux closes a file even if a signal interrupts that.
	if closeErr := f.Close(); !errors.Is(closeErr, unix.EINTR) {
		err = errors.Join(err, closeErr)
	}
	return err
}

// retry repeats a system call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
