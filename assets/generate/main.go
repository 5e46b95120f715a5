// Command generate makes everything in assets/ that is generated: the gate
// registries, the feature sets and the CustomResourceDefinitions.
//
//	go -C assets/generate run . [-check] [TARGET...]
//
// A TARGET is featuresets, crds, kubernetes-1.NN or kubernetes-1.NN.P; without
// one, all that are there already. The last form takes in a new Kubernetes or
// moves one to another patch: it writes kubernetes/1.NN.mod, which pins the
// version and all its dependencies, so that the form without a patch makes the
// same bytes ever after.
//
// A registry needs the four components of its Kubernetes built, which takes
// minutes. So -check remakes only the rest, and of each registry compares the
// checksums that were recorded when it was made, its own and that of what it
// was made from. It changes nothing, and exits 1 naming all that is stale and
// the command to run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Where things are, seen from this folder.
const (
	gatesDir       = "../gates"
	featureSetsDir = "../featuresets"
	crdsDir        = "../crds"
	sumsFile       = "sums.txt"
)

func main() {
	check := flag.Bool("check", false, "report what is stale and write nothing")
	flag.Parse()
	if err := run(*check, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(check bool, targets []string) error {
	if _, err := os.Stat("kubernetes/go.mod"); err != nil {
		return fmt.Errorf("run it as go -C assets/generate run . : %w", err)
	}
	if len(targets) == 0 {
		var err error
		if targets, err = allTargets(); err != nil {
			return err
		}
	}
	if check {
		return checkAll(targets)
	}
	for _, target := range targets {
		if err := generate(target); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}

// allTargets returns the targets of all that is there, older Kubernetes first
// since newer registries depend on the older ones.
func allTargets() ([]string, error) {
	mods, err := filepath.Glob("kubernetes/1.*.mod")
	if err != nil {
		return nil, err
	}
	registries, err := filepath.Glob(registryFile("*"))
	if err != nil {
		return nil, err
	}
	targets := []string{"featuresets", "crds"}
	for _, minor := range sortedMinors(append(mods, registries...)) {
		targets = append(targets, "kubernetes-"+minor)
	}
	return targets, nil
}

func generate(target string) error {
	switch target {
	case "featuresets":
		return generateFiles(featureSetsDir, featureSets)
	case "crds":
		return generateFiles(crdsDir, crds)
	}
	ver, ok := strings.CutPrefix(target, "kubernetes-")
	if !ok {
		return errors.New("unknown target")
	}
	return generateRegistry(ver)
}

// generateFiles makes dir hold the files that from returns, and no others.
func generateFiles(dir string, from func() (map[string][]byte, error)) error {
	files, err := from()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sortedMinors takes the 1.NN out of file names such as kubernetes-1.36.yaml
// and 1.36.mod and returns each once, sorted by number.
func sortedMinors(files []string) []string {
	var numbers []int
	for _, file := range files {
		var n int
		name := strings.TrimPrefix(filepath.Base(file), "kubernetes-")
		if _, err := fmt.Sscanf(name, "1.%d.", &n); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	minors := make([]string, len(numbers))
	for i, n := range numbers {
		minors[i] = fmt.Sprintf("1.%d", n)
	}
	return minors
}
