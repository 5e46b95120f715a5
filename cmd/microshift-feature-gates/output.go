package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// print writes a result to standard output: text as the function does it, or
// the value as JSON or YAML.
func (a *app) print(value any, text func() error) error {
	var data []byte
	var err error
	switch a.output {
	case "json":
		if data, err = json.MarshalIndent(value, "", "  "); err == nil {
			data = append(data, '\n')
		}
	case "yaml":
		data, err = yaml.Marshal(value)
	default:
		err = text()
	}
	if err == nil {
		_, err = a.stdout.Write(data)
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
