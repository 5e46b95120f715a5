// Command writerollout writes a rollout file at the path that it is given, as
// the controller does.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

func main() {
	f := rollout.File{Generation: 2, Enabled: []string{"A"}, Minimum: rollout.V(1, 36, 0), Time: time.Unix(1_900_000_000, 0).UTC()}
	if err := rollout.WriteFile(os.Args[1], f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}
