package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrExists says that a lock appeared while the first one was being written.
// Starts that use Update never do that to each other; another program did.
var ErrExists = errors.New("a lock file has appeared meanwhile")

// patience is how long Update waits for other starts. Each holds the lock for
// milliseconds, and the kernel frees it when its holder dies; but many may come
// at once on a small machine that is busy booting. It is half of what
// microshift.service has for its start (TimeoutStartSec=4m).
const patience = 2 * time.Minute

// Update reads the lock at path, lets decide judge it, and writes what decide
// returns, all as one step: of several starts at once, each sees the lock that
// the one before it left, and no change is lost.
//
// decide gets nil where there is no lock. It returns the lock to write, or nil
// to leave the disk as it is. It may be called a second time, with what another
// start has written meanwhile; the last call counts. When it returns an error,
// Update writes nothing and returns that error.
//
// When Update returns nil, the lock is on disk for good. When it returns an
// error, the feature gates must not be used; the lock is then the old one or
// the new one, never a part of either. An unusable lock is returned as
// *UnusableError, without asking decide. A missing data directory is created,
// with mode 0700, when there is a lock to write.
//
// Starts exclude each other by flock(2) on the data directory, which leaves no
// file behind, and can't be lost by a rename as a flock on the lock itself
// would be.
func Update(path string, decide func(current *Lock) (next *Lock, err error)) error {
	dir, err := openDirectory(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		if next, err := decide(nil); err != nil || next == nil {
			return err
		}
		if err := makeDirectory(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		dir, err = openDirectory(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	defer dir.Close() // ends the flock too
	if err := exclude(dir, patience); err != nil {
		return err
	}
	current, err := readAt(dir, path)
	switch {
	case errors.Is(err, ErrAbsent):
		current = nil
	case err != nil:
		return err
	default:
		if err := settle(dir); err != nil {
			return err
		}
	}
	next, err := decide(current)
	if err != nil || next == nil {
		return err
	}
	data, err := next.encode()
	if err == nil && current == nil {
		err = settleParent(dir)
	}
	if err == nil {
		err = write(dir, filepath.Base(path), data, current == nil)
	}
	if err != nil {
		return fmt.Errorf("the lock %s could not be written: %w", path, err)
	}
	return nil
}

// readAt reads the lock whose directory is dir.
func readAt(dir *os.File, path string) (*Lock, error) {
	data, err := readRegular(dir, path, maxLock)
	var odd *irregularError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, ErrAbsent)
	case errors.As(err, &odd):
		return nil, &UnusableError{Path: path, Reason: odd.reason}
	case err != nil:
		return nil, err
	}
	return Parse(path, data)
}

// exclude waits until no other start holds the directory, and then holds it
// until dir is closed.
func exclude(dir *os.File, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		// A blocking flock(2) could not be given up after a while, so try.
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return &fs.PathError{Op: "flock", Path: dir.Name(), Err: err}
		case time.Now().After(deadline):
			return fmt.Errorf("%s: another process has held the directory for %s", dir.Name(), patience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// settle makes durable what another writer may have left in the directory.
func settle(dir *os.File) error {
	// A writer that was killed between rename(2) and fsync(2) leaves a lock
	// that a power cut could still take back, after gates were used on the
	// strength of it. A file system that can't be written answers EINVAL or
	// EROFS, and has nothing to lose.
	err := dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EROFS) {
		return nil
	}
	return err
}

// settleParent makes durable that dir is there: who made it, be it another
// start, may have been killed before its parent was on disk.
func settleParent(dir *os.File) error {
	// The kernel resolves the two dots, so that this is the parent of the
	// directory itself, also where it was reached by a link.
	parent, err := openDirectory(dir.Name() + "/..")
	if err != nil {
		return err
	}
	defer parent.Close()
	return settle(parent)
}
