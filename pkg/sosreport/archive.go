package sosreport

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// archive reads a sosreport as one stream. A second pass follows only where a
// link points to a file that the first one had no reason to keep.
func (c *collector) archive(ctx context.Context, name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a directory nor a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dir, err := os.MkdirTemp("", command+"-*")
	if err != nil {
		return err
	}
	c.report.Root, c.report.temporary = dir, dir
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	u := &unpacker{collector: c, root: root, stored: map[string]bool{}, asked: map[string]bool{}}
	for u.pass = 1; u.pass <= maxPasses; u.pass++ {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := u.stream(ctx, name, f); err != nil {
			return err
		}
		if !u.moreToFind() {
			break
		}
	}
	u.hardLinks()
	return nil
}

// unpacker puts the files that a start reads below a directory of its own.
type unpacker struct {
	*collector
	root   *os.Root
	pass   int
	bytes  int64           // stored so far
	stored map[string]bool // by path in the report
	asked  map[string]bool // what links point to; true once a pass has looked for it
	hard   [][2]string     // hard links: name, target
}

// moreToFind reports whether a link points to what no pass has looked for.
func (u *unpacker) moreToFind() bool {
	more := false
	for target, looked := range u.asked {
		if !looked && !u.stored[target] {
			more = true
		}
		u.asked[target] = true
	}
	return more
}

// stream goes through the archive once.
func (u *unpacker) stream(ctx context.Context, name string, f io.Reader) error {
	r, err := decompress(ctx, f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	unpacked := &meter{interruptible: interruptible{ctx, r}, limit: u.limits.total}
	entries := tar.NewReader(unpacked)
	for n := 0; ; n++ {
		h, err := entries.Next()
		if err == nil && n >= u.limits.entries {
			err = fmt.Errorf("more than %d entries: %w", u.limits.entries, ErrLimit)
		}
		if err == nil {
			err = u.entry(ctx, h, entries)
		}
		if errors.Is(err, io.EOF) {
			// The last entry is not the end: a cut may be behind it.
			if _, err = io.Copy(io.Discard, unpacked); err == nil {
				return nil
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrLimit), ctx.Err() != nil, n == 0, errors.Is(err, errDisk):
			return fmt.Errorf("%s: %w", name, err)
		default: // what came before the damage is worth showing
			u.cut = fmt.Sprintf("the archive is cut off or damaged after %d entries (%v); what follows is missing here", n, err)
			return nil
		}
	}
}

var errDisk = errors.New("cannot unpack")

// topFolders are what a report has at its top, to tell an archive that has
// them in a directory of the report's name from one that has not.
var topFolders = []string{"etc", "var", "run", "sos_commands", "sos_strings"}

// inReport returns where an entry belongs in the report.
func inReport(name string) (string, bool) {
	clean := path.Clean(name)
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsRune(clean, 0) || len(clean) > 4096 {
		return "", false
	}
	first, rest, _ := strings.Cut(clean, "/")
	if slices.Contains(topFolders, first) {
		return clean, true
	}
	return rest, true
}

// entry takes one entry of the archive.
func (u *unpacker) entry(ctx context.Context, h *tar.Header, content io.Reader) error {
	name, ok := inReport(h.Name)
	if !ok {
		u.note("the archive has an entry that points out of it (%.100q); left out", h.Name)
		return nil
	}
	p := purposeOf(name)
	if p == nothing && u.wanted(name) {
		p = device
	}
	switch {
	case h.Typeflag == tar.TypeDir:
	case h.Typeflag == tar.TypeSymlink && (p == device || ancestor(name)):
		return u.symlink(name, h.Linkname)
	case p == nothing || u.pass > 1 && !u.wanted(name):
	case h.Typeflag == tar.TypeLink && p == device:
		if target, ok := inReport(h.Linkname); ok && u.pass == 1 {
			u.hard = append(u.hard, [2]string{name, target})
			u.ask(target)
		}
	case h.Typeflag == tar.TypeReg && p == device:
		return u.store(name, h, content)
	case h.Typeflag == tar.TypeReg && p == told:
		return u.readTold(name, content)
	case h.Typeflag == tar.TypeReg && p == log:
		return u.readJournal(ctx, name, h.Size, content)
	case p == log && h.Typeflag == tar.TypeSymlink: // its text is elsewhere in the report
	default:
		u.note("%s is neither a file, a directory nor a link; left out", name)
	}
	return nil
}

// ancestor reports whether a file that a start reads is below name.
func ancestor(name string) bool {
	for _, f := range append([]string{mainConfig}, deviceFiles...) {
		if name != "" && strings.HasPrefix(f, name+"/") {
			return true
		}
	}
	return false
}

// wanted reports whether a link points to name, or to a directory above it.
func (u *unpacker) wanted(name string) bool {
	for name != "." && name != "/" && name != "" {
		if _, ok := u.asked[name]; ok {
			return true
		}
		name = path.Dir(name)
	}
	return false
}

func (u *unpacker) ask(target string) {
	if _, ok := u.asked[target]; !ok && target != "" && len(u.asked) < maxFiles {
		u.asked[target] = false
	}
}

// symlink puts a link where it is on the device, and asks for its target.
// Who reads the files resolves links below Root, as this does, so one that
// points out of the report leads to its top instead.
func (u *unpacker) symlink(name, target string) error {
	if u.pass > 1 && u.stored[name] {
		return nil
	}
	u.found(name)
	if err := u.place(name, func() error { return u.root.Symlink(target, name) }); err != nil {
		return err
	}
	if !path.IsAbs(target) {
		target = path.Join("/", path.Dir(name), target)
	}
	u.ask(strings.TrimPrefix(path.Clean(target), "/"))
	return nil
}

// store writes a file below the directory.
func (u *unpacker) store(name string, h *tar.Header, content io.Reader) error {
	if len(u.stored) >= maxFiles || u.bytes >= maxKept {
		return fmt.Errorf("the configuration has more than %d files or %d bytes: %w", maxFiles, maxKept, ErrLimit)
	}
	u.found(name)
	return u.place(name, func() error {
		mode := fs.FileMode(h.Mode)&0o777 | 0o400
		f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		n, err := io.Copy(f, io.LimitReader(content, maxFile))
		u.bytes += n
		err = errors.Join(err, f.Chmod(mode), f.Close())
		if err == nil && name == dataVersion {
			if text, readErr := readSmall(u.root, name); readErr == nil {
				u.keepVersion(name, text)
			}
		}
		return err
	})
}

// place makes way for name and has it created. A name that no file system
// takes is a note.
func (u *unpacker) place(name string, create func() error) error {
	err := u.root.MkdirAll(path.Dir(name), 0o755)
	if err == nil {
		if err = u.root.Remove(name); notThere(err) { // of two entries, the last counts
			err = nil
		}
	}
	if err == nil {
		err = create()
	}
	if err == nil {
		u.stored[name] = true
		return nil
	}
	if pathErr := new(fs.PathError); !errors.As(err, &pathErr) && !errors.As(err, new(*os.LinkError)) {
		return err // of the archive
	}
	if isFull(err) {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	u.note("cannot unpack %.100q: %v", name, reason(err))
	return nil
}

// hardLinks gives hard links the content that another name has.
func (u *unpacker) hardLinks() {
	for _, l := range u.hard {
		name, target := l[0], l[1]
		u.found(name)
		if err := u.place(name, func() error { return u.root.Link(target, name) }); err != nil {
			u.note("cannot unpack %.100q: %v", name, reason(err))
		}
	}
}
