package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const cliDir = "docs/cli"

// TestCommandReference compares docs/cli with what the commands say about
// themselves. With -update it writes the files.
func TestCommandReference(t *testing.T) {
	pages := map[string]string{}
	commandPages(t, pages, build(t), nil)
	dir := filepath.Join("..", cliDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := pages[e.Name()]; ok {
			continue
		}
		if !*update {
			t.Errorf("%s/%s: no such command", cliDir, e.Name())
		} else if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, page := range pages {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if data, err := os.ReadFile(path); err != nil || string(data) != page {
			t.Errorf("%s/%s is stale; run: make generate", cliDir, name)
		}
	}
}

var subcommand = regexp.MustCompile(`(?m)^  ([a-z-]+) +(\S.*)$`)

// commandPages adds the page of a command and of those below it.
func commandPages(t *testing.T, pages map[string]string, binary string, words []string) {
	t.Helper()
	out, err := exec.Command(binary, append(slices.Clone(words), "--help")...).Output()
	if err != nil {
		t.Fatalf("%v --help: %v", words, err)
	}
	help := string(out)
	full := strings.Join(append([]string{"microshift-feature-gates"}, words...), " ")
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- Generated, do not edit: make generate -->\n<!-- device: MicroShift 5.0.0 -->\n\n", full)
	b.WriteString("```console\n$ " + full + " --help\n" + strings.TrimRight(help, "\n") + "\n```\n")
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var links []string
	for _, m := range subcommand.FindAllStringSubmatch(list, -1) {
		if m[1] == "help" {
			continue
		}
		below := append(slices.Clone(words), m[1])
		links = append(links, fmt.Sprintf("- [%s](%s): %s", strings.Join(below, " "), pageName(below), m[2]))
		commandPages(t, pages, binary, below)
	}
	if len(links) > 0 {
		b.WriteString("\n" + strings.Join(links, "\n") + "\n")
	}
	pages[pageName(words)] = b.String()
}

func pageName(words []string) string {
	if len(words) == 0 {
		return "README.md"
	}
	return strings.Join(words, "_") + ".md"
}
