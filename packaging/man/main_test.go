package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPages has each command's page tell of that command, and of no other.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		command, page string
		has, not      []string
	}{
		{
			command: "microshift-feature-gates", page: "microshift-feature-gates",
			has: []string{"\n.B \"/etc/sysconfig/microshift-feature-gates\"\n", "no-upgrade", "Stopped by the lock.", "prestart(1)"},
			not: []string{"kubeadmin", "-controller", "SIGTERM"},
		},
		{
			command: "microshift-feature-gates", page: "microshift-feature-gates-lock",
			has: []string{"Stopped by the lock.", "microshift-feature-gates(1)"},
			not: []string{"FILES", "-controller", "prestart(1)"},
		},
		{
			command: "microshift-feature-gates-controller", page: "microshift-feature-gates-controller",
			has: []string{
				"\n.B \"/etc/sysconfig/microshift-feature-gates-controller\"\n", "kubeadmin/kubeconfig", "feature-gates-rollout.json", "SIGTERM",
				"microshift-feature-gates(1)",
			},
			not: []string{"/etc/sysconfig/microshift-feature-gates\"", "no-upgrade", "prerun_failed", "Stopped by the lock.", "rejected"},
		},
	} {
		data, err := os.ReadFile(filepath.Join(written(t, c.command), c.page+".1"))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`\-`, "-", `\fB`, "", `\fP`, "").Replace(string(data))
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("the page of %s lacks %q:\n%s", c.page, want, text)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("the page of %s has %q:\n%s", c.page, not, text)
			}
		}
	}
}

// written builds a command, and returns where its pages are.
func written(t *testing.T, command string) string {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, command)
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/"+command).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := write(binary, filepath.Join(dir, "man")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "man")
}

// TestUnknownCommand has no pages made up for a command that nothing is known of.
func TestUnknownCommand(t *testing.T) {
	if err := write("/bin/true", t.TempDir()); err == nil || !strings.Contains(err.Error(), "true") {
		t.Errorf("the error is %v, want one that names the command", err)
	}
}
