module github.com/microshift-io/microshift-feature-gates/assets/generate/kubernetes

go 1.26.0
