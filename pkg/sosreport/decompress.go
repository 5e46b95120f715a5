package sosreport

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/mikelolasagasti/xz"
)

// maxDictionary is the largest dictionary of xz that is taken: that of xz -9.
// The header of each block says how large its dictionary is, up to 4 GiB, and
// the decoder refuses a larger one before it takes any memory.
const maxDictionary = 64 << 20

// decompress finds out how an archive is compressed, by its first bytes; its
// name may say anything.
func decompress(ctx context.Context, f io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(interruptible{ctx, f}, 64<<10)
	head, err := b.Peek(263)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		if err := roomFor(2 * maxDictionary); err != nil {
			return nil, err
		}
		r, err := xz.NewReader(b, maxDictionary)
		return r, explained(err)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return gzip.NewReader(b)
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2.NewReader(b), nil
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return b, nil
	case bytes.HasPrefix(head, []byte("-----BEGIN PGP")), bytes.HasPrefix(head, []byte{0x84}), bytes.HasPrefix(head, []byte{0x85}), bytes.HasPrefix(head, []byte{0x8c}):
		return nil, errors.New("looks encrypted; decrypt it first (gpg --decrypt)")
	}
	return nil, errors.New("is no sosreport: want a directory, or an archive in tar format, plain or compressed with xz or gzip")
}

// interruptible ends when its context does. A decompressor that reads without
// giving anything, as for streams that are empty, is stopped by that.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// meter counts what comes out of a decompressor, and stops a bomb.
type meter struct {
	interruptible
	limit int64
	n     int64
	err   error // that ends it; readers may overlook one that comes with data
}

func (m *meter) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.interruptible.Read(p)
	if m.n += int64(n); m.n > m.limit {
		m.err = fmt.Errorf("it unpacks to more than %d bytes: %w; unpack it by other means, and give the directory", m.limit, ErrLimit)
	}
	if m.err != nil {
		return 0, m.err
	}
	return n, explained(err)
}

// explained says in words of ours what the decoder of xz does not do.
func explained(err error) error {
	if errors.Is(err, xz.ErrMemlimit) {
		return fmt.Errorf("its compression wants a dictionary of more than %d bytes: %w", maxDictionary, ErrLimit)
	}
	return err
}

// roomFor reports whether this process may take so many bytes more. A program
// in Go can't go on, and can't say why, when it gets no memory (ulimit -v).
func roomFor(bytes uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return err
	}
	var pages uint64 // in use; 0 where that is not known
	text, _ := os.ReadFile("/proc/self/statm")
	_, _ = fmt.Sscan(string(text), &pages)
	if used := pages * uint64(os.Getpagesize()); limit.Cur < used || limit.Cur-used < bytes {
		return fmt.Errorf("unpacking it can take %d MiB, and this process may not (ulimit -v)", bytes>>20)
	}
	return nil
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS)
}
