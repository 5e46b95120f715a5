// Package assets holds the data that is compiled in. The commands in
// assets/generate make all but rollout; packages gates, publish and rollout give
// it meaning.
package assets

import "embed"

// FS holds:
//   - gates/kubernetes-1.NN.yaml: the feature gates of that Kubernetes
//   - featuresets/featureGate-FROM-TO-SelfManagedHA-SET.yaml: what OpenShift's
//     feature sets switch on in the major versions FROM to TO
//   - crds/*.crd.yaml: OpenShift's CustomResourceDefinitions of FeatureGate and Node
//   - rollout/guarded.yaml: the gates that need every kubelet to be of a version
//
//go:embed gates/*.yaml featuresets/*.yaml crds/*.yaml rollout/*.yaml
var FS embed.FS
