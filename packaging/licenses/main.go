// Command licenses writes the licences of everything that is linked into a
// command: a list of the modules, and then every text that they come with.
//
//	go run ./packaging/licenses ./cmd/COMMAND > FILE
//
// It takes the modules from wherever the build takes them, a vendor directory
// or the module cache, and fails where a licence is missing or not recognised,
// so that no package leaves without.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licenses PACKAGE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(command string, w io.Writer) error {
	modules, err := linked(command)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range modules {
		errs = append(errs, m.identify())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return write(w, path.Base(command), modules)
}

// module is what is linked of a module, or the standard library.
type module struct {
	name, version string
	texts         []text
	licenses      []string // SPDX identifiers, sorted
}

// text is a file that must go along with what is linked.
type text struct {
	name string // within the module
	data string
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version string
		Main          bool
	}
}

// linked returns the modules of all packages that a command consists of, the
// standard library first.
func linked(command string) ([]*module, error) {
	std, err := standardLibrary()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", command)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the commands are built
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	modules := []*module{std}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return modules, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		i := slices.IndexFunc(modules, func(m *module) bool { return m.name == p.Module.Path })
		if i < 0 {
			i = len(modules)
			modules = append(modules, &module{name: p.Module.Path, version: p.Module.Version})
		}
		if err := modules[i].add(p); err != nil {
			return nil, err
		}
		slices.SortFunc(modules[1:], func(a, b *module) int { return strings.Compare(a.name, b.name) })
	}
}

// legal matches the names of files that hold a licence, or what a licence
// demands to be passed on.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// add adds the texts that apply to a package: those in its folder, and in the
// folders above up to that of its module.
func (m *module) add(p listed) error {
	rest := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, m.name), "/")
	for dir := p.Dir; ; dir, rest = filepath.Dir(dir), path.Dir(rest) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(rest, e.Name())
			known := slices.ContainsFunc(m.texts, func(t text) bool { return t.name == name })
			if known || !e.Type().IsRegular() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			m.texts = append(m.texts, text{name, string(data)})
		}
		if rest == "" || rest == "." {
			break
		}
	}
	slices.SortFunc(m.texts, func(a, b text) int { return strings.Compare(a.name, b.name) })
	return nil
}

// standardLibrary returns Go's own licence, which distributions may put
// elsewhere than into Go's folder.
func standardLibrary() (*module, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	var errs []error
	for _, file := range []string{filepath.Join(goroot, "LICENSE"), "/usr/share/licenses/golang/LICENSE"} {
		data, err := os.ReadFile(file)
		if err == nil {
			return &module{name: "std", version: version, texts: []text{{"LICENSE", string(data)}}}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("the licence of Go's standard library: %w", errors.Join(errs...))
}

// patents is what licensecheck calls the text of PATENTS, which grants something
// on top of a licence and is none.
const patents = "GooglePatentsFile"

// identify finds out which licences the texts are.
func (m *module) identify() error {
	for _, t := range m.texts {
		for _, match := range licensecheck.Scan([]byte(t.data)).Match {
			if !match.IsURL && match.ID != patents && !slices.Contains(m.licenses, match.ID) {
				m.licenses = append(m.licenses, match.ID)
			}
		}
	}
	slices.Sort(m.licenses)
	if len(m.licenses) == 0 {
		return fmt.Errorf("%s %s comes without a licence that is known", m.name, m.version)
	}
	return nil
}

// write writes the list and the texts, each text once.
func write(w io.Writer, command string, modules []*module) error {
	var b strings.Builder
	fmt.Fprintf(&b, "What is linked into %s besides its own source, and under which licences.\n\n", command)
	users := map[string][]string{} // by text
	var order []string
	for _, m := range modules {
		fmt.Fprintf(&b, "%s %s: %s\n", m.name, m.version, strings.Join(m.licenses, " AND "))
		for _, t := range m.texts {
			if users[t.data] == nil {
				order = append(order, t.data)
			}
			users[t.data] = append(users[t.data], m.name+" "+t.name)
		}
	}
	for _, data := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n%s\n", rule, strings.Join(users[data], "\n"), rule, strings.TrimRight(data, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var rule = strings.Repeat("=", 78)
