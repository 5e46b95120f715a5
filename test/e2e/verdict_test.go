//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// The verdicts on a gate that is set to a value.
const (
	fine    = "fine"
	locked  = "locked"
	unknown = "unknown"
	needs   = "needs" // followed by the gates that are on and what they lack
)

// noEtcd is what kube-apiserver says when it has no other complaint than that
// it was given no etcd. It looks at all its flags before it says so.
const noEtcd = "--etcd-servers must be specified"

// TestVerdictsAgree gives every gate, on and off, to validate and to
// kube-apiserver, and compares what they say.
//
// kube-apiserver is run without --etcd-servers: it parses its flags, sets the
// gates, validates all options, and ends with the list of its complaints. So
// each verdict comes from the very program and start that a device has, in a
// fraction of a second, and a gate is fine if the only complaint is that
// there is no etcd. TestVerdictsHold starts it for good with a few of them.
func TestVerdictsAgree(t *testing.T) {
	each(t, func(t *testing.T, k kubernetes) {
		if got := k.apiServerVerdict(t, ""); got != fine {
			t.Fatalf("without any gate, the verdict of kube-apiserver is %q", got)
		}
		var work sync.WaitGroup
		slots := make(chan struct{}, runtime.NumCPU())
		for _, g := range k.registry(t).Gates() {
			for _, enabled := range []bool{true, false} {
				slots <- struct{}{}
				work.Go(func() {
					defer func() { <-slots }()
					ours := k.validateVerdict(t, g.Name, enabled)
					real := k.apiServerVerdict(t, fmt.Sprintf("--feature-gates=%s=%t", g.Name, enabled))
					switch {
					case g.OpenShift && real == unknown && ours == fine:
						count(k.minor, "verdicts not compared, on gates that only OpenShift's Kubernetes has")
					case ours == "gate-needs-api" && real == fine:
						count(k.minor, "verdicts that only a whole start shows, of gates that wait for an API")
					case ours == "gate-required" && !enabled && slices.Contains(resolve.RequiredGates(), g.Name):
						count(k.minor, "verdicts not compared, on gates that MicroShift requires")
					default:
						count(k.minor, "verdicts compared: "+strings.SplitN(real, " ", 2)[0])
						count(k.minor, "verdicts compared")
						if ours != real {
							t.Errorf("%s=%t: validate says %q, kube-apiserver %q", g.Name, enabled, ours, real)
						}
					}
				})
			}
		}
		work.Wait()
	})
}

// validateVerdict returns what validate says of a gate.
func (k kubernetes) validateVerdict(t testing.TB, gate string, enabled bool) string {
	t.Helper()
	diags := k.validate(t, customConfig(gate, enabled))
	var lacks []string
	for _, d := range diags {
		switch {
		case d.Code == "gate-locked":
			return locked
		case d.Code == "gate-unknown":
			return unknown
		case d.Code == "gate-needs":
			m := ourNeeds.FindStringSubmatch(d.Message)
			if m == nil {
				t.Errorf("message of gate-needs is %q", d.Message)
				continue
			}
			lacks = append(lacks, m[1]+" "+m[2])
		case d.Severity == "error":
			return d.Code
		}
	}
	return orFine(lacks)
}

// customConfig returns a configuration with one gate.
func customConfig(gate string, enabled bool) string {
	list := map[bool]string{true: "enabled", false: "disabled"}[enabled]
	name, err := json.Marshal(gate) // which is YAML too
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {%s: [%s]}}}\n", list, name)
}

type diagnostic struct{ Severity, Code, Message, Hint string }

// validate returns the diagnostics of validate for a configuration.
func (k kubernetes) validate(t testing.TB, config string) []diagnostic {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(config); err != nil {
		t.Fatal(err)
	}
	f := finish(t, ours(), "--microshift-version", k.microshift, "-o", "json", "validate", file.Name())
	var result struct{ Diagnostics []diagnostic }
	if err := json.Unmarshal([]byte(f.stdout), &result); err != nil {
		t.Fatalf("validate prints %q, %q: %v", f.stdout, f.stderr, err)
	}
	rejected := slices.ContainsFunc(result.Diagnostics, func(d diagnostic) bool { return d.Severity == "error" })
	if rejected && f.code != 1 || !rejected && f.code != 0 {
		t.Errorf("validate exits %d with %v", f.code, result.Diagnostics)
	}
	return result.Diagnostics
}

// apiServerVerdict returns what kube-apiserver says of a --feature-gates flag.
func (k kubernetes) apiServerVerdict(t testing.TB, flag string) string {
	t.Helper()
	return verdictOf(k.complaint(t, flag))
}

var (
	ourNeeds    = regexp.MustCompile(`^(\S+) is on, but needs (\S+), which is off`)
	theirNeeds  = regexp.MustCompile(`(\S+) is enabled, but depends on features that are disabled: \[([^\]]*)\]`)
	theirLocked = regexp.MustCompile(`cannot set feature gate \S+ to (true|false), feature is locked to (true|false)`)
	commandErr  = regexp.MustCompile(`(?m)^E.*"command failed" err=(.*)$|^Error: (.*)$`)
)

