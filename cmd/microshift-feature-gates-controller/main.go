// Command microshift-feature-gates-controller runs beside MicroShift. It rolls
// feature gates that need a minimum kubelet version out over the nodes of a
// cluster, and publishes the FeatureGate object that operators ask.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes; 0 is fine.
const (
	exitUsage  = 2 // wrong usage
	exitFailed = 3 // the work could not be done
)

// usageError is a mistake on the command line.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the command and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stderr: stderr}
	cmd := a.command()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "microshift-feature-gates-controller: %v\n", err)
	var usage usageError
	if errors.As(err, &usage) || !a.checked { // cobra's own errors are about flags and arguments
		fmt.Fprintln(stderr, "Run 'microshift-feature-gates-controller --help' for usage.")
		return exitUsage
	}
	return exitFailed
}
