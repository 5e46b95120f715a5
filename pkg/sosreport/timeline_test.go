package sosreport

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at returns starts at these minutes, each with its own process.
func at(minutes ...int) []Start {
	var list []Start
	for _, m := range minutes {
		list = append(list, Start{pid: fmt.Sprint(m), Time: time.Date(2026, 1, 1, 0, m, 0, 0, time.UTC), Outcome: Accepted, complete: true})
	}
	return list
}

func TestTimeline(t *testing.T) {
	for name, tt := range map[string]struct {
		journals [][]Start
		want     []int
	}{
		"none":                     {nil, nil},
		"one":                      {[][]Start{at(1, 2, 3)}, []int{1, 2, 3}},
		"the same twice":           {[][]Start{at(1, 2, 3), at(1, 2, 3)}, []int{1, 2, 3}},
		"parts":                    {[][]Start{at(1, 2), at(2, 3)}, []int{1, 2, 3}},
		"boots":                    {[][]Start{at(3, 4), at(1, 2)}, []int{1, 2, 3, 4}},
		"clock set back":           {[][]Start{at(5, 6, 1, 2)}, []int{5, 6, 1, 2}},
		"clock set back, in parts": {[][]Start{at(5, 6, 1, 2), at(1, 2, 3)}, []int{5, 6, 1, 2, 3}},
		"in between":               {[][]Start{at(1, 5), at(1, 3, 5)}, []int{1, 3, 5}},
		"in disagreement":          {[][]Start{at(1, 2, 3), at(2, 1)}, []int{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, s := range timeline(tt.journals) {
				got = append(got, s.Time.Minute())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// read returns the starts that a journal tells of.
func read(t *testing.T, text string) []Start {
	t.Helper()
	c := &collector{limits: standard}
	if err := c.readJournal(context.Background(), "journal", int64(len(text)), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	c.finish()
	return c.report.Starts
}

// TestOutcomes has each way in which a start can end.
func TestOutcomes(t *testing.T) {
	const (
		prefix   = "Jan  1 00:00:00 vm microshift-feature-gates[7]: "
		systemd  = "Jan  1 00:00:00 vm systemd[1]: "
		begin    = prefix + `time="2026-01-01T00:00:00Z" level=info msg="checking feature gates" kubernetes=1.36 microshift=5.0.0` + "\n"
		flags    = prefix + `level=info msg="feature gates of component" component=kubelet flag="--feature-gates=A=true"` + "\n"
		lock     = prefix + `level=info msg="x locks this device" lock=/var/lib/microshift/no-upgrade` + "\n"
		refusal  = prefix + `level=error msg="MicroShift does not start: the lock x is empty"` + "\n"
		problem  = prefix + `level=error msg="no such set" code=feature-set-unknown at="/etc/microshift/config.yaml:1:1"` + "\n"
		rejected = prefix + `level=error msg="MicroShift does not start: no such set"` + "\n"
		fault    = prefix + `level=error msg="MicroShift does not start: no space left on device"` + "\n"
		exit     = systemd + "microshift.service: Control process exited, code=exited, status="
		started  = systemd + "Started MicroShift.\n"
	)
	for name, tt := range map[string]struct {
		text string
		want Outcome
	}{
		"started":                      {begin + flags + lock + systemd + "Started microshift.service - MicroShift.\n", Started},
		"by its description":           {begin + flags + lock + started, Started},
		"another service":              {begin + flags + lock + systemd + "Started MicroShift feature gates controller.\n", Accepted},
		"accepted":                     {begin + flags + lock, Accepted},
		"crashed":                      {begin + flags + lock + systemd + "microshift.service: Main process exited, code=exited, status=255/EXCEPTION\n", Crashed},
		"ended later":                  {begin + flags + lock + started + systemd + "microshift.service: Main process exited, code=killed, status=9/KILL\n", Started},
		"power cut":                    {begin + flags + lock + "-- Boot 0123 --\n", CutOff},
		"cut off":                      {begin, CutOff},
		"cut in the flags":             {begin + flags, CutOff},
		"locked":                       {begin + lock + refusal + exit + "4/NOPERMISSION\n", Locked},
		"locked, no exit":              {begin + lock + refusal, Locked},
		"rejected":                     {begin + lock + problem + rejected + exit + "1/FAILURE\n", Rejected},
		"rejected, no exit":            {begin + lock + problem + rejected, Rejected},
		"failed":                       {begin + lock + fault + exit + "3/NOTIMPLEMENTED\n", Failed},
		"failed, no exit":              {begin + lock + fault, Failed},
		"killed":                       {begin + systemd + "microshift.service: Control process exited, code=killed, status=9/KILL\n", Failed},
		"no version":                   {prefix + "microshift-feature-gates: cannot tell the running version: no microshift\n" + exit + "3/NOTIMPLEMENTED\n", Failed},
		"too slow":                     {begin + systemd + "microshift.service: start-pre operation timed out. Terminating.\n", Failed},
		"microshift itself":            {strings.ReplaceAll(begin+flags+lock, "microshift-feature-gates[", "microshift[") + started, Started},
		"refused in the next boot":     {begin + "-- Boot 0123 --\n" + exit + "1/FAILURE\n", CutOff},
		"refused in the next start":    {begin + systemd + "Starting microshift.service - MicroShift...\n" + exit + "4/NOPERMISSION\n", CutOff},
		"started in the next start":    {begin + flags + lock + systemd + "Starting MicroShift...\n" + started, Accepted},
		"forged in the text of a line": {begin + flags + lock + "Jan  1 00:00:00 vm (x)[9]: " + strings.TrimPrefix(refusal, "Jan  1 00:00:00 vm "), Accepted},
		"forged behind a false host":   {begin + flags + lock + "Jan  1 00:00:00 vm (x): Jan  1 00:00:00 " + strings.TrimPrefix(refusal, "Jan  1 00:00:00 "), Accepted},
		"forged by another":            {begin + flags + lock + strings.ReplaceAll(refusal, "microshift-feature-gates[", "evil["), Accepted},
		"another process":              {begin + flags + lock + strings.ReplaceAll(refusal, "[7]", "[8]"), Accepted},
		"broken off in an item":        {begin + flags + lock + refusal[:len(refusal)-10] + "\n", Accepted},
	} {
		t.Run(name, func(t *testing.T) {
			starts := read(t, tt.text)
			if len(starts) == 0 {
				t.Fatal("there is no start")
			}
			if got := starts[0].Outcome; got != tt.want {
				t.Errorf("it %s, want %s: %+v", got, tt.want, starts[0])
			}
			if starts[0].Outcome.Refused() && starts[0].Reason == "" {
				t.Error("there is no reason")
			}
		})
	}
}

// TestLongLines checks that a line that never ends takes no memory, and does
// not hide what follows.
func TestLongLines(t *testing.T) {
	starts := read(t, "Jan  1 00:00:00 vm x[1]: "+strings.Repeat("x", 1<<20)+"\n"+journalText)
	if len(starts) != 2 {
		t.Errorf("there are %d starts, want 2", len(starts))
	}
}
