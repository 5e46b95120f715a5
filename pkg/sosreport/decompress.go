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
	"strings"
	"syscall"

	"github.com/ulikunitz/xz"
)

// decompress finds out how an archive is compressed, by its first bytes; its
// name may say anything.
func decompress(f io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(f, 64<<10)
	head, err := b.Peek(263)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return xz.NewReader(b)
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

// meter counts what comes out of a decompressor, and stops a bomb.
type meter struct {
	ctx    context.Context
	r      io.Reader
	limits limits
	n      int64
	check  int64 // look at the memory when n gets here
	err    error // that ends it; readers may overlook one that comes with data
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.r.Read(p)
	if m.n += int64(n); m.n > m.limits.total {
		m.err = fmt.Errorf("it unpacks to more than %d bytes: %w; unpack it by other means, and give the directory", m.limits.total, ErrLimit)
	}
	// An xz stream says how much memory it wants, up to 4 GiB, and may change
	// its mind in each block; the library obeys. Memory counts when it is
	// written to, so this comes in time.
	if m.n >= m.check {
		m.check = m.n + 16<<20
		if used := resident(); used > m.limits.memory {
			m.err = fmt.Errorf("unpacking it takes more than %d bytes of memory: %w", m.limits.memory, ErrLimit)
		}
	}
	if m.err != nil {
		return 0, m.err
	}
	return n, err
}

// resident returns how much memory this process has, in bytes; 0 if unknown.
func resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var pages, size int64
	if _, err := fmt.Fscan(strings.NewReader(string(data)), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS)
}
