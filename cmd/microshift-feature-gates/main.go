// Command microshift-feature-gates checks, explains and applies the Kubernetes
// feature gates of a MicroShift device.
package main

import (
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
