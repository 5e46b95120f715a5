// Command kubelet prints the feature gates that kubelet recognises.
package main

import (
	"context"
	"log"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/microshift-io/microshift-feature-gates/assets/generate/kubernetes/table"
)

func main() {
	switch newCommand := any(app.NewKubeletCommand).(type) {
	case func() *cobra.Command: // Kubernetes 1.33 and before
		newCommand()
	case func(context.Context) *cobra.Command:
		newCommand(context.Background())
	default:
		log.Fatalf("app.NewKubeletCommand has the unexpected type %T", newCommand)
	}
	table.Print()
}
