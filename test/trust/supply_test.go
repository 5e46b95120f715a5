//go:build e2e

package trust

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	repository = "../.."
	mainCmd    = "microshift-feature-gates"
	controller = mainCmd + "-controller"
)

// do runs a command that must not fail, and returns what it prints.
func do(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out := finish(t, cmd)
	if out.code != 0 {
		t.Fatalf("%v exits with %d:\n%s%s", cmd, out.code, out.stdout, out.stderr)
	}
	return out.stdout
}

// copySource copies the sources, as git sees them, to a folder.
func copySource(t testing.TB, to string) {
	t.Helper()
	names := do(t, exec.Command("git", "-C", repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard"))
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		from, copied := filepath.Join(repository, name), filepath.Join(to, name)
		info, err := os.Lstat(from)
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(copied), 0o755))
		if info.Mode()&os.ModeSymlink != 0 {
			target, err := os.Readlink(from)
			must(t, err)
			must(t, os.Symlink(target, copied))
			continue
		}
		data, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(copied, data, info.Mode().Perm()))
	}
}

// TestSameBytes builds the sources in two folders and two environments, and
// wants the same bytes. The second build takes nothing from the cache of the
// first; a short run lets it, and builds one command.
func TestSameBytes(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		skip(t, "there is no make")
	}
	goEnv := strings.Fields(do(t, exec.Command("go", "env", "GOMODCACHE", "GOCACHE", "GOPROXY")))
	top := t.TempDir()
	elsewhere := filepath.Join(top, "modules")
	must(t, os.Symlink(goEnv[0], elsewhere))
	cache := filepath.Join(top, "cache")
	commands := []string{mainCmd, controller}
	if testing.Short() {
		cache, commands = goEnv[1], commands[:1]
	}
	builds := []struct {
		folder string
		env    []string
	}{
		{"a", []string{"HOME=/nonexistent", "GOMODCACHE=" + goEnv[0], "GOCACHE=" + goEnv[1], "TZ=UTC"}},
		{"another/much longer/folder", []string{"HOME=" + top, "GOMODCACHE=" + elsewhere, "GOCACHE=" + cache, "TZ=Asia/Tokyo", "LC_ALL=C", "USER=somebody", "GOMAXPROCS=1"}},
	}
	sums := map[string]string{}
	for _, b := range builds {
		folder := filepath.Join(top, b.folder)
		copySource(t, folder)
		make := exec.Command("make", "build", "RELEASE=v1.2.3", "COMMANDS=./cmd/"+strings.Join(commands, " ./cmd/"))
		make.Dir = folder
		make.Env = append(b.env, "PATH="+os.Getenv("PATH"), "GOTOOLCHAIN=local", "GOPROXY="+goEnv[2])
		do(t, make)
		for _, command := range commands {
			data, err := os.ReadFile(filepath.Join(folder, "_output/bin", command))
			must(t, err)
			sum := fmt.Sprintf("%x", sha256.Sum256(data))
			if first, ok := sums[command]; ok && sum != first {
				t.Errorf("%s built in %s has the SHA-256 %s, want %s", command, b.folder, sum, first)
			}
			sums[command] = sum
		}
	}
	note("built twice to the same bytes: %v", sums)
}

// linked returns the modules that a built command says it is linked from, as
// "path version", with the standard library as std.
func linked(t testing.TB, file string) []string {
	t.Helper()
	info, err := buildinfo.ReadFile(file)
	must(t, err)
	list := []string{"std " + info.GoVersion}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, m.Path+" "+m.Version)
	}
	return list
}

// builtCommands returns the commands' files. A short run has one.
func builtCommands(t testing.TB) map[string]string {
	t.Helper()
	commands := map[string]string{mainCmd: binary}
	if !testing.Short() {
		file, err := build(t.TempDir(), repository+"/cmd/"+controller)
		must(t, err)
		commands[controller] = file
	}
	return commands
}

