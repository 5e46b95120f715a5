package gates

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/assets"
)

// The feature sets that may be configured. Default is what applies when none is.
const (
	Default              = ""
	CustomNoUpgrade      = "CustomNoUpgrade"
	TechPreviewNoUpgrade = "TechPreviewNoUpgrade"
	DevPreviewNoUpgrade  = "DevPreviewNoUpgrade"
)

// FeatureSetNames returns the feature sets that may be configured, Default first.
func FeatureSetNames() []string {
	return []string{Default, CustomNoUpgrade, TechPreviewNoUpgrade, DevPreviewNoUpgrade}
}

// Set is what a feature set of OpenShift says about gates. Every gate that
// OpenShift knows is in one of the two lists, most of them gates of OpenShift's
// own operators which no component of Kubernetes recognises.
type Set struct {
	Name              string
	Enabled, Disabled []string // sorted
}

// FeatureSet returns the set of that name for MicroShift's major version, from
// OpenShift's manifests of the profile SelfManagedHA. A major version older or
// newer than all manifests gets the nearest. The error is not nil when name is
// CustomNoUpgrade, which the configuration defines, or not a set at all.
//
// Default is for information: MicroShift does not inherit OpenShift's defaults.
func FeatureSet(name string, major int) (Set, error) {
	if name == CustomNoUpgrade || !slices.Contains(FeatureSetNames(), name) {
		return Set{}, fmt.Errorf("feature set %q has no gates of its own", name)
	}
	file, err := manifestFor(name, major)
	if err != nil {
		return Set{}, err
	}
	data, err := assets.FS.ReadFile(file)
	if err != nil {
		return Set{}, fmt.Errorf("read embedded feature set: %w", err)
	}
	set, err := decodeSet(data)
	if err != nil {
		return Set{}, fmt.Errorf("embedded %s: %w", file, err)
	}
	set.Name = name
	return set, nil
}

// manifestFor returns the file of the set for the major version.
func manifestFor(set string, major int) (string, error) {
	if set == Default {
		set = "Default" // as OpenShift spells it in file names
	}
	entries, err := assets.FS.ReadDir("featuresets")
	if err != nil {
		return "", fmt.Errorf("list embedded feature sets: %w", err)
	}
	files := make([]string, len(entries))
	for i, e := range entries {
		files[i] = e.Name()
	}
	file, err := nearestManifest(files, set, major)
	return "featuresets/" + file, err
}

// nearestManifest returns that of files which is of set and begins with the
// newest major version not after major, or else with the oldest. They are
// named featureGate-FROM-TO-PROFILE-SET.yaml or featureGate-FROM-PROFILE-SET.yaml,
// and their ranges have no gaps between them.
func nearestManifest(files []string, set string, major int) (string, error) {
	nearest, nearestFrom := "", 0
	for _, file := range files {
		parts := strings.Split(strings.TrimSuffix(file, ".yaml"), "-")
		if parts[len(parts)-1] != set || len(parts) < 4 {
			continue
		}
		from, err := strconv.Atoi(parts[1])
		if err != nil {
			return "", fmt.Errorf("embedded featuresets/%s: %w", file, err)
		}
		nearer := from <= major && from > nearestFrom || nearestFrom > major && from < nearestFrom
		if nearest == "" || nearer {
			nearest, nearestFrom = file, from
		}
	}
	if nearest == "" {
		return "", fmt.Errorf("no embedded manifest of feature set %s", set)
	}
	return nearest, nil
}

// decodeSet reads a FeatureGate manifest. OpenShift writes them as JSON.
func decodeSet(data []byte) (Set, error) {
	type gate struct {
		Name string `json:"name"`
	}
	var manifest struct {
		Status struct {
			FeatureGates []struct {
				Enabled  []gate `json:"enabled"`
				Disabled []gate `json:"disabled"`
			} `json:"featureGates"`
		} `json:"status"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return Set{}, err
	}
	if n := len(manifest.Status.FeatureGates); n != 1 {
		return Set{}, fmt.Errorf("%d elements in status.featureGates, want 1", n)
	}
	names := func(gates []gate) []string {
		list := make([]string, len(gates))
		for i, g := range gates {
			list[i] = g.Name
		}
		slices.Sort(list)
		return list
	}
	details := manifest.Status.FeatureGates[0]
	return Set{Enabled: names(details.Enabled), Disabled: names(details.Disabled)}, nil
}
