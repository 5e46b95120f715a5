//go:build e2e

package e2e

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// state is what a running component says about a gate.
type state struct {
	enabled bool
	stage   string // alpha, beta, ga or deprecated
}

var featureEnabled = regexp.MustCompile(`(?m)^kubernetes_feature_enabled\{name="([^"]+)",stage="([^"]*)"\} ([01])$`)

// gates returns the state of all gates that the component has.
func (c component) gates(t testing.TB) map[string]state {
	t.Helper()
	a, err := request(http.MethodGet, c.url+"/metrics", nil, nil)
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: metrics: %d %v", c.name, a.status, err)
	}
	states := map[string]state{}
	for _, m := range featureEnabled.FindAllStringSubmatch(a.body, -1) {
		stage := strings.ToLower(m[2])
		if stage == "" {
			stage = "ga"
		}
		states[m[1]] = state{m[3] == "1", stage}
	}
	return states
}

// compare compares what show says of every gate with what the running
// component says, which is the one of that name.
func (c component) compare(t testing.TB, name string, d device, shown map[string]gateView) {
	t.Helper()
	states := c.gates(t)
	reg := d.registry(t)
	for _, gate := range slices.Sorted(maps.Keys(shown)) {
		want := shown[gate]
		got, there := states[gate]
		if g, known := reg.Gate(gate); !known || g.OpenShift {
			if there {
				t.Errorf("%s has %s, which it should not know", name, gate)
			}
			continue
		}
		switch {
		case there != slices.Contains(want.Components, name):
			t.Errorf("%s has %s: %t, but show says that these have it: %v", name, gate, there, want.Components)
		case there && got != state{want.Enabled, want.Stage}:
			t.Errorf("%s: %s is %+v, show says %+v", name, gate, got, state{want.Enabled, want.Stage})
		}
		count(d.minor, "states of a gate in a running component compared with show")
	}
	for gate := range states {
		if _, ok := shown[gate]; !ok {
			t.Errorf("%s has %s, which show does not list", name, gate)
		}
	}
	if len(states) < 100 {
		t.Errorf("%s says something about %d gates only", name, len(states))
	}
}

// counts has how often something was compared, for the report at the end.
var counts struct {
	sync.Mutex
	n map[string]int
}

// count counts one more, of a Kubernetes version or of all of them ("").
func count(minor, what string) {
	counts.Lock()
	defer counts.Unlock()
	if counts.n == nil {
		counts.n = map[string]int{}
	}
	if minor != "" {
		what = "Kubernetes " + minor + ": " + what
	}
	counts.n[what]++
}

func reportCounts() {
	counts.Lock()
	defer counts.Unlock()
	for what, n := range counts.n {
		note("%s: %d", what, n)
	}
}
