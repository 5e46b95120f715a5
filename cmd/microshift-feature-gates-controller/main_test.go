package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"--help", 0, "--install-crds"},
		{"now", exitUsage, "unknown command"},
		{"--nonsense", exitUsage, "--nonsense"},
		{"--log-format xml", exitUsage, "want text or json"},
		{"--log-level loud", exitUsage, "--log-level"},
		{"--listen :9099", exitUsage, "loopback"},
		{"--listen 0.0.0.0:9099", exitUsage, "loopback"},
		{"--listen localhost:9099", exitUsage, "loopback"},
		{"--leader-elect-retry-period 2m", exitUsage, "more than twice the retry period"},
		{"--leader-elect-lease-duration 4m", exitUsage, "must last longer than the deadline"},
		{"--root ROOT", exitFailed, "kubeadmin/kubeconfig"},
	} {
		var out bytes.Buffer
		args := strings.Fields(strings.ReplaceAll(tt.args, "ROOT", t.TempDir()))
		if code := run(t.Context(), args, &out, &out); code != tt.code || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", tt.args, code, tt.code, tt.says, &out)
		}
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.1.2.3:1": true, "[::1]:1": true,
		"127.0.0.1": false, "10.0.0.1:1": false, "[::]:1": false, "example.com:1": false, "": false,
	} {
		if loopback(address) != want {
			t.Errorf("loopback(%q) = %t", address, !want)
		}
	}
}

// TestOptions has what the controller takes from the configuration: nothing is
// decided nor published by one with which MicroShift would not start.
func TestOptions(t *testing.T) {
	minimum := rollout.V(1, 30, 0)
	for _, tt := range []struct {
		name, section string
		minimum       *rollout.Version
		set           string // that is published; "nothing": nothing is
	}{
		{"none", "{}", &rollout.Version{}, ""},
		{"minimum", "{minimumKubeletVersion: 1.30.0}", &minimum, ""},
		{"gate", "{featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [WatchList]}}", &rollout.Version{}, "CustomNoUpgrade"},
		{"bad minimum", "{minimumKubeletVersion: 1.30}", nil, "nothing"},
		{"unknown gate", "{minimumKubeletVersion: 1.30.0, featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [NoSuch=true]}}", nil, "nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range map[string]string{
				"etc/microshift/config.yaml": "apiServer:\n  featureGates: " + tt.section + "\n",
				"var/lib/microshift/version": `{"version":"4.22.0"}`,
			} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			log := logrus.New()
			log.SetOutput(t.Output())
			a := &app{root: root, node: "here"}
			o, err := a.options(log)
			if err != nil {
				t.Fatal(err)
			}
			if (o.Minimum == nil) != (tt.minimum == nil) || o.Minimum != nil && *o.Minimum != *tt.minimum {
				t.Errorf("minimum %v, want %v", o.Minimum, tt.minimum)
			}
			set := "nothing"
			if o.FeatureGate != nil {
				set = string(o.FeatureGate.Spec.FeatureSet)
			}
			if set != tt.set {
				t.Errorf("%q is published, want %q", set, tt.set)
			}
			if len(o.Guarded) != 3 || o.File != filepath.Join(root, rollout.FilePath) || o.Election != nil || o.Restart != nil {
				t.Errorf("%+v", o)
			}
		})
	}
}
