// Package trust tests on the real command what a device must be able to rely
// on: that a start which is killed or which the disk fails leaves the lock
// absent or complete, that many starts at once leave one, that no device tree
// makes a start read or allocate without bound, and that what is built is the
// same wherever it is built.
//
//	make crash                                            # everything
//	go test -tags e2e -short -v ./test/trust              # a sample
//	TRUST_ROUNDS=1000 go test -tags e2e -v -run StartsOnce ./test/trust
//
// Faults are injected by strace, so that the command is the one that is
// shipped. What can't run here is skipped aloud, or fails where E2E_NO_SKIP is
// set. TRUST_BINARY names a built command to test; else one is built.
package trust
