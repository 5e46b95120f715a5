package sosreport

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var versionText = regexp.MustCompile(`v?\d+\.\d+\.\d+[-~+^_.0-9A-Za-z]*`)

// keepVersion keeps the text of a file that tells the version.
func (c *collector) keepVersion(name string, text []byte) {
	if c.versions == nil {
		c.versions = map[string]string{}
	}
	c.versions[name] = string(text)
}

// tellVersion decides which version of MicroShift the report is of. What
// microshift itself said comes before what the data says, and that before
// what the journal says of the last start: the data may be of an older one.
func (c *collector) tellVersion() {
	var names []string
	for name := range c.versions {
		if name != dataVersion {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range append(names, dataVersion) {
		if v := versionIn(c.versions[name]); v != "" {
			c.report.Version, c.report.VersionFrom = v, name
			return
		}
	}
	for _, j := range c.journals {
		for _, s := range j.starts {
			if s.MicroShift != "" {
				c.report.Version, c.report.VersionFrom = s.MicroShift, j.name
			}
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
		if v := versionText.FindString(line); v != "" {
			return v
		}
	}
	return ""
}
