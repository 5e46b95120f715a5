// Command kube-controller-manager prints the feature gates that kube-controller-manager recognises.
package main

import (
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/microshift-io/microshift-feature-gates/assets/generate/kubernetes/table"
)

func main() {
	app.NewControllerManagerCommand()
	table.Print()
}
