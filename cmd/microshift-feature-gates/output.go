package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// print writes a result to standard output: for people as text puts it on a
// page, or the value as JSON or YAML.
func (a *app) print(value any, text func(*page)) error {
	var data string
	var err error
	switch a.output {
	case "json":
		data, err = encodeJSON(value)
	case "yaml":
		data, err = encodeYAML(value)
	default:
		p := &page{color: a.colorful(a.stdout)}
		text(p)
		data = p.text.String()
	}
	if err == nil {
		_, err = io.WriteString(a.stdout, data)
	}
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("cannot write the result: %w", err)}
	}
	return nil
}

// verdict returns the error that ends a command with the exit code that a
// start with this outcome would have. The diagnostics must have been printed.
func verdict(out *startup.Outcome) error {
	r := out.Refusal()
	switch {
	case r == nil:
		return nil
	case r.ByLock:
		return &exitError{code: exitLocked}
	default:
		return &exitError{code: exitRejected}
	}
}

// failed wraps an error of the work itself.
func failed(err error) error {
	if err == nil {
		return nil
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return err
	}
	return &exitError{exitFailed, err}
}
