// Package assets holds the generated data that is compiled in. The commands
// in assets/generate make it; package gates gives it meaning.
package assets

import "embed"

// FS holds:
//   - gates/kubernetes-1.NN.yaml: the feature gates of that Kubernetes
//   - featuresets/featureGate-FROM-TO-SelfManagedHA-SET.yaml: what OpenShift's
//     feature sets switch on in the major versions FROM to TO
//   - crds/*.crd.yaml: OpenShift's CustomResourceDefinitions of FeatureGate and Node
//
//go:embed gates/*.yaml featuresets/*.yaml crds/*.yaml
var FS embed.FS
