package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) validateCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate [FILE...]",
		Short: "Report every problem and write nothing",
		Long: `Report every problem that a start would find in the configuration and the lock,
and write nothing. With files, check these alone, merged in the order given.`,
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(_ *cobra.Command, files []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			out, err := look(o, files)
			if printErr := a.printProblems(out, err); printErr != nil {
				return printErr
			}
			switch {
			case err != nil:
				return failed(err)
			case out.Refusal() != nil:
				return verdict(out)
			case strict && len(out.Diagnostics) > 0:
				return &exitError{code: exitRejected}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	return cmd
}

// look judges the device, or the given files alone.
func look(o startup.Options, files []string) (*startup.Outcome, error) {
	if len(files) == 0 {
		return startup.Look(o)
	}
	read, problems, readErr := config.ReadFiles(files...)
	problems = slices.DeleteFunc(problems, func(d diag.Diagnostic) bool {
		return d.Code == "writable" // says something of files on a device only
	})
	out, err := startup.Check(o, read)
	out.Diagnostics = append(out.Diagnostics, problems...)
	out.Diagnostics.Sort()
	return out, errors.Join(readErr, err)
}

// printProblems prints the diagnostics, and for people a line that sums up,
// unless nothing at all could be read.
func (a *app) printProblems(out *startup.Outcome, unread error) error {
	list := out.Diagnostics
	if list == nil {
		list = diag.List{}
	}
	if a.output == "text" {
		a.printDiagnostics(out)
	}
	return a.print(map[string]any{"diagnostics": list}, func(p *page) {
		if unread != nil && len(list) == 0 && len(out.Files) == 0 {
			return
		}
		if out.Unconfigured {
			p.line("no configuration: neither %s nor a drop-in in %s", out.Options.Paths.Config, out.Options.Paths.Dir)
		}
		p.line("%s, %s in %s", count(len(list.Errors()), "error"), count(len(list.Warnings()), "warning"), count(len(out.Files), "file"))
	})
}

// count returns n with its noun, in the plural where that is right.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
