package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sum has the checksums of a registry file and of what it was made from, as
// they were when it was made. sumsFile has one line for each registry:
//
//	kubernetes-1.NN OUTPUT INPUTS
type sum struct{ output, inputs string }

// recordSum updates the line of a registry in sumsFile.
func recordSum(minor string) error {
	sums, err := readSums()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if sums == nil {
		sums = map[string]sum{}
	}
	if sums[minor], err = currentSum(minor); err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# sha256 of each registry and of its inputs when it was made; go run . -check compares them.\n")
	for _, m := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return number(a) - number(b) }) {
		fmt.Fprintf(&b, "kubernetes-%s %s %s\n", m, sums[m].output, sums[m].inputs)
	}
	return os.WriteFile(sumsFile, b.Bytes(), 0o644)
}

func readSums() (map[string]sum, error) {
	data, err := os.ReadFile(sumsFile)
	if err != nil {
		return nil, err
	}
	sums := map[string]sum{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if minor, ok := strings.CutPrefix(fields[0], "kubernetes-"); ok && len(fields) == 3 {
			sums[minor] = sum{output: fields[1], inputs: fields[2]}
		}
	}
	return sums, nil
}

// currentSum returns the checksums of a registry as it is, and of the files and
// older registries that it would be made from now. The rest of the generator
// does not count: it only has to build and run what kubernetes/ holds.
func currentSum(minor string) (sum, error) {
	output, err := hashFiles([]string{registryFile(minor)})
	if err != nil {
		return sum{}, err
	}
	files, err := filepath.Glob("kubernetes/*/*.go")
	if err != nil {
		return sum{}, err
	}
	files = append(files, "registry.go", "kubernetes/"+minor+".mod", "kubernetes/"+minor+".sum")
	sources, err := hashFiles(files)
	if err != nil {
		return sum{}, err
	}
	older, err := olderGates(minor)
	if err != nil {
		return sum{}, err
	}
	inputs := sha256.Sum256(fmt.Append(nil, sources, older)) // fmt sorts maps by key
	return sum{output: output, inputs: fmt.Sprintf("%x", inputs)}, nil
}

// hashFiles hashes names and contents.
func hashFiles(files []string) (string, error) {
	h := sha256.New()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.Base(file), len(data))
		h.Write(data)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// checkAll returns an error with one line for each thing that is stale.
func checkAll(targets []string) error {
	var stale []error
	for _, target := range targets {
		var err error
		switch minor, isRegistry := strings.CutPrefix(target, "kubernetes-"); {
		case target == "featuresets":
			err = checkFiles(featureSetsDir, featureSets)
		case target == "crds":
			err = checkFiles(crdsDir, crds)
		case isRegistry:
			err = checkRegistry(minor)
		default:
			return fmt.Errorf("unknown target %s", target)
		}
		if err != nil {
			stale = append(stale, fmt.Errorf("%w\n\trun: go -C assets/generate run . %s", err, target))
		}
	}
	return errors.Join(stale...)
}

func checkRegistry(minor string) error {
	recorded, err := readSums()
	if err != nil {
		return err
	}
	now, err := currentSum(minor)
	if err != nil {
		return err
	}
	switch was := recorded[minor]; {
	case was == sum{}:
		return fmt.Errorf("assets/gates/kubernetes-%s.yaml: no checksum recorded", minor)
	case was.output != now.output:
		return fmt.Errorf("assets/gates/kubernetes-%s.yaml: changed since it was generated", minor)
	case was.inputs != now.inputs:
		return fmt.Errorf("assets/gates/kubernetes-%s.yaml: stale, registry.go, kubernetes/*/*.go, kubernetes/%s.mod "+
			"or .sum, or the since of a gate in an older registry has changed", minor, minor)
	}
	return nil
}

// checkFiles compares dir with the files that from returns.
func checkFiles(dir string, from func() (map[string][]byte, error)) error {
	files, err := from()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var wrong []string
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			wrong = append(wrong, e.Name()+" is not generated")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			wrong = append(wrong, name+" is missing")
		} else if !bytes.Equal(data, files[name]) {
			wrong = append(wrong, name+" differs")
		}
	}
	if wrong != nil {
		return fmt.Errorf("assets/%s: %s", filepath.Base(dir), strings.Join(wrong, ", "))
	}
	return nil
}