// TestLicenses compares the licences that the packages carry with what the
// commands are linked from: each module is listed, its texts are there, and the
// licences are those of the package's tag. The result does not depend on
// whether the modules come from the cache or from a vendor directory.
func TestLicenses(t *testing.T) {
	spec, err := os.ReadFile(repository + "/packaging/rpm/" + mainCmd + ".spec")
	must(t, err)
	tags := regexp.MustCompile(`(?m)^License: +(.*)$`).FindAllStringSubmatch(string(spec), -1)
	if len(tags) != 3 { // the command, greenboot's check, the controller
		t.Fatalf("%d licence tags, want 3", len(tags))
	}
	tag := map[string]string{mainCmd: tags[0][1], controller: tags[2][1]}
	for command, file := range builtCommands(t) {
		list := exec.Command("go", "run", "./packaging/licenses", "./cmd/"+command)
		list.Dir = repository
		text := do(t, list)
		head, _, _ := strings.Cut(text, "\n\n=====")
		_, head, _ = strings.Cut(head, "\n\n")
		var modules []string
		licenses := []string{"Apache-2.0"} // our own
		for line := range strings.SplitSeq(head, "\n") {
			module, ids, _ := strings.Cut(line, ": ")
			modules = append(modules, module)
			licenses = append(licenses, strings.Split(ids, " AND ")...)
		}
		if want := linked(t, file); !slices.Equal(modules, want) {
			t.Errorf("%s: licences of\n%s\nwant those of\n%s", command, strings.Join(modules, "\n"), strings.Join(want, "\n"))
		}
		slices.Sort(licenses)
		if got := strings.Join(slices.Compact(licenses), " AND "); got != tag[command] {
			t.Errorf("%s: the licences are %s, and the package's tag is %s", command, got, tag[command])
		}
		for _, m := range modules {
			checkTexts(t, text, strings.Fields(m)[0])
		}
	}
	if testing.Short() {
		return
	}
	vendored := t.TempDir()
	copySource(t, vendored)
	for _, args := range [][]string{{"mod", "vendor"}, {"run", "./packaging/licenses", "./cmd/" + controller}} {
		cmd, same := exec.Command("go", args...), exec.Command("go", args...)
		cmd.Dir, same.Dir = vendored, repository
		cmd.Env = append(os.Environ(), "GOFLAGS=")
		if out := do(t, cmd); args[0] == "run" && out != do(t, same) {
			t.Error("the licences from a vendor directory are others than those from the module cache")
		}
	}
}

// checkTexts wants the licence and notice at the top of a module, or of Go, to
// be in a text.
func checkTexts(t testing.TB, text, module string) {
	t.Helper()
	dir := strings.TrimSpace(do(t, exec.Command("go", "env", "GOROOT")))
	if module != "std" {
		dir = strings.TrimSpace(do(t, exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)))
	}
	found := 0
	for _, pattern := range []string{"LICENSE*", "COPYING*", "NOTICE*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		must(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			must(t, err)
			if found++; !strings.Contains(text, strings.TrimRight(string(data), "\n")) {
				t.Errorf("%s of %s is missing", filepath.Base(name), module)
			}
		}
	}
	if found == 0 {
		t.Errorf("%s has no licence", module)
	}
}

// TestBillOfMaterials compares what make sbom writes with what the commands
// are linked from. Two runs write the same.
func TestBillOfMaterials(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a tool")
	}
	bin, err := filepath.Abs(filepath.Join(repository, "_output/bin"))
	must(t, err)
	tools, err := filepath.Glob(filepath.Join(bin, "cyclonedx-gomod-*")) // else make builds it
	must(t, err)
	var first map[string]string
	for range 2 {
		out := t.TempDir()
		must(t, os.Mkdir(filepath.Join(out, "bin"), 0o755))
		for _, tool := range tools {
			must(t, os.Symlink(tool, filepath.Join(out, "bin", filepath.Base(tool))))
		}
		make := exec.Command("make", "-C", repository, "sbom", "OUTPUT="+out, "RELEASE=v1.2.3")
		if result := finish(t, make); result.code != 0 {
			commands, err := filepath.Glob(filepath.Join(out, "bin", mainCmd+"*"))
			must(t, err)
			tool, err := filepath.Glob(filepath.Join(out, "bin", "cyclonedx-gomod-*"))
			must(t, err)
			if len(commands) == 2 && len(tool) == 0 {
				skip(t, "cyclonedx-gomod can't be had: %s", result.stderr)
			}
			t.Fatalf("make sbom exits with %d:\n%s", result.code, result.stderr)
		}
		written := map[string]string{}
		for _, command := range []string{mainCmd, controller} {
			data, err := os.ReadFile(filepath.Join(out, "sbom", command+".cdx.json"))
			must(t, err)
			written[command] = string(data)
			checkBill(t, command, data, linked(t, filepath.Join(out, "bin", command)))
			if first != nil && first[command] != string(data) {
				t.Errorf("%s: a second run writes another list", command)
			}
		}
		first = written
	}
}

// checkBill compares a list in CycloneDX's format (version 1.6) with modules.
func checkBill(t testing.TB, command string, data []byte, want []string) {
	t.Helper()
	var bill struct {
		BOMFormat   string `json:"bomFormat"`
		SpecVersion string `json:"specVersion"`
		Metadata    struct {
			Component struct{ Name, Version, PURL string }
		}
		Components []struct{ Name, Version, PURL string }
	}
	must(t, json.Unmarshal(data, &bill))
	const module = "github.com/microshift-io/microshift-feature-gates"
	if c := bill.Metadata.Component; bill.BOMFormat != "CycloneDX" || bill.SpecVersion != "1.6" || c.Name != module || c.Version != "v1.2.3" {
		t.Errorf("%s: the list is %s %s of %s %s", command, bill.BOMFormat, bill.SpecVersion, c.Name, c.Version)
	}
	var got []string
	for _, c := range bill.Components {
		got = append(got, c.Name+" "+c.Version)
		if !strings.HasPrefix(c.PURL, "pkg:golang/"+c.Name+"@"+c.Version) {
			t.Errorf("%s: %s %s has the package URL %s", command, c.Name, c.Version, c.PURL)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the list has\n%s\nwant\n%s", command, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
