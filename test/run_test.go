package test

import (
	"strings"
	"testing"
)

// TestRun runs the tour of "make run" and looks for what it is to show, in
// order. The tour must fit on two screens.
func TestRun(t *testing.T) {
	out, err := makeTarget("run", "OUTPUT="+t.TempDir())
	if err != nil {
		t.Fatalf("make run: %v\n%s", err, out)
	}
	rest := string(out)
	for _, want := range []string{
		"\n$ microshift-feature-gates ",
		"[gate-name]",                                      // refused,
		"MemoryQoS=true",                                   // with the offending line
		"\n$ sed ",                                         // corrected,
		"kube-apiserver", "--feature-gates=MemoryQoS=true", // accepted, with the flags
		"kube-controller-manager", "--feature-gates=MemoryQoS=true",
		"kube-scheduler", "--feature-gates=MemoryQoS=true",
		"kubelet", "--feature-gates=MemoryQoS=true",
		"\n$ rm ",                              // reverted,
		"/var/lib/microshift/no-upgrade holds", // and held by the lock
		"microshift-cleanup-data --all",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("make run does not show %q, or not in this order:\n%s", want, out)
		}
		rest = after
	}
	if n := strings.Count(string(out), "\n"); n > 100 {
		t.Errorf("make run prints %d lines, more than two screens", n)
	}
}
