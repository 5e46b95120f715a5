//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// configuration is a config.yaml.
type configuration struct {
	name, text string
	apiServer  string // a flag of kube-apiserver that it needs besides its gates
}

// configurations returns one of every kind that there is, and some that
// between them give every gate that can be set the value that it does not have
// by default. ComponentFlagz and APIResponseCompression, whose behaviour is
// checked, are on in some and off in others, in each Kubernetes version.
func configurations(t testing.TB, k kubernetes) []configuration {
	on, onWithAPI := k.split(k.registry(t), settable(k.registry(t), true))
	return []configuration{
		{name: "nothing"},
		{name: "TechPreview", text: "apiServer: {featureGates: {featureSet: TechPreviewNoUpgrade}}\n"},
		{name: "DevPreview", text: "apiServer: {featureGates: {featureSet: DevPreviewNoUpgrade}}\n"},
		{name: "Custom", text: `
apiServer:
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade:
      enabled: [MemoryQoS, ClusterTrustBundle, ClusterTrustBundleProjection, NoSuchGate, RouteExternalCertificate]
      disabled: [ComponentFlagz, APIResponseCompression, WatchList]
`},
		{name: "Exceptions", text: `
apiServer:
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade:
      enabled: [ComponentFlagz]
    specialHandlingSupportExceptionRequired:
      enabled: [ComponentStatusz, APIResponseCompression, GracefulNodeShutdownBasedOnPodPriority]
      disabled: [WatchListClient, ContextualLogging]
`},
		{name: "EveryGateOff", text: list("disabled", settable(k.registry(t), false))},
		{name: "EveryGateOn", text: list("enabled", on)},
		{name: "EveryGateOnThatNeedsAnAPI", text: list("enabled", onWithAPI), apiServer: "--runtime-config=api/all=true"},
	}
}

// list returns a configuration with one list of gates.
func list(key string, names []string) string {
	return fmt.Sprintf("apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {%s: [%s]}}}\n", key, strings.Join(names, ", "))
}

// settable returns all gates that are not enabled by default, and can be, all
// at once; or the other way round.
func settable(reg *gates.Registry, enabled bool) []string {
	var names []string
	needed := map[string]bool{} // by gates that are locked on
	for _, g := range reg.Gates() {
		if !g.Locked && g.Default != enabled && g.Name != "AllAlpha" && g.Name != "AllBeta" {
			names = append(names, g.Name)
		}
		if g.Locked && g.Default {
			for _, name := range g.Requires {
				needed[name] = true
			}
		}
	}
	if !enabled {
		names = slices.DeleteFunc(names, func(name string) bool {
			return needed[name] || slices.Contains(resolve.RequiredGates(), name)
		})
	}
	return names
}

// split returns which of the gates do not need an API that is off by default,
// and which do, themselves or by a gate that they need. StorageVersionAPI is
// in neither: even with its API, kube-apiserver is ready in time only on a
// fast machine. TestGatesThatNeedAnAPI has it.
func (k kubernetes) split(reg *gates.Registry, names []string) (without, with []string) {
	var needs func(name string) bool
	needs = func(name string) bool {
		g, _ := reg.Gate(name)
		_, listed := k.needAPI[name]
		return listed || slices.ContainsFunc(g.Requires, needs)
	}
	for _, name := range names {
		switch {
		case name == "StorageVersionAPI":
		case needs(name):
			with = append(with, name)
		default:
			without = append(without, name)
		}
	}
	return without, with
}
