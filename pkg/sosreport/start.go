package sosreport

import (
	"strings"
	"time"
)

// Outcome is how a start ended.
type Outcome string

// The outcomes. Only a start that systemd reports as such counts as Started.
const (
	Started  Outcome = "started"  // MicroShift came up
	Accepted Outcome = "accepted" // it was let through; whether it came up, the journal does not say
	Crashed  Outcome = "crashed"  // it was let through, and MicroShift ended before it was up
	Rejected Outcome = "rejected" // the configuration stopped it
	Locked   Outcome = "locked"   // the lock stopped it
	Failed   Outcome = "failed"   // the check could not be done
	CutOff   Outcome = "cut-off"  // its account breaks off, as after a power cut
)

// Refused reports whether the product stopped the start.
func (o Outcome) Refused() bool { return o == Rejected || o == Locked || o == Failed }

// Start is one start of MicroShift, as the journal tells it. What the journal
// does not tell is zero.
type Start struct {
	Time       time.Time `json:"time,omitzero"` // by the clock of the device, in UTC
	MicroShift string    `json:"microshiftVersion"`
	Kubernetes string    `json:"kubernetesVersion,omitempty"`
	Outcome    Outcome   `json:"outcome"`
	FeatureSet string    `json:"featureSet"`
	SetAt      string    `json:"featureSetAt,omitempty"` // file:line:column
	Files      []string  `json:"files"`
	Gates      []Gate    `json:"gates"`
	// Flags is what each component was given; empty for a start that was refused.
	Flags map[string]string `json:"flags,omitempty"`
	// Lock is what the start said of the lock, and LockWritten whether it
	// wrote it.
	Lock        string `json:"lock,omitempty"`
	LockWritten bool   `json:"lockWritten,omitempty"`
	// Reason is why it was refused, on one line.
	Reason   string    `json:"reason,omitempty"`
	Problems []Problem `json:"problems"`
	// Changes are the differences from the start before it.
	Changes []string `json:"changes"`
	// Later is what systemd and greenboot said until the next start.
	Later []string `json:"later,omitempty"`

	journal  string // whose account this is
	pid      string
	complete bool // it told of the lock, or why it fails
	embedded bool // MicroShift itself did the check
	held     heldLock
}

// Gate is a gate as configured.
type Gate struct {
	Name string `json:"name"`
	List string `json:"list"` // customNoUpgrade.enabled, for instance
	At   string `json:"at,omitempty"`
}

