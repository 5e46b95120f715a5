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

// TestWriteErrors lets each call of a durable write fail in each way: once, and
// from there on. The run fails, says why, and leaves the old file; only if
// nothing but the directory's fsync fails may it be the new one. A call that a
// signal interrupts is repeated.
func TestWriteErrors(t *testing.T) {
	needStrace(t)
	for _, s := range scenarios(t) {
		if s.code != fine {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			type fault struct {
				at     target
				name   string
				sticky bool
			}
			var faults []fault
			for _, w := range writes(t, x) {
				if w.what == "exit" {
					continue
				}
				at := x.at(w.index)
				faults = append(faults, fault{at, "EINTR", false})
				for _, e := range diskErrors {
					faults = append(faults, fault{at, e, false}, fault{at, e, true})
				}
			}
			inParallel(sample(faults, 4), func(f fault) {
				code := failed
				if f.name == "EINTR" {
					code = fine
				}
				x.inject(f.at, "error="+f.name, f.sticky, code)
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
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			x := undisturbed(t, s)
			var own []int // calls that TestWriteErrors has
			if s.code == fine {
				for _, w := range writes(t, x) {
					own = append(own, w.index)
				}
			}
			i := -1
			list := x.calls.targets(func(c call) bool {
				i++
				return c.onDevice() && c.name != "execve" && !slices.Contains(own, i)
			})
			inParallel(sample(list, 8), func(c target) {
				x.inject(c, "error=EIO", false, s.code, failed)
				if !strings.HasPrefix(c.name, "fcntl") && c.name != "epoll_ctl" && c.name != "lseek" { // these are never interrupted
					x.inject(c, "error=EINTR", false, s.code)
				}
			})
			x.report("another call fails")
		})
	}
}

// at returns the call of an index as a target.
func (x *disturbed) at(index int) target {
	i := -1
	return x.calls.targets(func(call) bool { i++; return i == index })[0]
}
