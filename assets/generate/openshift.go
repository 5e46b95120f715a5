package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	// Nothing of it is used: the import keeps the module's version in go.mod
	// and its checksum in go.sum. This package of it has no dependencies.
	_ "github.com/openshift/api/annotations"
)

// majors are the major versions of MicroShift to make feature sets for.
var majors = []int{4, 5}

// featureSets returns OpenShift's FeatureGate manifests of the profile
// SelfManagedHA, which MicroShift follows, for the sets that name gates.
//
// A gate in openshift/api is switched on per cluster profile, feature set and,
// since 2026, major version. The manifests are written per range of major
// versions with equal content, named featureGate-FROM-TO-PROFILE-SET.yaml (or
// -FROM- alone), and the annotation release.openshift.io/major-version lists
// the range. There is no finer grain: minor versions live on branches of
// openshift/api, and the pinned commit is of the branch that MicroShift 5.0
// uses. At that commit no gate depends on the major version, so there is one
// file for each set, of range 4-10, that serves 4.19 to 5.0. Should a gate
// come to differ, the files for 4 and for 5 are both copied, names and all,
// and package gates takes the one whose range has the running major version.
func featureSets() (map[string][]byte, error) {
	manifests, err := payload("featuregates")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, set := range []string{"Default", "TechPreviewNoUpgrade", "DevPreviewNoUpgrade"} {
		for _, major := range majors {
			file, err := manifestFor(manifests, set, major)
			if err != nil {
				return nil, err
			}
			if files[filepath.Base(file)], err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// manifestFor returns the file in dir for set whose annotation lists major.
func manifestFor(dir, set string, major int) (string, error) {
	candidates, err := filepath.Glob(filepath.Join(dir, "featureGate-*-SelfManagedHA-"+set+".yaml"))
	if err != nil {
		return "", err
	}
	for _, file := range candidates {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		var manifest struct {
			Metadata struct{ Annotations map[string]string }
		}
		if err := json.Unmarshal(data, &manifest); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		listed := manifest.Metadata.Annotations["release.openshift.io/major-version"]
		for item := range strings.SplitSeq(listed, ",") {
			if item == strconv.Itoa(major) {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("openshift/api has no manifest of %s for major version %d", set, major)
}

// crds returns the definitions that publishing needs. That of Node is the
// variant for CustomNoUpgrade: like those of the other NoUpgrade sets, but
// unlike the default one, it has minimumKubeletVersion.
func crds() (map[string][]byte, error) {
	dir, err := payload("crds")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, source := range map[string]string{
		"featuregates.crd.yaml": "0000_10_config-operator_01_featuregates.crd.yaml",
		"nodes.crd.yaml":        "0000_10_config-operator_01_nodes-CustomNoUpgrade.crd.yaml",
	} {
		if files[name], err = os.ReadFile(filepath.Join(dir, source)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// payload returns a folder of payload-manifests in the pinned openshift/api,
// downloading the module when it is not in the module cache.
func payload(folder string) (string, error) {
	dir, err := moduleDir("github.com/openshift/api")
	return filepath.Join(dir, "payload-manifests", folder), err
}

// moduleDir returns where the module cache has module, PATH or PATH@VERSION.
func moduleDir(module string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	var result struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &result); jsonErr != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, err)
	}
	if result.Error != "" {
		return "", fmt.Errorf("go mod download %s: %s", module, result.Error)
	}
	return result.Dir, nil
}
