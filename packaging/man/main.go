// Command man writes the manual pages of a command, from what the command says
// of itself with --help:
//
//	go run ./packaging/man BINARY DIRECTORY
//
// There is one page for the command and one for each command below it. It is a
// program of its own so that the command does not carry what only a build
// needs.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man BINARY DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func write(binary, dir string) error {
	f, ok := known[filepath.Base(binary)]
	if !ok {
		return fmt.Errorf("%s is no command that has manual pages", filepath.Base(binary))
	}
	pages, err := read(binary, nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range pages {
		name := filepath.Join(dir, p.name()+".1")
		if err := os.WriteFile(name, []byte(p.roff(pages, f)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// page is what --help says of a command.
type page struct {
	words    []string // of the command line, from the binary's name on
	summary  string   // what the list of commands says of it; empty for the command itself
	about    []string // paragraphs
	usage    []string
	commands [][2]string // name and summary
	flags    []flag
	global   []flag
}

type flag struct{ spec, text string }

func (p page) name() string { return strings.Join(p.words, "-") }

// read reads the help of a command and of those below it.
func read(binary string, words []string) ([]page, error) {
	out, err := exec.Command(binary, append(words[:len(words):len(words)], "--help")...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s --help: %w", binary, strings.Join(words, " "), err)
	}
	p, err := parse(string(out))
	if err != nil {
		return nil, fmt.Errorf("%s %s --help: %w", binary, strings.Join(words, " "), err)
	}
	p.words = append([]string{filepath.Base(binary)}, words...)
	pages := []page{p}
	for _, c := range p.commands {
		if c[0] == "help" || p.name() != filepath.Base(binary) { // one level of pages is enough
			continue
		}
		below, err := read(binary, append(words[:len(words):len(words)], c[0]))
		if err != nil {
			return nil, err
		}
		below[0].summary = c[1]
		pages = append(pages, below...)
	}
	return pages, nil
}

// parse reads a help text: paragraphs, then sections that begin with a line
// such as "Flags:".
func parse(help string) (page, error) {
	var p page
	section := ""
	for _, block := range strings.Split(strings.TrimSpace(help), "\n\n") {
		lines := strings.Split(block, "\n")
		if head := lines[0]; strings.HasSuffix(head, ":") && head[0] >= 'A' && head[0] <= 'Z' && !strings.Contains(head, ". ") && isSection(head) {
			section, lines = head, lines[1:]
		} else if section == "" {
			p.about = append(p.about, block)
			continue
		} else if strings.HasPrefix(head, "Use \"") {
			continue // where to find more help
		}
		switch section {
		case "Usage:":
			for _, l := range lines {
				p.usage = append(p.usage, strings.TrimSpace(l))
			}
		case "Available Commands:", "Additional Commands:":
			for _, l := range lines {
				name, text, _ := strings.Cut(strings.TrimSpace(l), " ")
				p.commands = append(p.commands, [2]string{name, strings.TrimSpace(text)})
			}
		case "Flags:":
			p.flags = flags(lines)
		case "Global Flags:":
			p.global = flags(lines)
		}
	}
	if len(p.about) == 0 || len(p.usage) == 0 {
		return p, fmt.Errorf("no description or no usage in %q", help)
	}
	return p, nil
}

func isSection(head string) bool {
	switch head {
	case "Usage:", "Available Commands:", "Additional Commands:", "Flags:", "Global Flags:", "Examples:", "Aliases:":
		return true
	}
	return false
}

// flags reads lines such as "  -o, --output string   format of results".
func flags(lines []string) []flag {
	var list []flag
	for _, l := range lines {
		l = strings.TrimSpace(l)
		spec, text, ok := strings.Cut(l, "   ")
		if !ok || !strings.HasPrefix(l, "-") {
			if n := len(list); n > 0 && !strings.HasPrefix(l, "-") {
				list[n-1].text += " " + l
				continue
			}
			spec = l
		}
		list = append(list, flag{spec, strings.TrimSpace(text)})
	}
	return list
}
