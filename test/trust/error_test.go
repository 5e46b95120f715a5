//go:build e2e

package trust

import (
	"slices"
	"strings"
	"testing"
)

// diskErrors are what a disk that is full, broken, read-only or over its quota
// answers.
var diskErrors = []string{"ENOSPC", "EIO", "EROFS", "EDQUOT"}

// TestWriteErrors lets each call of a durable write fail in each way. The run
// fails, says why, and leaves the old file; only if nothing but the directory's
// fsync fails may it be the new one. A call that a signal interrupts is
// repeated.
func TestWriteErrors(t *testing.T) {
	needStrace(t)
	for _, s := range scenarios() {
		if s.code != fine {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			type run struct {
				write write
				error string
			}
			var runs []run
			for _, w := range writes(t, x) {
				for _, e := range append([]string{"EINTR"}, diskErrors...) {
					runs = append(runs, run{w, e})
				}
			}
			inParallel(sample(runs, 7), func(r run) {
				code := failed
				if r.error == "EINTR" || slices.Contains(r.write.harmless, r.error) {
					code = fine
				}
				x.inject("error="+r.error, r.write.index, code)
			})
			x.report("a call of the write fails")
		})
	}
}

// TestOtherErrors lets every other call on the device fail that can. What was
// not read must not count as absent: no start succeeds that should be refused,
// nor without its lock.
func TestOtherErrors(t *testing.T) {
	needStrace(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			var own []int // calls that TestWriteErrors has
			if s.code == fine {
				for _, w := range writes(t, x) {
					own = append(own, w.index)
				}
			}
			others := x.calls.indices(func(c call) bool {
				// Neither of these has to do with the disk.
				return c.onDevice() && !slices.Contains([]string{"execve", "fcntl", "epoll_ctl"}, c.name)
			})
			others = slices.DeleteFunc(others, func(i int) bool { return slices.Contains(own, i) })
			inParallel(sample(others, 12), func(i int) {
				x.inject("error=EIO", i, s.code, failed)
				x.inject("error=EINTR", i, s.code)
			})
			x.report("another call fails")
		})
	}
}

// TestFileSystemWithoutNoReplace has a first start where renameat2 can't keep
// itself from replacing a file.
func TestFileSystemWithoutNoReplace(t *testing.T) {
	needStrace(t)
	x := undisturbed(t, scenarios()[0])
	for _, e := range []string{"EINVAL", "ENOSYS"} {
		unable := []string{"-e", "trace=%file", "-e", "inject=renameat2:error=" + e}
		for _, f := range []struct {
			rule string
			code int
		}{
			{"inject=linkat:error=EINTR:when=1", fine},
			{"inject=linkat:error=EIO", failed},
			{"inject=linkat:signal=KILL", killed},
		} {
			d := newDevice(t, x.before)
			out, calls := strace(t, x.command(d), string(d), append(unable, "-e", f.rule)...)
			if calls.count("linkat") == 0 || calls.count("renameat2") == 0 {
				t.Errorf("%s: want linkat after renameat2 has failed:\n%v", e, calls)
			}
			x.check(d, out, strings.Join([]string{e, f.rule}, ", "), f.code)
		}
	}
	x.report("no renameat2")
}
