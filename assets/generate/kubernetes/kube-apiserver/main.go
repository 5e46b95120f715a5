// Command kube-apiserver prints the feature gates that kube-apiserver recognises.
package main

import (
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/microshift-io/microshift-feature-gates/assets/generate/kubernetes/table"
)

func main() {
	app.NewAPIServerCommand()
	table.Print()
}
