// Package table prints the feature gates of the component it is linked into.
package table

import (
	"encoding/json"
	"log"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// spec and gate are what the generator reads; it declares the same fields.
type spec struct {
	Version          string `json:"version"`
	Stage            string `json:"stage"`
	Default          bool   `json:"default"`
	Locked           bool   `json:"locked,omitempty"`
	MinCompatibility string `json:"minCompatibility,omitempty"`
}

type gate struct {
	Specs    []spec                `json:"specs"`
	Requires []featuregate.Feature `json:"requires,omitempty"`
}

// Print writes the process-wide gate table to stdout as a JSON object from
// gate name to specs and needed gates. Call it after the component's command
// was made, since that may add gates.
func Print() {
	gates := map[featuregate.Feature]*gate{}
	for name, specs := range utilfeature.DefaultMutableFeatureGate.GetAllVersioned() {
		g := &gate{}
		for _, s := range specs {
			g.Specs = append(g.Specs, spec{
				Version:          s.Version.String(),
				Stage:            stage(string(s.PreRelease)),
				Default:          s.Default,
				Locked:           s.LockToDefault,
				MinCompatibility: minCompatibility(s),
			})
		}
		gates[name] = g
	}
	// Gates depend on each other since Kubernetes 1.35.
	var table any = utilfeature.DefaultMutableFeatureGate
	if t, ok := table.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); ok {
		for name, requires := range t.Dependencies() {
			gates[name].Requires = requires
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(gates); err != nil {
		log.Fatal(err)
	}
}

// stage gives GA, whose prerelease is "", a name.
func stage(prerelease string) string {
	if prerelease == string(featuregate.GA) {
		return "ga"
	}
	return strings.ToLower(prerelease)
}

// minCompatibility returns s.MinCompatibilityVersion as text, or "" where it
// is nil or, before Kubernetes 1.35, there is no such field.
func minCompatibility(s featuregate.FeatureSpec) string {
	field := reflect.ValueOf(s).FieldByName("MinCompatibilityVersion")
	if !field.IsValid() || field.IsNil() {
		return ""
	}
	return field.Interface().(*version.Version).String()
}
