package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/sirupsen/logrus"
	"go.yaml.in/yaml/v3"
)

// What comes from files may hold anything, and must neither forge a line of
// output nor steer a terminal. So every character that does not print as
// itself leaves as an escape sequence of the format in question: controls,
// those that turn the reading direction, and those that are invisible.

// escape returns text with each such character replaced by what with returns.
func escape(text string, with func(rune) string) string {
	if isPrintable(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(with(r))
		}
	}
	return b.String()
}

func isPrintable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}

// oneLine makes a text for people printable: a line break becomes \n.
func oneLine(text string) string {
	return escape(strings.ToValidUTF8(text, "\ufffd"), func(r rune) string { return strings.Trim(strconv.QuoteRune(r), "'") })
}

// jsonEscape is for a character in a JSON text (RFC 8259 section 7). Line
// breaks stand between values there, never in one.
func jsonEscape(r rune) string {
	if r == '\n' {
		return "\n"
	}
	if high, low := utf16.EncodeRune(r); high != '\ufffd' {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// yamlEscape is for a character in a double-quoted scalar of YAML (YAML 1.2.2
// section 5.7), which has no surrogates.
func yamlEscape(r rune) string {
	switch {
	case r == '\n':
		return "\n"
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// encodeJSON returns value as indented JSON that ends with a line break.
func encodeJSON(value any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(value)
	return escape(b.String(), jsonEscape), err
}

// encodeYAML returns value as YAML, with the keys named and ordered as in JSON.
func encodeYAML(value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var doc yaml.Node // JSON is YAML, once surrogates are written the other way
	if err := yaml.Unmarshal([]byte(escape(string(data), yamlEscape)), &doc); err != nil {
		return "", err
	}
	if err := plain(&doc); err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err = enc.Encode(&doc)
	return escape(b.String(), yamlEscape), err
}

// plain takes JSON's braces and quotes away where YAML does without them. A
// text keeps its quotes where it would be another type, in YAML 1.1 too, and
// where it has something to escape.
func plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		text := n.Value
		if err := n.Encode(text); err != nil {
			return err
		}
		if !isPrintable(text) {
			n.Style = yaml.DoubleQuotedStyle
		}
	case len(n.Content) > 0:
		n.Style = 0
	}
	for _, child := range n.Content {
		if err := plain(child); err != nil {
			return err
		}
	}
	return nil
}

// jsonLog writes log entries as JSON, one on each line.
type jsonLog struct{ logrus.JSONFormatter }

// Format implements logrus.Formatter.
func (f *jsonLog) Format(e *logrus.Entry) ([]byte, error) {
	data, err := f.JSONFormatter.Format(e)
	return []byte(escape(string(data), jsonEscape)), err
}
