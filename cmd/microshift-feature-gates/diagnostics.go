package main

import (
	"fmt"

	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// printDiagnostics prints the problems for people, to standard error.
func (a *app) printDiagnostics(out *startup.Outcome) {
	for _, d := range out.Diagnostics {
		fmt.Fprintln(a.stderr, d)
		if d.Hint != "" {
			fmt.Fprintln(a.stderr, "  hint: "+d.Hint)
		}
	}
}
