package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
)

// deviceFile is what who packages the product, or administers a device, has
// chosen for it. It counts for every command, so that each judges a start as
// the one that systemd runs does.
const deviceFile = "/etc/sysconfig/microshift-feature-gates"

// setting returns the value of a global flag, and where it is from: the command
// line, or else the text of the device's file, or else the flag's default.
func (a *app) setting(flag, value string, file func() (string, error)) (v, from string, err error) {
	if a.given(flag) {
		return value, "--" + flag, nil
	}
	text, err := file()
	if err != nil {
		return "", "", &exitError{exitFailed, err}
	}
	variable := "MICROSHIFT_FEATURE_GATES_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	if v, line := assigned(text, variable); line > 0 {
		return v, fmt.Sprintf("%s:%d: %s", deviceFile, line, variable), nil
	}
	return value, "--" + flag, nil
}

// readDeviceFile returns the text of the file below root, which is empty where there is none.
func readDeviceFile(root string) (string, error) {
	host, err := config.DefaultPaths(root).HostPath(deviceFile)
	if err != nil {
		return "", fmt.Errorf("%s: %w", deviceFile, err)
	}
	files, problems, err := config.ReadFiles(host)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	switch err := errors.Join(err, problems.Err()); {
	case err != nil: // without the path on this host
		return "", errors.New(strings.ReplaceAll(err.Error(), host, deviceFile))
	case len(files) == 0: // a link that leads nowhere
		return "", nil
	}
	return string(files[0].Data), nil
}

// assigned returns what a text that systemd could take for an EnvironmentFile=
// assigns to a variable, and in which line, counted from 1. The last one counts;
// line is 0 where there is none. Comments begin with # or ;, and quotes around a
// value are no part of it. A backslash has no meaning, and a value ends with its
// line; neither makes a difference to values that are right.
func assigned(text, variable string) (value string, line int) {
	n := 0
	for l := range strings.Lines(text) {
		n++
		name, v, ok := strings.Cut(l, "=")
		if !ok || strings.TrimSpace(name) != variable {
			continue
		}
		value, line = strings.TrimSpace(v), n
		if last := len(value) - 1; last > 0 && value[0] == value[last] && strings.ContainsRune(`"'`, rune(value[0])) {
			value = value[1:last]
		}
	}
	return value, line
}
