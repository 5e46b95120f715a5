package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// openshiftGates are what OpenShift's Kubernetes adds, in its
// pkg/features/openshift_features.go, with the versions given there. All four
// components link that package, so each of them recognises all. A registry has
// those of its version and before.
var openshiftGates = table{
	"RouteExternalCertificate":        {Specs: []spec{{Version: "1.29", Stage: "alpha"}}}, // OpenShift 4.16
	"MinimumKubeletVersion":           {Specs: []spec{{Version: "1.32", Stage: "alpha"}}}, // OpenShift 4.19
	"StoragePerformantSecurityPolicy": {Specs: []spec{{Version: "1.33", Stage: "alpha"}}}, // OpenShift 4.20
}

// checkedNeeds are the needs of gates that kube-apiserver checks among its
// options, by minor. From 1.35 on, gates say themselves what they need.
var checkedNeeds = map[string]map[string]string{
	"1.32": {"AuthorizeNodeWithSelectors": "AuthorizeWithSelectors", "UnknownVersionInteroperabilityProxy": "StorageVersionAPI"},
	"1.33": {"AuthorizeNodeWithSelectors": "AuthorizeWithSelectors"},
}

// unservedAPIs are the gates for which kube-apiserver itself reads an API that
// it does not serve by default, and waits for it before it is ready; by the
// minor from which on it reads which one. No table tells that: it was seen with
// the kube-apiserver of each minor, and test/e2e shows it again.
var unservedAPIs = map[string][]struct{ minor, api string }{
	"CoordinatedLeaderElection": {{"1.32", "coordination.k8s.io/v1alpha2"}, {"1.33", "coordination.k8s.io/v1beta1"}},
	"GenericWorkload":           {{"1.36", "scheduling.k8s.io/v1alpha2"}},
	"MutatingAdmissionPolicy":   {{"1.32", "admissionregistration.k8s.io/v1alpha1"}, {"1.34", "admissionregistration.k8s.io/v1beta1"}, {"1.36", ""}},
	"StorageVersionAPI":         {{"1.32", "internal.apiserver.k8s.io/v1alpha1"}},
}

// unservedAPI returns the API that kube-apiserver of a minor would wait for if
// the gate were on, "" for none.
func unservedAPI(name, minor string) string {
	api := ""
	for _, x := range unservedAPIs[name] {
		if number(x.minor) <= number(minor) {
			api = x.api
		}
	}
	return api
}

