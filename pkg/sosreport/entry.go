package sosreport

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// line is one line of a journal or syslog in the usual form:
// "Nov 30 13:24:27 host ident[pid]: text".
type line struct {
	ident, pid, text string
}

// pattern returns a regular expression that is compiled when it is first used:
// no other command shall wait for what only inspect needs.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// linePattern has the forms of time that journalctl and rsyslog print; what
// they are does not matter, since entries of the product carry their own time.
// Each part must be where it belongs: a program can write a text that looks
// like the line of another, and choose nearly any name for itself.
var linePattern = pattern(`^(?:` +
	`[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?` + // short, short-precise
	`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)` + // short-iso, rsyslog
	`|[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+` + // short-full
	`|\[ *\d+\.\d+\]` + // short-monotonic
	`|\d+\.\d+` + // short-unix
	`) \S+ ([A-Za-z0-9_.@/-]{1,128})(?:\[(\d{1,10})\])?: (.*)$`)

func parseLine(raw string) (line, bool) {
	m := linePattern().FindStringSubmatch(raw)
	if m == nil {
		return line{}, false
	}
	return line{m[1], m[2], m[3]}, true
}

// entry is what the product's logger writes, in text or JSON.
type entry struct {
	at         time.Time // zero where the entry has none
	level, msg string
	fields     map[string]string
}

// parseEntry reads key=value text or a JSON object, as logrus writes them.
func parseEntry(text string) (entry, bool) {
	fields, ok := map[string]string(nil), false
	if strings.HasPrefix(text, "{") {
		fields, ok = jsonFields(text)
	} else if strings.HasPrefix(text, "time=") || strings.HasPrefix(text, "level=") {
		fields, ok = textFields(text)
	}
	if !ok || fields["level"] == "" {
		return entry{}, false
	}
	e := entry{level: fields["level"], msg: fields["msg"], fields: fields}
	if at, err := time.Parse(time.RFC3339, fields["time"]); err == nil {
		e.at = at.UTC()
	}
	return e, true
}

func jsonFields(text string) (map[string]string, bool) {
	var values map[string]any
	if json.Unmarshal([]byte(text), &values) != nil {
		return nil, false
	}
	fields := map[string]string{}
	for k, v := range values {
		if s, ok := v.(string); ok {
			fields[k] = s
		} else {
			fields[k] = fmt.Sprint(v)
		}
	}
	return fields, true
}

// textFields reads key=value pairs; a value is quoted as in Go where it is not
// plain. The first of two fields of one name counts: logrus' own come first.
func textFields(text string) (map[string]string, bool) {
	fields := map[string]string{}
	for text != "" {
		key, rest, ok := strings.Cut(text, "=")
		if !ok || key == "" || strings.ContainsAny(key, " \"") {
			return nil, false
		}
		value := ""
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, false // cut off
			}
			if value, err = strconv.Unquote(quoted); err != nil {
				return nil, false
			}
			rest = rest[len(quoted):]
		} else {
			value, _, _ = strings.Cut(rest, " ")
			rest = rest[len(value):]
		}
		if _, twice := fields[key]; !twice {
			fields[key] = value
		}
		text = strings.TrimPrefix(rest, " ")
	}
	return fields, true
}
