//go:build e2e

package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// takeOutput makes the folder for output and waits until no other run uses it.
func takeOutput() (unlock func(), err error) {
	if err := os.MkdirAll(output, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(output, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}

// program returns the path of a component, which is built if need be.
func (k kubernetes) program(t testing.TB, name string) string {
	t.Helper()
	group := []string{name}
	if slices.Contains(k.programs, name) {
		group = k.programs
	}
	once, _ := builds.LoadOrStore(k.minor+"/"+group[0], sync.OnceValue(func() error { return k.build(group) }))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return k.path(name)
}

// builds has each group of programs that is built together: its name to func() error.
var builds sync.Map

func (k kubernetes) path(name string) string { return filepath.Join(output, k.minor, name) }

// build builds either the components of Kubernetes or one of our own.
func (k kubernetes) build(names []string) error {
	dir := filepath.Join(repository, "test/e2e/components", k.module)
	var packages, inputs []string
	for _, name := range names {
		if slices.Contains(k.programs, name) {
			packages = append(packages, "k8s.io/kubernetes/cmd/"+name)
			continue
		}
		packages = append(packages, "./"+name)
		inputs = append(inputs, filepath.Join(dir, name))
		if name == "embedded" {
			inputs = append(inputs, filepath.Join(repository, "pkg"), filepath.Join(repository, "assets"))
		}
	}
	return k.buildOnce(dir, packages, inputs)
}

// buildOnce builds packages of the module in dir unless that has been done
// with the same inputs: the pinned versions, the flags, the Go version and the
// content of the given folders.
func (k kubernetes) buildOnce(dir string, packages, inputs []string) error {
	version, err := k.version(dir)
	if err != nil {
		return err
	}
	parts := strings.Split(version, ".")
	const stamp = "-X k8s.io/component-base/version."
	args := []string{"-ldflags=-s -w " + stamp + "gitVersion=" + version + " " + stamp + "gitMajor=1 " + stamp + "gitMinor=" + parts[1],
		"-o", filepath.Join(output, k.minor) + "/"}
	args = append(args, packages...)
	sum, err := inputSum(args, dir, inputs)
	if err != nil {
		return err
	}
	sumFile := k.path(filepath.Base(packages[0])) + ".inputs"
	if old, err := os.ReadFile(sumFile); err == nil && string(old) == sum && k.built(packages) {
		return nil
	}
	fmt.Printf("e2e: building %s of Kubernetes %s\n", baseNames(packages), version)
	start := time.Now()
	if err := goBuild(dir, args...); err != nil {
		return err
	}
	fmt.Printf("e2e: built in %s\n", time.Since(start).Round(time.Second))
	return os.WriteFile(sumFile, []byte(sum), 0o644)
}

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+k8s\.io/kubernetes (v\S+)`)

// version returns the Kubernetes version that the module in dir pins.
func (k kubernetes) version(dir string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	match := requirement.FindSubmatch(mod)
	if match == nil || !strings.HasPrefix(string(match[1]), "v"+k.minor+".") {
		return "", fmt.Errorf("%s/go.mod does not require k8s.io/kubernetes v%s", dir, k.minor)
	}
	return string(match[1]), nil
}

func (k kubernetes) built(packages []string) bool {
	return !slices.ContainsFunc(packages, func(p string) bool {
		_, err := os.Stat(k.path(filepath.Base(p)))
		return err != nil
	})
}

func baseNames(packages []string) string {
	var names []string
	for _, p := range packages {
		names = append(names, filepath.Base(p))
	}
	return strings.Join(names, ", ")
}

// inputSum returns the checksum of all that a build in dir is made from.
func inputSum(args []string, dir string, folders []string) (string, error) {
	toolchain, err := exec.Command("go", "env", "GOVERSION", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %q\n", toolchain, args)
	files := []string{filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && e.Name() == "generate" {
				return fs.SkipDir // not part of the program
			}
			if err == nil && e.Type().IsRegular() && !strings.HasSuffix(path, "_test.go") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %x\n", file, sha256.Sum256(data))
	}
	return fmt.Sprintf("%x\n", h.Sum(nil)), nil
}

// goBuild runs go build in dir. Its flags are those of the generator of the
// registries, so that one build cache serves both.
func goBuild(dir string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-trimpath"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build in %s: %w", dir, err)
	}
	return nil
}

// TestVersions checks that the components are of the very versions that the
// registries were made from.
func TestVersions(t *testing.T) {
	each(t, func(t *testing.T, k kubernetes) {
		version, err := k.version(filepath.Join("components", k.module))
		if err != nil {
			t.Fatal(err)
		}
		if want, got := k.registry(t).Source(), "k8s.io/kubernetes "+version; got != want {
			t.Errorf("the registry was made from %s, the components are of %s; run components/pin.sh %s %s", want, got, k.module, strings.TrimPrefix(want, "k8s.io/kubernetes v"))
		}
		out, err := exec.Command(k.program(t, "kube-apiserver"), "--version").Output()
		if want := "Kubernetes " + version + "\n"; err != nil || string(out) != want {
			t.Errorf("kube-apiserver --version prints %q (%v), want %q", out, err, want)
		}
	})
}
