package main

import (
	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// printDiagnostics prints the problems for people, each with its source line
// as far as that may be shown, to standard error.
func (a *app) printDiagnostics(out *startup.Outcome) {
	printer := diag.Printer{Color: a.colorful(a.stderr), Source: config.SourceLines(out.Files)}
	_ = printer.Print(a.stderr, out.Diagnostics) // nobody is left to tell of a closed stderr
}