// Problem is an error or a warning of a start.
type Problem struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	At       string `json:"at,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// Stopped is what Later has when the service was stopped in an orderly way.
const Stopped = "stopped"

const (
	command     = "microshift-feature-gates" // as journald names its lines
	greenboot   = command + "-greenboot"
	firstWords  = "checking feature gates"
	refusalText = "MicroShift does not start: "
)

// journal collects the starts of one file.
type journal struct {
	*collector
	name   string
	starts []Start
	open   bool // lines can still be about the last start
}

// last returns the start that lines can be about, or nil.
func (j *journal) last() *Start {
	if !j.open {
		return nil
	}
	return &j.starts[len(j.starts)-1]
}

func (j *journal) begin(l line) *Start {
	j.begun++
	if j.open = j.begun <= j.limits.starts; !j.open {
		return nil
	}
	j.starts = append(j.starts, Start{journal: j.name, pid: l.pid, embedded: l.ident != command, Outcome: CutOff,
		Files: []string{}, Gates: []Gate{}, Problems: []Problem{}, Changes: []string{}})
	return j.last()
}

// line takes one line.
func (j *journal) line(raw string) {
	if strings.HasPrefix(raw, "-- Boot ") || raw == "-- Reboot --" {
		j.boot()
		return
	}
	l, ok := parseLine(raw)
	if !ok {
		return
	}
	switch {
	case l.ident == "systemd":
		j.systemd(l.text)
	case l.ident == greenboot:
		if s := j.last(); s != nil && j.room(l.text) {
			s.later(l.text)
		}
	case l.ident == command || l.ident == "microshift":
		j.product(l)
	}
}

// room reports whether there is room for what a line tells, and takes it.
func (j *journal) room(text string) bool {
	if j.text <= j.limits.text {
		j.text += int64(len(text))
	}
	return j.text <= j.limits.text
}

// boot takes the sign that the journal goes on in another boot. What systemd
// has not said of a start until then, it will not say any more.
func (j *journal) boot() {
	if s := j.last(); s != nil && s.Outcome == Accepted {
		s.Outcome = CutOff
	}
	j.open = false
}

// product takes a line of the command, or of MicroShift that embeds it.
func (j *journal) product(l line) {
	e, ok := parseEntry(l.text)
	s := j.last()
	switch {
	case ok && e.msg == firstWords:
		s = j.begin(l)
	case l.ident == command && (s == nil || s.pid != l.pid):
		if !ok && !strings.HasPrefix(l.text, command+": ") {
			return
		}
		s = j.begin(l) // its beginning is not in this journal, or it could not tell the version
	}
	switch {
	case s == nil || s.pid != l.pid || !j.room(l.text):
	case ok:
		s.take(e)
	case strings.HasPrefix(l.text, command+": "):
		if len(s.Reason) < maxReason {
			s.Reason = appendText(s.Reason, strings.TrimPrefix(l.text, command+": "))
		}
		s.Outcome, s.complete = Failed, true
	}
}

// take takes an entry of the log.
func (s *Start) take(e entry) {
	if s.Time.IsZero() {
		s.Time = e.at
	}
	f := e.fields
	switch {
	case e.msg == firstWords:
		s.MicroShift, s.Kubernetes = f["microshift"], f["kubernetes"]
	case f["file"] != "":
		s.Files = capped(s.Files, f["file"])
	case f["gate"] != "" && f["path"] != "":
		s.Gates = capped(s.Gates, Gate{f["gate"], listOf(f["path"]), f["at"]})
	case f["component"] != "":
		if s.Flags == nil {
			s.Flags = map[string]string{}
		}
		if len(s.Flags) < maxDetails {
			s.Flags[f["component"]] = f["flag"]
		}
		s.Outcome = Accepted
	case f["code"] != "":
		severity := "warning"
		if e.level == "error" {
			severity = "error"
		}
		s.Problems = capped(s.Problems, Problem{severity, f["code"], f["at"], e.msg, f["hint"]})
	case f["lock"] != "" && f["featureSet"] != "":
		s.Lock, s.complete = "held: feature set "+f["featureSet"]+", MicroShift "+f["version"], true
		s.takeLock(e)
	case f["lock"] != "":
		s.Lock, s.complete = e.msg, true
		s.LockWritten = e.level == "warning"
		s.takeLock(e)
	case e.msg == lockHistory:
		s.takeHistory(e)
	case f["featureSet"] != "":
		s.FeatureSet, s.SetAt = f["featureSet"], f["at"]
	case strings.HasPrefix(e.msg, refusalText):
		s.Reason, s.complete = strings.TrimPrefix(e.msg, refusalText), true
		s.Outcome = s.refusal()
	}
}

// refusal guesses who stopped the start. The exit code, which systemd tells
// next, knows better.
func (s *Start) refusal() Outcome {
	for _, p := range s.Problems {
		if p.Severity == "error" {
			return Rejected
		}
	}
	if strings.HasPrefix(s.Reason, "the lock ") {
		return Locked
	}
	return Failed
}

var listIndex = pattern(`\[\d+\]$`)

// listOf turns a YAML path into the name of its list.
func listOf(yamlPath string) string {
	return listIndex().ReplaceAllString(strings.TrimPrefix(yamlPath, "apiServer.featureGates."), "")
}

var (
	unitLine    = pattern(`^microshift\.service: (.*)$`)
	controlExit = pattern(`^Control process exited, code=(\w+),? status=(\d+)`)
	mainExit    = pattern(`^Main process exited, (code=\w+,? status=\S+)`)
	jobLine     = pattern(`^(Starting|Started|Failed to start|Stopped) (?:microshift\.service\b|MicroShift\.*$)`)
)

// systemd takes a line of systemd about the service.
func (j *journal) systemd(text string) {
	s := j.last()
	if s == nil {
		return
	}
	if m := jobLine().FindStringSubmatch(text); m != nil {
		switch {
		case m[1] == "Starting": // another; what systemd says from here on is about that
			j.open = false
		case m[1] == "Started" && s.Outcome == Accepted:
			s.Outcome = Started
		case m[1] == "Stopped" && s.Outcome == Started && len(s.Later) == 0:
			s.later(Stopped)
		}
		return
	}
	m := unitLine().FindStringSubmatch(text)
	if m == nil {
		return
	}
	if exit := controlExit().FindStringSubmatch(m[1]); exit != nil {
		s.controlExit(exit[1], exit[2])
	} else if exit := mainExit().FindStringSubmatch(m[1]); exit != nil {
		s.mainExit(exit[1])
	} else if strings.HasPrefix(m[1], "Start request repeated too quickly") {
		s.later("systemd gave up: too many starts in a short time")
	} else if strings.Contains(m[1], "start-pre operation timed out") && s.Outcome == CutOff {
		s.Outcome, s.complete = Failed, true
		s.Reason = appendText(s.Reason, "the check took longer than systemd waits (TimeoutStartSec)")
	}
}

// controlExit takes how ExecStartPre ended, where it did not end well.
func (s *Start) controlExit(code, status string) {
	if s.Outcome == Started || s.Outcome == Crashed {
		return // of ExecReload or ExecStop
	}
	s.complete = true
	switch {
	case code == "exited" && status == "1":
		s.Outcome = Rejected
	case code == "exited" && status == "4":
		s.Outcome = Locked
	default:
		s.Outcome = Failed
		if s.Reason == "" {
			s.Reason = "the check ended with code=" + code + ", status=" + status
		}
	}
}

func (s *Start) mainExit(how string) {
	switch {
	case s.Outcome == Accepted:
		s.Outcome = Crashed
		s.later("MicroShift ended before it was up: " + how)
	case s.Outcome.Refused() && s.embedded:
	default:
		s.later("MicroShift ended: " + how)
	}
}

func (s *Start) later(text string) {
	if len(s.Later) < 20 {
		s.Later = append(s.Later, text)
	}
}

// end settles what the journal leaves open.
func (s *Start) end() {
	if s.Outcome == Accepted && !s.complete {
		s.Outcome = CutOff
	}
	if s.Outcome.Refused() {
		s.Flags, s.LockWritten = nil, false
	}
}

func capped[T any](list []T, item T) []T {
	if len(list) >= maxDetails {
		return list
	}
	return append(list, item)
}

func appendText(text, more string) string {
	if text == "" {
		return more
	}
	return text + "; " + more
}
