package sosreport

import (
	"bufio"
	"context"
	"errors"
	"io"
)

// readJournal reads a journal of a size line by line. The size is what it
// claims, and may be far more than it takes on the disk.
func (c *collector) readJournal(ctx context.Context, name string, size int64, r io.Reader) error {
	if c.journals++; c.journals > c.limits.journals {
		return nil
	}
	if size > c.limits.total-c.read {
		c.note("%s has %d bytes, which is too much; left out", name, size)
		return nil
	}
	c.read += size
	j := &journal{collector: c, name: name}
	lines := bufio.NewReaderSize(interruptible{ctx, io.LimitReader(r, size)}, maxLine)
	for {
		text, err := lines.ReadSlice('\n')
		j.line(trimLine(text))
		for errors.Is(err, bufio.ErrBufferFull) { // drop the rest of a long line
			_, err = lines.ReadSlice('\n')
		}
		if err == nil {
			continue
		}
		if len(j.starts) > 0 {
			c.starts = append(c.starts, j.starts)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}

func trimLine(text []byte) string {
	for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
		text = text[:len(text)-1]
	}
	return string(text)
}
