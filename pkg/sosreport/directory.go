package sosreport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// directory reads an unpacked sosreport. Links are followed only as long as
// they stay inside it.
func (c *collector) directory(ctx context.Context, name string) error {
	root, err := openTop(name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read from
	c.report.Root = root.Name()
	for _, f := range []string{lockFile, mainConfig} {
		if _, err := root.Lstat(f); err == nil {
			c.found(f)
		} else if !notThere(err) {
			c.note("cannot look at /%s: %v", f, reason(err))
		}
	}
	if files, _ := fs.Glob(root.FS(), dropIns+"/*.yaml"); len(files) > 0 {
		c.found(files[0])
	}
	if text, err := readSmall(root, dataVersion); err == nil {
		c.keepVersion(dataVersion, text)
	}
	entries := 0
	for _, top := range []string{"sos_commands", "sos_strings", "var/log"} {
		err := fs.WalkDir(root.FS(), top, func(p string, e fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if entries++; entries > c.limits.entries {
				return fmt.Errorf("%s has more than %d entries: %w", name, c.limits.entries, ErrLimit)
			}
			switch {
			case notThere(err):
				return nil
			case err != nil:
				c.note("cannot read %s: %v", p, reason(err))
				return nil
			case e.IsDir():
				return nil
			}
			return c.walked(ctx, root, p)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// openTop opens the top of the report. Where name is the directory that an
// archive was unpacked into, the report is the only directory in there.
func openTop(name string) (*os.Root, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	for _, sign := range []string{"sos_commands", "etc", "var"} {
		if _, err := root.Stat(sign); err == nil {
			return root, nil
		}
	}
	dirs, _ := fs.Glob(root.FS(), "*/sos_commands")
	if len(dirs) != 1 {
		return root, nil
	}
	inner, err := root.OpenRoot(path.Dir(dirs[0]))
	return inner, errors.Join(err, root.Close())
}

// walked takes a file of the walk.
func (c *collector) walked(ctx context.Context, root *os.Root, name string) error {
	p := purposeOf(name)
	if p != told && p != log {
		return nil
	}
	f, info, err := openRegular(root, name)
	if err != nil {
		c.note("cannot read %s: %v", name, reason(err))
		return nil
	}
	defer f.Close()
	if p == log {
		err = c.readJournal(ctx, name, info.Size(), f)
	} else {
		err = c.readTold(name, f)
	}
	if err != nil && ctx.Err() == nil {
		c.note("cannot read all of %s: %v", name, reason(err))
		err = nil
	}
	return err
}

func readSmall(root *os.Root, name string) ([]byte, error) {
	f, _, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxLine))
}

// openRegular opens a regular file. Stat comes before open, since opening a
// device can have side effects, and again after it, since the name may have
// changed hands. O_NONBLOCK keeps a named pipe from blocking the open.
func openRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

var errNotRegular = errors.New("not a regular file")

// reason returns an error without the path that the text around it has.
func reason(err error) error {
	if pathErr := new(fs.PathError); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
