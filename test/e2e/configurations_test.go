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

// configurations returns one of every kind that there is, and some that
// between them give every gate that can be set the value that it does not have
// by default. ComponentFlagz and APIResponseCompression, whose behaviour is
// checked, are on in some and off in others, in each Kubernetes version.
func configurations(t testing.TB, k kubernetes) []configuration {
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
		{name: "EveryGateOn", text: list("enabled", settable(k.registry(t), true))},
	}
}

// list returns a configuration with one list of gates.
func list(key string, names []string) string {
	return fmt.Sprintf("apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {%s: [%s]}}}\n", key, strings.Join(names, ", "))
}

// settable returns all gates that are not enabled by default, and can be, all
// at once; or the other way round.
func settable(reg *gates.Registry, enabled bool) []string {
	needed := map[string]bool{} // by gates that are locked on
	for _, g := range reg.Gates() {
		if g.Locked && g.Default {
			for _, name := range g.Requires {
				needed[name] = true
			}
		}
	}
	var names []string
	for _, g := range reg.Gates() {
		switch {
		case g.Locked, g.Default == enabled, g.Name == "AllAlpha", g.Name == "AllBeta":
		case enabled && waits(reg, g.Name):
		case !enabled && (needed[g.Name] || slices.Contains(resolve.RequiredGates(), g.Name)):
		default:
			names = append(names, g.Name)
		}
	}
	return names
}

// waits reports whether kube-apiserver would wait for an API with a gate on, or
// with one that the gate needs.
func waits(reg *gates.Registry, name string) bool {
	g, _ := reg.Gate(name)
	return g.UnservedAPI != "" || slices.ContainsFunc(g.Requires, func(name string) bool { return waits(reg, name) })
}
