package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// The exit codes; 0 is fine.
const (
	exitRejected = 1 // the configuration is rejected
	exitUsage    = 2 // wrong usage
	exitFailed   = 3 // the work could not be done
	exitLocked   = 4 // stopped by the lock
)

// exitError ends the command with a code. Its error is printed unless nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a mistake on the command line.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// oneArgument is for a command that needs the argument of its Use line.
func oneArgument(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError("want one argument, got %d: %s", len(args), strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
	return nil
}

// app holds the global flags and where the output goes.
type app struct {
	stdout, stderr io.Writer

	root, version, policy string
	output                string
	logFormat, logLevel   string
	color                 string
	given                 func(flag string) bool // whether the command line has a global flag
}

// run executes the command and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	cmd := a.command()
	cmd.SetArgs(args)
	err := cmd.Execute()
	if err == nil {
		return 0
	}
	var exit *exitError
	if !errors.As(err, &exit) { // cobra's own errors are about flags and arguments
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		for line := range strings.SplitSeq(exit.err.Error(), "\n") {
			fmt.Fprintf(stderr, "microshift-feature-gates: %s\n", oneLine(line))
		}
	}
	if exit.code == exitUsage {
		fmt.Fprintln(stderr, "Run 'microshift-feature-gates --help' for usage.")
	}
	return exit.code
}

func (a *app) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "microshift-feature-gates",
		Short: "Check, explain and apply the Kubernetes feature gates of a MicroShift device",
		Long: `Check, explain and apply the Kubernetes feature gates that a MicroShift device
is configured with, in /etc/microshift/config.yaml and /etc/microshift/config.d.

Feature gates are for development and test systems, never for production.

Exit codes: 0 fine, 1 the configuration is rejected, 2 wrong usage, 3 the work
could not be done, 4 stopped by the lock.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.checkFlags() },
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SetOut(a.stdout)
	cmd.SetErr(a.stderr)
	f := cmd.PersistentFlags()
	a.given = f.Changed
	f.StringVar(&a.root, "root", "/", "`DIR` that goes before every path: a mounted image or an unpacked sosreport")
	f.StringVar(&a.version, "microshift-version", "", "running `VERSION` of MicroShift (default: ask microshift on the PATH)")
	f.StringVar(&a.policy, "upgrade-policy", "none", "version changes that a lock lets through: none or z-stream; if not given, that of "+deviceFile)
	f.StringVarP(&a.output, "output", "o", "text", "format of results: text, json or yaml")
	f.StringVar(&a.logFormat, "log-format", "text", "format of logs: text or json; if not given, that of "+deviceFile)
	f.StringVar(&a.logLevel, "log-level", "info", "least severe log entries that are shown: error, warn, info or debug")
	f.StringVar(&a.color, "color", "auto", "colour in texts: auto, always or never")
	cmd.AddCommand(
		a.prestartCommand(), a.validateCommand(), a.showCommand(), a.flagsCommand(),
		a.explainCommand(), a.gatesCommand(), a.featureSetsCommand(), a.lockCommand(),
		a.upgradeCheckCommand(), a.renderCommand(), a.inspectCommand(), a.versionCommand(),
	)
	completeFlags(cmd)
	return cmd
}

// checkFlags checks the global flags that are chosen from a list.
func (a *app) checkFlags() error {
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"output", a.output, []string{"text", "json", "yaml"}},
		{"log-format", a.logFormat, []string{"text", "json"}},
		{"log-level", a.logLevel, []string{"error", "warn", "info", "debug"}},
		{"color", a.color, []string{"auto", "always", "never"}},
	} {
		if err := checkChoice("--"+f.name, f.value, f.allowed...); err != nil {
			return err
		}
	}
	return a.checkRoot()
}

// checkChoice checks a value that is chosen from a list; from says where it is.
func checkChoice(from, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return usageError("%s %.100q: want one of %s", from, value, strings.Join(allowed, ", "))
	}
	return nil
}

// checkRoot makes --root absolute: links are followed below it, which a
// relative path with .. in it would make ambiguous.
func (a *app) checkRoot() error {
	if info, err := os.Stat(a.root); err != nil {
		return &exitError{exitFailed, fmt.Errorf("--root: %w", err)}
	} else if !info.IsDir() {
		return usageError("--root %s: not a directory", a.root)
	}
	root, err := filepath.Abs(a.root)
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("--root: %w", err)}
	}
	a.root = root
	return nil
}

// options returns the options of a start from the global flags, and from the
// file of the device for what these leave open.
func (a *app) options() (startup.Options, error) {
	var o startup.Options
	file := sync.OnceValues(func() (string, error) { return readDeviceFile(a.root) })
	text, from, err := a.setting("upgrade-policy", a.policy, file)
	if err != nil {
		return o, err
	}
	policy, err := lock.ParsePolicy(text)
	if err != nil {
		return o, usageError("%s: %w", from, err)
	}
	format, from, err := a.setting("log-format", a.logFormat, file)
	if err != nil {
		return o, err
	}
	if err := checkChoice(from, format, "text", "json"); err != nil {
		return o, err
	}
	running, err := a.runningVersion()
	if err != nil {
		return o, err
	}
	o = startup.DefaultOptions(a.root, running)
	o.Policy = policy
	o.Log, err = a.logger(format)
	return o, err
}

// runningVersion returns the version of the flag, or else MicroShift's own word.
func (a *app) runningVersion() (lock.Version, error) {
	if a.version != "" {
		v, err := lock.ParseVersion(a.version)
		if err != nil {
			return v, usageError("--microshift-version: %w", err)
		}
		return v, nil
	}
	if a.root != "/" {
		return lock.Version{}, &exitError{exitUsage, errors.New("--root needs --microshift-version: the microshift of this host is not that of the directory")}
	}
	v, err := askMicroShift()
	if err != nil {
		return v, &exitError{exitFailed, fmt.Errorf("cannot tell the running version: %w; give it with --microshift-version", err)}
	}
	return v, nil
}

// askMicroShift runs microshift version -o json.
func askMicroShift() (lock.Version, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "microshift", "version", "-o", "json").Output()
	if err != nil {
		return lock.Version{}, fmt.Errorf("microshift version -o json: %w", err)
	}
	var answer struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return lock.Version{}, fmt.Errorf("microshift version -o json: %w", err)
	}
	return lock.ParseVersion(answer.GitVersion)
}

// colorful reports whether texts that go to w are coloured.
func (a *app) colorful(w io.Writer) bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS) // only a terminal has settings
	return err == nil
}
