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
type configuration struct{ name, text string }

// configurations returns one of every kind that there is, and two that between
// them give every gate that can be set the value that it does not have by
// default. ComponentFlagz and APIResponseCompression, whose behaviour is
// checked, are on in some and off in others, in each Kubernetes version.
func configurations(t testing.TB, k kubernetes) []configuration {
	return []configuration{
		{"nothing", ""},
		{"TechPreview", "apiServer: {featureGates: {featureSet: TechPreviewNoUpgrade}}\n"},
		{"DevPreview", "apiServer: {featureGates: {featureSet: DevPreviewNoUpgrade}}\n"},
		{"Custom", `
apiServer:
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade:
      enabled: [MemoryQoS, ClusterTrustBundle, ClusterTrustBundleProjection, NoSuchGate, RouteExternalCertificate]
      disabled: [ComponentFlagz, APIResponseCompression, WatchList]
`},
		{"Exceptions", `
apiServer:
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade:
      enabled: [ComponentFlagz]
    specialHandlingSupportExceptionRequired:
      enabled: [ComponentStatusz, APIResponseCompression, GracefulNodeShutdownBasedOnPodPriority]
      disabled: [WatchListClient, ContextualLogging]
`},
		{"EveryGateOn", list("enabled", settable(k.registry(t), true))},
		{"EveryGateOff", list("disabled", settable(k.registry(t), false))},
	}
}

// list returns a configuration with one list of gates.
func list(key string, names []string) string {
	return fmt.Sprintf("apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {%s: [%s]}}}\n", key, strings.Join(names, ", "))
}

// settable returns all gates that are not enabled by default, and can be, all
// at once, or the other way round.
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
