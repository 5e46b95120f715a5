// Package cluster proves on a real kube-apiserver and etcd what
// microshift-feature-gates-controller does in a cluster: rollouts over 500
// Nodes, one of them with a real kubelet, through conflicts, restarts and
// controllers that are killed.
//
//	go test -tags e2e -v -timeout 60m ./test/e2e/cluster
//
// It uses the components that ../components builds into _output/e2e. Everything
// listens on loopback.
package cluster
