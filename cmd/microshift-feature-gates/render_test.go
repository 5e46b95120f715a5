package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// TestRenderSame writes out each preview set for each MicroShift, and holds the
// drop-in against the set: it must be accepted, and give the same flags.
func TestRenderSame(t *testing.T) {
	for _, kube := range gates.Versions() {
		for _, release := range gates.ReleasesOf(kube) {
			for _, set := range []string{gates.TechPreviewNoUpgrade, gates.DevPreviewNoUpgrade} {
				t.Run(release+"/"+set, func(t *testing.T) {
					root := t.TempDir()
					device := []string{"--root", root, "--microshift-version", release + ".0"}
					configure(t, root, "apiServer:\n  featureGates:\n    featureSet: "+set+"\n")
					want := allFlags(t, device)
					drop := mustRun(t, append(device, "render"))

					configure(t, root, drop)
					if got := allFlags(t, device); got != want {
						t.Errorf("the drop-in gives\n%s\nwant, as with the set,\n%s\nThe drop-in:\n%s", got, want, drop)
					}
					mustRun(t, append(device, "validate", "--strict"))
				})
			}
		}
	}
}

// configure makes text the only configuration of a device.
func configure(t *testing.T, root, text string) {
	t.Helper()
	path := filepath.Join(root, "etc/microshift/config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// allFlags returns what each component of a device is given, a line each.
func allFlags(t *testing.T, device []string) string {
	t.Helper()
	text := ""
	for _, c := range componentNames() {
		text += c + " " + mustRun(t, append(device, "flags", c))
	}
	return text
}

// mustRun returns what a command prints. It must end with 0.
func mustRun(t *testing.T, args []string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != 0 {
		t.Fatalf("%v ended with exit code %d, want 0\n%s%s", args, code, &stdout, &stderr)
	}
	return stdout.String()
}
