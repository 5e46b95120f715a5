// Command kube-scheduler prints the feature gates that kube-scheduler recognises.
package main

import (
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/microshift-io/microshift-feature-gates/assets/generate/kubernetes/table"
)

func main() {
	app.NewSchedulerCommand()
	table.Print()
}
