// Package e2e proves on real components what the rest of the module only
// claims: real etcd, kube-apiserver, kube-controller-manager, kube-scheduler
// and kubelet are started with what microshift-feature-gates prints, and asked
// what they made of it.
//
//	go test -tags e2e -v -timeout 60m ./test/e2e
//
// The first run builds the components (components/, modules of their own) into
// _output/e2e; later ones build only what has changed. Everything listens on
// loopback, at ports that are free, and is stopped by its process id, also when
// the tests are killed. The kubelet needs root and a mount namespace. What
// can't run here is skipped aloud, or fails where E2E_NO_SKIP is set.
package e2e
