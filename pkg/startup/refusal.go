package startup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
)

// Refusal is the error of a start that must not go on, although all work could
// be done: the configuration is wrong, or the lock stops it.
type Refusal struct {
	// ByLock reports whether the lock stops the start; otherwise the
	// configuration is rejected.
	ByLock bool
	// Diagnostics holds every problem, warnings included.
	Diagnostics diag.List
	// Verdict is what the lock says; the zero value where there is no usable lock.
	Verdict lock.Verdict
	// Text is the whole story for people, in several lines.
	Text string
}

// Error returns the first reason on one line, with what to do about it.
func (r *Refusal) Error() string {
	errs := r.Diagnostics.Errors()
	first := errs[0]
	text := first.Message
	if !r.ByLock {
		text = first.String()
		if first.Hint != "" {
			text += ": " + first.Hint
		}
	}
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// Refusal returns why a start is refused, or nil where it may go on.
func (out *Outcome) Refusal() *Refusal {
	if out.Diagnostics.Err() == nil {
		return nil
	}
	r := &Refusal{Diagnostics: out.Diagnostics, Verdict: out.Lock.Verdict, ByLock: !out.configurationRejected()}
	site := lock.Site{Path: out.Lock.Path, OSTree: out.Image}
	for _, f := range out.Files {
		site.Files = append(site.Files, f.Name)
	}
	switch {
	case out.Lock.Unusable != nil && r.ByLock:
		r.Text = out.Lock.Unusable.Explain(site)
	case r.ByLock:
		r.Text = out.Lock.Verdict.Explain(site)
	default:
		r.Text = out.rejectionText()
	}
	return r
}

func (out *Outcome) refusal() error {
	if r := out.Refusal(); r != nil {
		return r
	}
	return nil
}

// rejectionText tells what is wrong with the configuration, and what a lock
// holds, since a device that has one can't just drop the section.
func (out *Outcome) rejectionText() string {
	var b strings.Builder
	b.WriteString("The configuration is rejected; MicroShift does not start.\n")
	errs := out.Diagnostics.Errors()
	for _, d := range errs[:min(len(errs), maxLogged)] {
		b.WriteString(d.String() + "\n")
		if d.Hint != "" {
			b.WriteString("  " + strings.ReplaceAll(d.Hint, "\n", "\n  ") + "\n")
		}
	}
	if more := len(errs) - maxLogged; more > 0 {
		fmt.Fprintf(&b, "and %d more errors\n", more)
	}
	if l := out.Lock.Lock; l != nil {
		fmt.Fprintf(&b, "The lock %s holds feature set %q since MicroShift %s: it must stay configured.\n", out.Lock.Path, l.FeatureSet, l.Version)
	}
	return b.String()
}

// leaveFailure leaves the reason of a failed start for greenboot, which prints
// the file, or removes that of an earlier one.
func (out *Outcome) leaveFailure(err error) {
	o := out.Options
	host, hostErr := o.host(o.FailureLog)
	if hostErr != nil {
		return
	}
	if err == nil {
		if err := os.Remove(host); err != nil && !errors.Is(err, fs.ErrNotExist) {
			o.Log.WithError(err).Warn("cannot remove the reason of an earlier failure")
		}
		return
	}
	text := err.Error() + "\n"
	if r := new(Refusal); errors.As(err, &r) {
		text = r.Text
	}
	if err := replaceFile(host, text); err != nil {
		o.Log.WithError(err).Warnf("cannot leave the reason in %s", o.FailureLog)
	}
}

// replaceFile writes a file beside its old version and renames it, so that a
// link in its place is replaced and not followed. It need not be durable: the
// next start writes it again.
func replaceFile(path, text string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close() // ends the flock too
	// One start at a time: if another one is leaving its reason just now, that
	// is as good as this one's.
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return &fs.PathError{Op: "flock", Path: dir, Err: err}
	}
	// So a name that is always the same will do. What a killed start left is
	// replaced, and does not pile up.
	temp := filepath.Join(dir, "."+filepath.Base(path)+".tmp")
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = writeNew(temp, text)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