// complaint runs kube-apiserver without an etcd and returns why it ends.
func (k kubernetes) complaint(t testing.TB, flag string) string {
	t.Helper()
	f := finish(t, append([]string{k.program(t, "kube-apiserver"), "--secure-port=1"}, append(apiServerArgs(), given([]string{flag})...)...)...)
	m := commandErr.FindStringSubmatch(f.stderr)
	if m == nil {
		t.Errorf("kube-apiserver %s exits %d with\n%s", flag, f.code, f.stderr)
		return "?"
	}
	return strings.Trim(m[1], `"`) + m[2]
}

// verdictOf sorts a complaint of kube-apiserver.
func verdictOf(complaint string) string {
	var lacks []string
	for _, m := range theirNeeds.FindAllStringSubmatch(complaint, -1) {
		for name := range strings.FieldsSeq(m[2]) {
			lacks = append(lacks, strings.TrimPrefix(m[1], "[")+" "+name)
		}
	}
	switch {
	case complaint == noEtcd:
		return fine
	case strings.Contains(complaint, "unrecognized feature gate: "):
		return unknown
	case theirLocked.MatchString(complaint):
		return locked
	case len(lacks) > 0:
		return orFine(lacks)
	}
	return complaint
}

// orFine returns the verdict on gates that lack others.
func orFine(lacks []string) string {
	if len(lacks) == 0 {
		return fine
	}
	slices.Sort(lacks)
	return needs + " " + strings.Join(slices.Compact(lacks), ", ")
}

// TestVerdictsHold starts kube-apiserver for good, with an etcd, with some
// gates of each verdict: what was fine starts, what was not does not, and for
// the same reason.
func TestVerdictsHold(t *testing.T) {
	each(t, func(t *testing.T, k kubernetes) {
		etcd := startEtcd(t, t.TempDir())
		for _, item := range []string{
			"MemoryQoS=true", "WatchList=false", "AllowParsingUserUIDFromCertAuth=false", "APIServerTracing=true", // fine
			"APIServerTracing=false", "AllowOverwriteTerminationGracePeriodSeconds=true", // locked
			"ClusterTrustBundleProjection=true", "APIServerIdentity=false,UnknownVersionInteroperabilityProxy=true", // needs
			"NoSuchGate=true", "memoryQoS=true", // unknown
		} {
			flag := "--feature-gates=" + item
			want := k.complaint(t, flag)
			if want == noEtcd {
				server := startAPIServer(t, k, etcd, flag)
				name, value, _ := strings.Cut(item, "=")
				if got := server.gates(t)[name]; fmt.Sprint(got.enabled) != value {
					t.Errorf("%s: the running kube-apiserver says %t", item, got.enabled)
				}
				server.stop()
				continue
			}
			command := append([]string{k.program(t, "kube-apiserver")}, apiServerArgs()...)
			f := finish(t, append(command, fmt.Sprintf("--secure-port=%d", freePort(t)), "--etcd-servers="+etcd, flag)...)
			if want = strings.TrimSuffix(strings.TrimPrefix(want, "["), ", "+noEtcd+"]"); f.code != 1 || !strings.Contains(f.stderr, want) {
				t.Errorf("%s: with an etcd kube-apiserver exits %d with\n%s\nwant 1 with %s", item, f.code, f.stderr, want)
			}
		}
	})
}

// TestGatesThatWaitForAnAPI checks that kube-apiserver does not become ready
// with a gate that validate rejects for the sake of an API. That there are no
// more of these gates is what TestFlagsTakeEffect shows with all others on.
func TestGatesThatWaitForAnAPI(t *testing.T) {
	each(t, func(t *testing.T, k kubernetes) {
		var known []string
		for _, g := range k.registry(t).Gates() {
			if g.UnservedAPI != "" {
				known = append(known, g.Name)
			}
		}
		if want := slices.Sorted(maps.Keys(k.waiting)); !slices.Equal(known, want) {
			t.Errorf("the registry says of %v that they wait for an API, this test of %v", known, want)
		}
		for gate, complaint := range k.waiting {
			t.Run(gate, func(t *testing.T) {
				t.Parallel() // it takes a while until kube-apiserver gives up
				if got := k.validateVerdict(t, gate, true); got != "gate-needs-api" {
					t.Errorf("%s=true: validate says %q, want gate-needs-api", gate, got)
				}
				server := launchAPIServer(t, k, startEtcd(t, t.TempDir()), "--feature-gates="+gate+"=true")
				server.awaitText(t, complaint)
				server.awaitStuck(t)
				count(k.minor, "gates that keep kube-apiserver waiting for an API")
			})
		}
	})
}

// awaitStuck waits until a kube-apiserver has ended with an error, or until
// all is ready but its informers, which wait for an API that is not served.
func (c component) awaitStuck(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !c.ended() {
		a, err := request(http.MethodGet, c.url+"/readyz", nil, nil)
		switch {
		case err == nil && a.status == http.StatusOK:
			t.Fatal("kube-apiserver is ready")
		case err == nil && strings.Count(a.body, "[-]") == 1 && strings.Contains(a.body, "[-]informer-sync failed"):
			return
		case time.Now().After(deadline):
			t.Fatalf("kube-apiserver neither ends nor gets as far as it can: %v %s", err, a.body)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if code := c.exitCode(t); code == 0 {
		t.Error("kube-apiserver ends as if all were well")
	}
}
