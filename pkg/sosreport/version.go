package sosreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
)

var versionText = pattern(`v?\d+\.\d+\.\d+[-~+^_.0-9A-Za-z]*`)

// readTold reads a file in which sos has put what a command said.
func (c *collector) readTold(name string, r io.Reader) error {
	if c.told++; c.told > maxTold {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile))
	if path.Base(name) == shown {
		c.keepShown(text)
	} else {
		c.keepVersion(name, text)
	}
	return err
}

// keepVersion keeps the version that a file tells. Of several files, the first
// by name counts, wherever it is in an archive.
func (c *collector) keepVersion(name string, text []byte) {
	v := versionIn(string(text))
	switch {
	case v == "":
	case name == dataVersion:
		c.dataVersion = v
	case c.saidBy == "" || name < c.saidBy:
		c.said, c.saidBy = v, name
	}
}

// keepShown keeps what "show" said that the device does not have. Where it
// could not read something, it said so behind its JSON.
func (c *collector) keepShown(text []byte) {
	var device struct {
		Files       []json.RawMessage
		Lock        struct{ State string }
		Diagnostics []struct{ File string }
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if d.Decode(&device) != nil {
		return
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return
	}
	c.report.NoLock = device.Lock.State == "absent"
	c.report.NoConfiguration = device.Files != nil && len(device.Files) == 0
	for _, problem := range device.Diagnostics {
		if strings.HasPrefix(problem.File, "/etc/microshift/") { // it is there, and no file
			c.report.NoConfiguration = false
		}
	}
}

// tellVersion decides which version of MicroShift the report is of. What
// microshift itself said comes before what the data says, and that before
// what the last start says: the data may be of an older one.
func (c *collector) tellVersion() {
	r := &c.report
	switch {
	case c.said != "":
		r.Version, r.VersionFrom = c.said, c.saidBy
	case c.dataVersion != "":
		r.Version, r.VersionFrom = c.dataVersion, dataVersion
	}
	for i := len(r.Starts) - 1; i >= 0 && r.Version == ""; i-- {
		if s := r.Starts[i]; s.MicroShift != "" {
			r.Version, r.VersionFrom = s.MicroShift, s.journal
		}
	}
}

// versionIn finds the version in what microshift version prints, as JSON or
// as text, or in the version file of the data.
func versionIn(text string) string {
	var answer struct {
		GitVersion string `json:"gitVersion"`
		Version    string `json:"version"`
	}
	if json.Unmarshal([]byte(text), &answer) == nil {
		if answer.GitVersion != "" {
			return answer.GitVersion
		}
		return answer.Version
	}
	for line := range strings.Lines(text) {
		if v := versionText().FindString(line); v != "" {
			return v
		}
	}
	return ""
}
