//go:build e2e

package cluster

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/microshift-io/microshift-feature-gates/pkg/publish"
	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

func (s *server) installCRDs(t testing.TB) {
	t.Helper()
	if _, err := publish.InstallCRDs(background, s.dynamic); err != nil {
		t.Fatal(err)
	}
}

func (s *server) featureGate() (*unstructured.Unstructured, error) {
	return s.dynamic.Resource(publish.FeatureGates).Get(background, "cluster", metav1.GetOptions{})
}

// published returns nil if the FeatureGate object has the set, and the gate is
// in the list of the given name for a version.
func (s *server) published(set, version, list, gate string) error {
	fg, err := s.featureGate()
	if err != nil {
		return err
	}
	if got, _, _ := unstructured.NestedString(fg.Object, "spec", "featureSet"); got != set {
		return fmt.Errorf("featureSet is %q", got)
	}
	entries, _, _ := unstructured.NestedSlice(fg.Object, "status", "featureGates")
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		gates, _ := entry[list].([]any)
		for _, g := range gates {
			if attributes, _ := g.(map[string]any); entry["version"] == version && attributes["name"] == gate {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is not %s in %s", gate, list, version)
}

// TestObjects has the controller install both definitions, publish and change
// the FeatureGate object, and leave it where OpenShift's rules forbid a revert.
func TestObjects(t *testing.T) {
	s := newServer(t)
	s.addNode(t, "real", "v1.35.4")
	d := newDevice(t, s, "real")
	d.configure(t, "1.30.0", "featureSet: CustomNoUpgrade\ncustomNoUpgrade: {enabled: [MemoryQoS]}")
	d.start(t, "--install-crds")
	eventually(t, "published", func() error { return s.published("CustomNoUpgrade", microshift, "enabled", "MemoryQoS") })
	first := s.written(t)

	// An entry of another version stays, the lists follow the configuration.
	d.kill(syscall.SIGTERM)
	d.configure(t, "1.30.0", "featureSet: CustomNoUpgrade\ncustomNoUpgrade: {disabled: [MemoryQoS], enabled: [InPlacePodVerticalScalingExclusiveCPUs]}")
	d.start(t, "--microshift-version", "4.22.1")
	eventually(t, "changed", func() error { return s.published("CustomNoUpgrade", "4.22.1", "disabled", "MemoryQoS") })
	if err := s.published("CustomNoUpgrade", microshift, "enabled", "MemoryQoS"); err != nil {
		t.Errorf("the entry of %s: %v", microshift, err)
	}
	second := s.written(t).since(first)
	note("FeatureGate published with %s, changed with %s", first, second)

	// The revert that OpenShift forbids. It is tried once: a controller that
	// tried again would have, before the condition is written.
	for i, revert := range []struct{ section, text string }{
		{"", "featureSet cannot be removed"},
		{"featureSet: TechPreviewNoUpgrade", "CustomNoUpgrade may not be changed"},
	} {
		d.kill(syscall.SIGTERM)
		d.configure(t, "1.30.0", revert.section)
		d.start(t, "--microshift-version", "4.22.1")
		eventually(t, "refused", func() error {
			return errors.Join(d.logged(revert.text), s.event("FeatureGate", "cluster", "PublishRefused"), s.condition("PublishRefused", "True", revert.text))
		})
		if err := s.published("CustomNoUpgrade", "4.22.1", "disabled", "MemoryQoS"); err != nil {
			t.Errorf("after a refused revert: %v", err)
		}
		if n := s.refused(t)["featuregates.config.openshift.io/cluster"]; n != i+1 {
			t.Errorf("%d attempts of %d controllers: they fight", n, i+1)
		}
	}
	d.kill(syscall.SIGTERM)
	if err := s.dynamic.Resource(publish.NodeConfigs).Delete(background, "cluster", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.validation(t)
}

// validation tries the rules of both definitions by themselves: create, change,
// and each revert that is forbidden.
func (s *server) validation(t *testing.T) {
	t.Helper()
	taken, refused := 0, 0
	try := func(what string, valid bool, err error) {
		t.Helper()
		switch {
		case valid && err == nil:
			taken++
		case !valid && apierrors.IsInvalid(err):
			refused++
		default:
			t.Errorf("%s: %v, valid: %t", what, err, valid)
		}
	}
	gates := s.dynamic.Resource(publish.FeatureGates)
	object := func(name string, set any) *unstructured.Unstructured {
		spec := map[string]any{}
		if set != nil {
			spec["featureSet"] = set
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": publish.FeatureGates.GroupVersion().String(), "kind": "FeatureGate", "metadata": map[string]any{"name": name}, "spec": spec,
		}}
	}
	_, err := gates.Create(background, object("bogus", "Bogus"), metav1.CreateOptions{})
	try("create with set Bogus", false, err)
	for set, forbidden := range map[string][]any{
		"CustomNoUpgrade":      {"DevPreviewNoUpgrade", "TechPreviewNoUpgrade", "OKD", "", nil},
		"DevPreviewNoUpgrade":  {"CustomNoUpgrade", "TechPreviewNoUpgrade", "OKD", "", nil},
		"TechPreviewNoUpgrade": {"CustomNoUpgrade", "DevPreviewNoUpgrade", "OKD", "", nil},
		"OKD":                  {"", nil},
	} {
		name := strings.ToLower(set)
		_, err := gates.Create(background, object(name, ""), metav1.CreateOptions{})
		try("create with the default set", true, err)
		for _, to := range append([]any{set}, forbidden...) {
			fg, err := gates.Get(background, name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			fg.Object["spec"] = object(name, to).Object["spec"]
			_, err = gates.Update(background, fg, metav1.UpdateOptions{})
			try(fmt.Sprintf("%v to %v", set, to), to == set, err)
		}
	}
	// The first is a create. The pattern of OpenShift does not escape its dots, so that it takes 1.30.
	for _, tt := range []struct {
		minimum string
		valid   bool
	}{{"bogus", false}, {"1.30.0", true}, {"bogus", false}, {"1.30.0-rc.0", false}, {"123.456.789", false}, {"1", false}, {"1.30", true}, {"", true}} {
		_, err := publish.UpdateNodeConfig(background, s.dynamic, tt.minimum, nil)
		if !tt.valid && !publish.IsRefused(err) {
			t.Errorf("minimum %q: %v is no refusal", tt.minimum, err)
		}
		try(fmt.Sprintf("minimum %q", tt.minimum), tt.valid, err)
	}
	note("the rules of both definitions took %d objects and changes and refused %d", taken, refused)
}

// TestSecondWriter has others write the same objects all the time.
func TestSecondWriter(t *testing.T) {
	s := newServer(t)
	s.installCRDs(t)
	w := s.watch(t)
	newFleet(t, s, w, 5)
	s.addNode(t, "real", "v1.35.4")
	d := newDevice(t, s, "real")
	d.restart(t)
	defer d.keepRestarting(t)()
	defer s.disturb(t)()
	for range 3 {
		d.reconfigure(t, "1.30.0")
		w.settled("raise", raised(rollout.V(1, 30, 0)))
		d.reconfigure(t, "")
		w.settled("lower", lowered)
	}
	d.reconfigure(t, "1.30.0")
	w.settled("raise", raised(rollout.V(1, 30, 0)))
	eventually(t, "the minimum is mirrored", func() error {
		node, err := s.dynamic.Resource(publish.NodeConfigs).Get(background, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got, _, _ := unstructured.NestedString(node.Object, "spec", "minimumKubeletVersion"); got != "1.30.0" {
			return fmt.Errorf("%q", got)
		}
		list, _, _ := unstructured.NestedSlice(node.Object, "status", "conditions")
		if !strings.Contains(fmt.Sprint(list), "Progressing") || !strings.Contains(fmt.Sprint(list), "Foreign") {
			return fmt.Errorf("conditions %v", list)
		}
		return nil
	})

	// Whoever owns a field of the FeatureGate object keeps it.
	fg, err := s.featureGate()
	if err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(fg.Object, "CustomNoUpgrade", "spec", "featureSet"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.dynamic.Resource(publish.FeatureGates).Update(background, fg, metav1.UpdateOptions{FieldManager: "second"}); err != nil {
		t.Fatal(err)
	}
	d.kill(syscall.SIGTERM)
	d.configure(t, "1.30.0", "featureSet: TechPreviewNoUpgrade")
	d.start(t)
	eventually(t, "the conflict of field managers is reported", func() error { return d.logged("the cluster refuses FeatureGate cluster") })
	eventually(t, "condition PublishRefused", func() error { return s.condition("PublishRefused", "True", "FeatureGate") })
}

// disturb changes the ConfigMap and the nodes.config object again and again,
// in places that are nobody's, and returns how to stop that.
func (s *server) disturb(t testing.TB) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	times := 0
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			case <-time.After(30 * time.Millisecond):
			}
			if m, err := s.client.CoreV1().ConfigMaps("kube-system").Get(background, "microshift-feature-gates", metav1.GetOptions{}); err == nil {
				m.Labels = map[string]string{"disturbed": fmt.Sprint(i)}
				if _, err := s.client.CoreV1().ConfigMaps("kube-system").Update(background, m, metav1.UpdateOptions{}); err == nil {
					times++
				}
			}
			resource := s.dynamic.Resource(publish.NodeConfigs)
			node, err := resource.Get(background, "cluster", metav1.GetOptions{})
			if err != nil {
				continue
			}
			node.SetLabels(map[string]string{"disturbed": fmt.Sprint(i)})
			if node, err = resource.Update(background, node, metav1.UpdateOptions{}); err != nil {
				continue
			}
			list, _, _ := unstructured.NestedSlice(node.Object, "status", "conditions")
			for _, c := range list {
				if c.(map[string]any)["type"] == "Foreign" {
					list = nil
				}
			}
			if i > 0 && list == nil {
				continue
			}
			list = append(list, map[string]any{"type": "Foreign", "status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"})
			if err := unstructured.SetNestedSlice(node.Object, list, "status", "conditions"); err == nil {
				_, _ = resource.UpdateStatus(background, node, metav1.UpdateOptions{})
			}
		}
	}()
	return func() {
		close(ended)
		<-done
		note("a second writer changed the ConfigMap %d times meanwhile", times)
	}
}
