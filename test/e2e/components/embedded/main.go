package main

import (
	_ "github.com/sirupsen/logrus"
	_ "github.com/spf13/cobra"
	_ "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kubelet/app"

	_ "github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func main() {}
