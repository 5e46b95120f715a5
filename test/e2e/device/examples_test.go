//go:build e2e

package device

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// example returns the block of docs/administration.md that is a file.
func example(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, "docs/administration.md"))
	check(t, err)
	_, rest, ok := strings.Cut(string(data), " "+name+"\n")
	text, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed {
		t.Fatalf("docs/administration.md has no block %s", name)
	}
	return text + "\n"
}

// dropIn is what all examples put on the device.
func dropIn(t *testing.T) string {
	return example(t, "/etc/microshift/config.d/50-feature-gates.yaml")
}

// TestAnsible has Ansible itself read the playbook.
func TestAnsible(t *testing.T) {
	playbook := example(t, "/tmp/feature-gates.yaml")
	indented := "          " + strings.ReplaceAll(strings.TrimSpace(dropIn(t)), "\n", "\n          ")
	if !strings.Contains(playbook, indented) {
		t.Error("the playbook does not write the drop-in of the document")
	}
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		skip(t, "needs ansible-playbook")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "playbook.yaml")
	check(t, os.WriteFile(file, []byte(playbook), 0o644))
	cmd := exec.Command("ansible-playbook", "--syntax-check", "-i", "microshift,", file)
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "WARNING") {
		t.Errorf("ansible-playbook --syntax-check: %v\n%s", err, out)
	}
}

// TestContainerfile checks instructions and here-documents as the reference of
// Containerfile(5) has them, and the shell's part by the shell.
func TestContainerfile(t *testing.T) {
	known := []string{"FROM", "RUN", "COPY", "ENV", "LABEL", "ARG", "USER", "WORKDIR"}
	lines := strings.Split(strings.TrimSpace(example(t, "/tmp/Containerfile")), "\n")
	heredoc := regexp.MustCompile(`<<(\w+) (\S+)$`)
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for strings.HasSuffix(line, `\`) {
			if i++; i == len(lines) {
				t.Fatal("the last line goes on")
			}
			line = strings.TrimSuffix(line, `\`) + lines[i]
		}
		word, rest, _ := strings.Cut(line, " ")
		if !slices.Contains(known, word) || rest == "" {
			t.Errorf("no instruction: %s", line)
		}
		if i == 0 && word != "FROM" {
			t.Errorf("it begins with %s", word)
		}
		if word == "RUN" {
			checkShell(t, rest)
		}
		if m := heredoc.FindStringSubmatch(rest); m != nil {
			end := slices.Index(lines[i:], m[1])
			if end < 0 {
				t.Fatalf("%s never ends", line)
			}
			if text := strings.Join(lines[i+1:i+end], "\n") + "\n"; text != dropIn(t) {
				t.Errorf("%s is not the drop-in of the document:\n%s", m[2], text)
			}
			i += end
		}
	}
}

// TestKickstart checks the sections, and has the shell read the script.
func TestKickstart(t *testing.T) {
	section, script := "", ""
	for line := range strings.Lines(example(t, "/tmp/feature-gates.ks")) {
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case word == "%end":
			if section == "" {
				t.Errorf("%s without a section", word)
			}
			section = ""
		case strings.HasPrefix(word, "%"):
			if section != "" || !slices.Contains([]string{"%packages", "%post"}, word) {
				t.Errorf("%s in section %q", word, section)
			}
			section = word
		case section == "%post":
			script += line
		case section == "%packages":
			if !strings.HasPrefix(word, "microshift-feature-gates") {
				t.Errorf("package %q", word)
			}
		case word != "":
			t.Errorf("outside of a section: %s", line)
		}
	}
	if section != "" {
		t.Errorf("section %s never ends", section)
	}
	checkShell(t, script)
	if !strings.Contains(script, "<<'EOF'\n"+dropIn(t)+"EOF\n") {
		t.Errorf("it does not write the drop-in of the document:\n%s", script)
	}
}

func checkShell(t *testing.T, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("bash -n: %v\n%s\n%s", err, out, script)
	}
}
