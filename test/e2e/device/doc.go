// Package device proves on a real system what the product does on a device:
// Debian with its own systemd and journald in a container, the RPMs that
// packaging/rpm/build.sh builds installed by rpm, and a stand-in for
// MicroShift that has its unit and reports ready. The story of the device is
// told by journalctl and systemctl, and in the end by a real sos report.
//
//	go test -tags e2e -v -timeout 30m ./test/e2e/device
//
// Needs root, and Debian's debootstrap, systemd-container and rpm. The first
// run downloads the system into _output/e2e/device; later ones take it from
// there. What can't run here is skipped aloud, or fails where E2E_NO_SKIP is
// set. E2E_RPMS names a directory of RPMs to take instead of building them.
package device