// registry returns the file of the gates in tables, which are in the order of
// components. The format is described in pkg/gates/decode.go. The since of a
// gate is explained at gates.Gate there; older has those of older registries.
func registry(minor, source string, tables []table, older map[string]string) ([]byte, error) {
	gates, recognisedBy, overrides, err := merge(tables)
	if err != nil {
		return nil, err
	}
	for name, g := range openshiftGates {
		if number(g.Specs[0].Version) > number(minor) {
			continue
		}
		if _, ok := gates[name]; ok {
			return nil, fmt.Errorf("%s is no longer OpenShift's alone", name)
		}
		gates[name], recognisedBy[name] = g, components
	}
	for name, needed := range checkedNeeds[minor] {
		g, ok := gates[name]
		if _, also := gates[needed]; !ok || !also {
			return nil, fmt.Errorf("there is no %s any more that needs %s", name, needed)
		}
		g.Requires = append(slices.Clone(g.Requires), needed)
		gates[name] = g
	}
	for name := range unservedAPIs {
		if _, ok := gates[name]; !ok && unservedAPI(name, minor) != "" {
			return nil, fmt.Errorf("there is no %s any more that waits for an API", name)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The feature gates of Kubernetes %s and the components that recognise them.\n", minor)
	fmt.Fprintf(&b, "# Generated, do not edit: go -C assets/generate run . kubernetes-%s\n", minor)
	for _, o := range overrides {
		fmt.Fprintf(&b, "# Not shown below: %s\n", o)
	}
	fmt.Fprintf(&b, "generatedFrom: %s\ngates:\n", source)
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		g := gates[name]
		fmt.Fprintf(&b, "  %s: {since: %q, specs: [%s], components: [%s]", name,
			since(minor, g.Specs, older[name]), specList(g.Specs), strings.Join(recognisedBy[name], ", "))
		if len(g.Requires) > 0 {
			fmt.Fprintf(&b, ", requires: [%s]", strings.Join(slices.Sorted(slices.Values(g.Requires)), ", "))
		}
		if api := unservedAPI(name, minor); api != "" {
			fmt.Fprintf(&b, ", api: %s", api)
		}
		if _, ok := openshiftGates[name]; ok {
			b.WriteString(", openshift: true")
		}
		b.WriteString("}\n")
	}
	return b.Bytes(), nil
}

// merge unites the tables. A component may override the default of a gate for
// itself (kube-controller-manager does so with WatchListClient); then the gate
// is as the first component has it, and overrides tells of the other. It fails
// when two components disagree in anything else.
func merge(tables []table) (gates table, recognisedBy map[string][]string, overrides []string, err error) {
	gates, recognisedBy = table{}, map[string][]string{}
	for i, t := range tables {
		for _, name := range slices.Sorted(maps.Keys(t)) {
			g := t[name]
			recognisedBy[name] = append(recognisedBy[name], components[i])
			first, ok := gates[name]
			if !ok {
				gates[name] = g
				continue
			}
			if !reflect.DeepEqual(withoutDefaults(first), withoutDefaults(g)) {
				return nil, nil, nil, fmt.Errorf("%s knows another %s than %s does", components[i], name, recognisedBy[name][0])
			}
			if !reflect.DeepEqual(first, g) {
				overrides = append(overrides, fmt.Sprintf("in %s, %s is [%s]", components[i], name, specList(g.Specs)))
			}
		}
	}
	return gates, recognisedBy, overrides, nil
}

func withoutDefaults(g gate) gate {
	g.Specs = slices.Clone(g.Specs)
	for i := range g.Specs {
		g.Specs[i].Default = false
	}
	return g
}

func specList(specs []spec) string {
	items := make([]string, len(specs))
	for i, s := range specs {
		item := []string{s.Version, s.Stage, "off"}
		if s.Default {
			item[2] = "on"
		}
		if s.Locked {
			item = append(item, "locked")
		}
		// component-base lets a spec inherit the minimum of the one before it,
		// and would not take it back where the version is another one.
		if s.MinCompatibility != "" && i > 0 && specs[i-1].Version == s.Version {
			item = append(item, "min-compatibility="+s.MinCompatibility)
		}
		items[i] = strings.Join(item, " ")
	}
	return strings.Join(items, ", ")
}

// since returns the lowest version among specs and older. Versions 0.0 and 1.0
// don't count: component-base has the first for gates without versions, and
// wants the second for the state before a gate that began as deprecated. When
// nothing is left, that is the minor of this registry, the oldest with the gate.
func since(minor string, specs []spec, older string) string {
	lowest := ""
	for _, s := range specs {
		if number(s.Version) > 0 && (lowest == "" || number(s.Version) < number(lowest)) {
			lowest = s.Version
		}
	}
	if older != "" && (lowest == "" || number(older) < number(lowest)) {
		lowest = older
	}
	if lowest == "" {
		return minor
	}
	return lowest
}

// number returns the NN of 1.NN, for comparisons; 0 for 0.0.
func number(ver string) int {
	_, minor, _ := strings.Cut(ver, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		panic(err) // versions come out of component-base's own
	}
	return n
}

// olderGates returns the since of each gate in the registries older than minor.
func olderGates(minor string) (map[string]string, error) {
	files, err := filepath.Glob(registryFile("*"))
	if err != nil {
		return nil, err
	}
	older := map[string]string{}
	for _, m := range sortedMinors(files) {
		if number(m) >= number(minor) {
			break
		}
		data, err := os.ReadFile(registryFile(m))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if name, rest, ok := strings.Cut(line, ": {since: \""); ok {
				name = strings.TrimSpace(name)
				ver, _, _ := strings.Cut(rest, "\"")
				if was, ok := older[name]; !ok || number(ver) < number(was) {
					older[name] = ver
				}
			}
		}
	}
	return older, nil
}

func registryFile(minor string) string {
	return filepath.Join(gatesDir, "kubernetes-"+minor+".yaml")
}
