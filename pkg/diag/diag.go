// Package diag describes problems in configuration files as data: where they
// are, what is wrong, and what to do about it.
package diag

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a file. Line and Column count from 1, columns in
// characters (Unicode code points); 0 means unknown. File is the path as it
// is on the device, without any --root prefix.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line:column, leaving out what is unknown. A file name
// that does not print as itself is quoted, so that it can't forge output.
func (p Position) String() string {
	file := PrintableFile(p.File)
	switch {
	case p.Line == 0:
		return file
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", file, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
	}
}

// Compare orders positions by file, line and column.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		cmp.Compare(p.File, q.File),
		cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column),
	)
}

// Severity tells whether a diagnostic stops a start. The zero value is invalid.
type Severity int

// An Error stops the start; a Warning does not.
const (
	Error Severity = iota + 1
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return fmt.Sprintf("Severity(%d)", int(s))
	}
}

// MarshalText returns the same words as String; it fails for an invalid severity.
func (s Severity) MarshalText() ([]byte, error) {
	if s != Error && s != Warning {
		return nil, fmt.Errorf("invalid severity %d", int(s))
	}
	return []byte(s.String()), nil
}

// Diagnostic is one problem in the configuration.
type Diagnostic struct {
	Severity Severity
	Code     string     // stable, such as "gate-unknown"; each is a heading in docs/diagnostics.md
	Pos      Position   // where the problem is; the zero value where no file is at fault
	Path     string     // YAML path, such as apiServer.featureGates.customNoUpgrade.enabled[2]; may be empty
	Message  string     // what is wrong, one line
	Hint     string     // what to do about it, may span lines; may be empty
	Related  []Position // the other places that take part, such as where the same gate is disabled
}

// MarshalJSON writes the position's fields beside the others, as
// {"severity","code","file","line","column","path","message","hint","related"}.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Severity Severity `json:"severity"`
		Code     string   `json:"code"`
		Position
		Path    string     `json:"path,omitempty"`
		Message string     `json:"message"`
		Hint    string     `json:"hint,omitempty"`
		Related []Position `json:"related,omitempty"`
	}{d.Severity, d.Code, d.Pos, d.Path, d.Message, d.Hint, d.Related})
}

// String returns the diagnostic on one line, without its hint and its related
// places: file:line:column: severity: message [code].
func (d Diagnostic) String() string {
	var b strings.Builder
	if p := d.Pos.String(); p != "" {
		b.WriteString(p + ": ")
	}
	fmt.Fprintf(&b, "%s: %s [%s]", d.Severity, visible(d.Message), d.Code)
	return b.String()
}

// List is a set of diagnostics. Its zero value is empty and ready to use.
type List []Diagnostic

// Sort orders l by file, line, column and code, keeping the order of equals.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(a.Pos.Compare(b.Pos), cmp.Compare(a.Code, b.Code))
	})
}

// Errors returns the diagnostics that stop a start, in the order of l.
func (l List) Errors() List { return l.only(Error) }

// Warnings returns the diagnostics that do not stop a start, in the order of l.
func (l List) Warnings() List { return l.only(Warning) }

func (l List) only(s Severity) List {
	var out List
	for _, d := range l {
		if d.Severity == s {
			out = append(out, d)
		}
	}
	return out
}

// Err returns nil unless l holds an Error. Otherwise the result's text has one
// line for each Error.
func (l List) Err() error {
	errs := l.Errors()
	if len(errs) == 0 {
		return nil
	}
	lines := make([]string, len(errs))
	for i, d := range errs {
		lines[i] = d.String()
	}
	return errors.New(strings.Join(lines, "\n"))
}
