package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// components in the order in which a registry lists them. Each is a command in
// kubernetes/ that prints its own gate table. They are linked one by one since
// a program with two of them would show the gates of both.
var components = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"}

// spec and gate are what the commands in kubernetes/ print.
type spec struct {
	Version          string
	Stage            string
	Default          bool
	Locked           bool
	MinCompatibility string
}

type gate struct {
	Specs    []spec
	Requires []string
}

// table is the gate table of one component, by gate name.
type table map[string]gate

var kubernetesVersion = regexp.MustCompile(`^(1\.[0-9]+)(\.[0-9]+)?$`)

// generateRegistry makes the registry of ver, 1.NN or 1.NN.P.
func generateRegistry(ver string) error {
	match := kubernetesVersion.FindStringSubmatch(ver)
	if match == nil {
		return fmt.Errorf("%q is neither 1.NN nor 1.NN.P", ver)
	}
	minor := match[1]
	if match[2] != "" {
		if err := writeModFile(minor, ver); err != nil {
			return err
		}
	}
	source, err := pinned(minor)
	if err != nil {
		return fmt.Errorf("%w; name a patch version to take in a new Kubernetes", err)
	}
	tables, err := buildTables(minor)
	if err != nil {
		return err
	}
	older, err := olderGates(minor)
	if err != nil {
		return err
	}
	data, err := registry(minor, source, tables, older)
	if err != nil {
		return err
	}
	if err := os.WriteFile(registryFile(minor), data, 0o644); err != nil {
		return err
	}
	return recordSum(minor)
}

// writeModFile writes kubernetes/MINOR.mod and .sum, which pin Kubernetes ver.
// The go.mod of k8s.io/kubernetes has the modules that are developed in its
// own repository at v0.0.0; they are published as v0.NN.P with each v1.NN.P.
// When one of them can't be had, tidying fails: write the version before it in
// its place, by hand, and run go mod tidy -modfile=MINOR.mod in kubernetes/.
func writeModFile(minor, ver string) error {
	dir, err := moduleDir("k8s.io/kubernetes@v" + ver)
	if err != nil {
		return err
	}
	original, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	goVersion := regexp.MustCompile(`(?m)^go .*$`).Find(original)
	staging := regexp.MustCompile(`(?m)^\t(k8s\.io/\S+) => \./staging/`).FindAllSubmatch(original, -1)
	if goVersion == nil || staging == nil {
		return fmt.Errorf("the go.mod of k8s.io/kubernetes v%s is not as expected", ver)
	}
	ownModule, err := os.ReadFile("kubernetes/go.mod")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n%s\n\n", regexp.MustCompile(`(?m)^module .*$`).Find(ownModule), goVersion)
	fmt.Fprintf(&b, "require k8s.io/kubernetes v%s\n\nreplace (\n", ver)
	for _, m := range staging {
		fmt.Fprintf(&b, "\t%s => %s v0%s\n", m[1], m[1], strings.TrimPrefix(ver, "1"))
	}
	b.WriteString(")\n")
	if err := os.WriteFile("kubernetes/"+minor+".mod", b.Bytes(), 0o644); err != nil {
		return err
	}
	return command("go", "mod", "tidy", "-modfile="+minor+".mod").Run()
}

// pinned returns the module and version that kubernetes/MINOR.mod pins, such
// as "k8s.io/kubernetes v1.36.2".
func pinned(minor string) (string, error) {
	data, err := os.ReadFile("kubernetes/" + minor + ".mod")
	if err != nil {
		return "", err
	}
	source := regexp.MustCompile(`k8s\.io/kubernetes v1\.\S+`).Find(data)
	if source == nil {
		return "", fmt.Errorf("kubernetes/%s.mod does not require k8s.io/kubernetes", minor)
	}
	return string(source), nil
}

// buildTables builds the four components of a Kubernetes and runs each, in the
// order of components. The flags are those of the components that the tests
// run, so that one build cache serves both.
func buildTables(minor string) ([]table, error) {
	dir, err := os.MkdirTemp("", "gates-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	build := command("go", "build", "-trimpath", "-ldflags=-s -w", "-modfile="+minor+".mod", "-o", dir+"/")
	for _, c := range components {
		build.Args = append(build.Args, "./"+c)
	}
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build of the components: %w", err)
	}
	tables := make([]table, len(components))
	for i, c := range components {
		out, err := exec.Command(filepath.Join(dir, c)).Output()
		if err != nil {
			return nil, fmt.Errorf("gates of %s: %w", c, err)
		}
		if err := json.Unmarshal(out, &tables[i]); err != nil {
			return nil, fmt.Errorf("gates of %s: %w", c, err)
		}
	}
	return tables, nil
}

// command runs in kubernetes/ and shows what it prints.
func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = "kubernetes"
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd
}
