package sosreport

import (
	"bufio"
	"context"
	"errors"
	"io"
)

// readJournal reads a journal line by line, however large it is.
func (c *collector) readJournal(ctx context.Context, name string, r io.Reader) error {
	j := &journal{name: name}
	c.journals = append(c.journals, j)
	lines := bufio.NewReaderSize(r, maxLine)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := lines.ReadSlice('\n')
		j.read(trimLine(text))
		for errors.Is(err, bufio.ErrBufferFull) { // drop the rest of a long line
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if j.dropped > 0 {
		c.note("%s tells of more than %d starts; the last %d are left out", name, maxStarts, j.dropped)
	}
	return nil
}

func trimLine(text []byte) string {
	for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
		text = text[:len(text)-1]
	}
	return string(text)
}
