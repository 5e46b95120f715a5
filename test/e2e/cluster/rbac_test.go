//go:build e2e

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

// applyManifest creates the objects of packaging/controller/rbac.yaml.
func (s *server) applyManifest(t testing.TB) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, "packaging/controller/rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		resource := strings.ToLower(u.GetKind()) + "s"
		gv, err := schema.ParseGroupVersion(u.GetAPIVersion())
		if err != nil {
			t.Fatal(err)
		}
		client := s.dynamic.Resource(gv.WithResource(resource))
		if ns := u.GetNamespace(); ns != "" {
			_, err = client.Namespace(ns).Create(background, u, metav1.CreateOptions{})
		} else {
			_, err = client.Create(background, u, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
		}
	}
}

// newRestricted is a cluster whose controller has nothing but the service
// account of the manifest, after a raise.
func newRestricted(t *testing.T) (*device, *watcher) {
	t.Helper()
	s := newServer(t)
	s.installCRDs(t)
	s.applyManifest(t)
	w := s.watch(t)
	newFleet(t, s, w, 3)
	s.addNode(t, "real", "v1.35.4")
	token, err := s.client.CoreV1().ServiceAccounts("kube-system").CreateToken(background, "microshift-feature-gates-controller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := newDevice(t, s, "real")
	d.token = token.Status.Token
	d.restart(t)
	t.Cleanup(d.keepRestarting(t))
	d.configure(t, "1.30.0", "")
	d.start(t)
	w.settled("raise with the rights of the manifest", raised(rollout.V(1, 30, 0)))
	return d, w
}

// TestRights uses the rights of the manifest, and then tries what they allow and
// what not.
func TestRights(t *testing.T) {
	d, _ := newRestricted(t)
	d.kill(syscall.SIGTERM) // as systemd does along with MicroShift
	d.start(t)
	eventually(t, "published", func() error { return d.published("", microshift, "enabled", "UserNamespacesSupport") })
	eventually(t, "Event", func() error { return d.event("ConfigMap", "microshift-feature-gates", "NewGeneration") })
	d.settledConditions(t)
	eventually(t, "health and metrics", func() error {
		return errors.Join(d.serves("/healthz", "ok\n"), d.serves("/metrics", "\nmicroshift_feature_gates_generation 2\n"), d.serves("/metrics", "\nmicroshift_feature_gates_leader 1\n"))
	})
	if strings.Contains(d.running.text(), "forbidden") {
		t.Errorf("something is forbidden to the controller:\n%s", d.running.text())
	}
	tryRights(t, d.server, d.token)
}

// TestRightsTaken takes rights away: while the nodes can't be listed or the
// ConfigMap can't be written, nothing advances, and then all goes on.
func TestRightsTaken(t *testing.T) {
	d, w := newRestricted(t)
	const role = "microshift-feature-gates-controller"
	nodes := func(verbs ...string) {
		t.Helper()
		r, err := d.client.RbacV1().ClusterRoles().Get(background, role, metav1.GetOptions{})
		if err != nil || r.Rules[0].Resources[0] != "nodes" {
			t.Fatal(r, err)
		}
		r.Rules[0].Verbs = verbs
		if _, err := d.client.RbacV1().ClusterRoles().Update(background, r, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	configMap := func(verbs ...string) {
		t.Helper()
		r, err := d.client.RbacV1().Roles("kube-system").Get(background, role, metav1.GetOptions{})
		if err != nil || r.Rules[0].Resources[0] != "configmaps" {
			t.Fatal(r, err)
		}
		r.Rules[0].Verbs = verbs
		if _, err := d.client.RbacV1().Roles("kube-system").Update(background, r, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		set         func(verbs ...string)
		some, all   []string
		minimum     string
		told        string
		before, end func(rollout.State) error
	}{
		{nodes, []string{"get", "patch"}, []string{"get", "list", "watch", "patch"}, "", "nodes is forbidden", raised(rollout.V(1, 30, 0)), lowered},
		{configMap, []string{"get", "list", "watch"}, []string{"get", "list", "watch", "update"}, "1.30.0", "nothing has changed; trying again", lowered, raised(rollout.V(1, 30, 0))},
	} {
		step.set(step.some...)
		d.reconfigure(t, step.minimum)
		eventually(t, "the controller tells what is forbidden", func() error { return d.logged(step.told) })
		if err := step.before(w.state()); err != nil {
			t.Errorf("%s, and yet: %v", step.told, err)
		}
		step.set(step.all...)
		w.settled("with the rights back", step.end)
	}
	note("while nodes could not be listed, and while the ConfigMap could not be written, nothing advanced; then all went on")
}

// rules returns all that a token may do in a namespace, one verb each.
func rules(t *testing.T, client kubernetes.Interface, namespace string) map[string]bool {
	t.Helper()
	review, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(background,
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}, metav1.CreateOptions{})
	if err != nil || review.Status.Incomplete {
		t.Fatalf("rules in %s: incomplete %t, %v", namespace, review.Status.Incomplete, err)
	}
	all := map[string]bool{}
	for _, r := range review.Status.ResourceRules {
		for _, verb := range r.Verbs {
			for _, group := range r.APIGroups {
				for _, resource := range r.Resources {
					all[fmt.Sprint(verb, " ", resource, ".", group, r.ResourceNames)] = true
				}
			}
		}
	}
	for _, r := range review.Status.NonResourceRules {
		all[fmt.Sprint(r.Verbs, r.NonResourceURLs)] = true
	}
	return all
}

// granted is all that the manifest is to grant, by namespace.
func granted(namespace string) []string {
	var list []string
	add := func(what string, verbs ...string) {
		for _, verb := range verbs {
			list = append(list, verb+" "+what)
		}
	}
	add("nodes.[]", "get", "list", "watch", "patch")
	for _, resource := range []string{"featuregates", "nodes"} {
		add(resource+".config.openshift.io[cluster]", "get", "list", "watch", "create", "update", "patch")
		add(resource+"/status.config.openshift.io[cluster]", "update", "patch")
	}
	if namespace == "kube-system" {
		add("configmaps.[microshift-feature-gates]", "get", "list", "watch", "update")
		add("leases.coordination.k8s.io[microshift-feature-gates]", "get", "update")
	}
	if namespace == "kube-system" || namespace == "default" {
		add("events.[]", "create", "patch")
	}
	return list
}

// tryRights compares the rights with those that every service account has, and
// tries what must be forbidden for real.
func tryRights(t *testing.T, s *server, token string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.config(token))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.CoreV1().ServiceAccounts("default").Create(background, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	other, err := s.client.CoreV1().ServiceAccounts("default").CreateToken(background, "nobody", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := kubernetes.NewForConfig(s.config(other.Status.Token))
	if err != nil {
		t.Fatal(err)
	}
	allowed := 0
	for _, namespace := range []string{"kube-system", "default", "kube-public"} {
		have := rules(t, client, namespace)
		for rule := range rules(t, plain, namespace) {
			delete(have, rule)
		}
		for _, rule := range granted(namespace) {
			if !have[rule] {
				t.Errorf("%s: not allowed: %s", namespace, rule)
			}
			delete(have, rule)
			allowed++
		}
		for rule := range have {
			t.Errorf("%s: allowed, and should not be: %s", namespace, rule)
		}
	}
	forbidden := tryForbidden(t, client)
	note("rights: %d rules in 3 namespaces are exactly the manifest's; %d requests tried and forbidden", allowed, forbidden)
}

// tryForbidden sends requests that must be forbidden, and returns how many.
func tryForbidden(t *testing.T, client kubernetes.Interface) int {
	t.Helper()
	const (
		core   = "/api/v1"
		system = core + "/namespaces/kube-system"
		config = "/apis/config.openshift.io/v1"
	)
	n := 0
	for path, verbs := range map[string]string{
		core + "/nodes":                                 "POST DELETE",
		core + "/nodes/real":                            "PUT DELETE",
		core + "/nodes/real/status":                     "PATCH PUT",
		core + "/nodes/real/proxy/pods":                 "GET",
		core + "/secrets":                               "GET",
		core + "/pods":                                  "GET",
		core + "/namespaces":                            "GET POST",
		system + "/secrets/x":                           "GET PUT DELETE",
		system + "/pods":                                "GET POST",
		system + "/configmaps":                          "GET POST DELETE",
		system + "/configmaps/other":                    "GET PUT PATCH DELETE",
		system + "/configmaps/microshift-feature-gates": "PATCH DELETE",
		core + "/namespaces/default/configmaps/microshift-feature-gates":      "GET PUT",
		system + "/serviceaccounts/microshift-feature-gates-controller/token": "POST",
		system + "/events":                                                                         "GET DELETE",
		core + "/namespaces/kube-public/events":                                                    "POST",
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases":                               "GET POST",
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/other":                         "GET PUT",
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/microshift-feature-gates":      "PATCH DELETE",
		config + "/featuregates":                                                                   "POST DELETE GET",
		config + "/featuregates/other":                                                             "GET PUT PATCH DELETE",
		config + "/featuregates/cluster":                                                           "DELETE",
		config + "/nodes/cluster":                                                                  "DELETE",
		config + "/nodes/other":                                                                    "GET PUT PATCH",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions":                                  "GET POST",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/featuregates.config.openshift.io": "GET PUT PATCH DELETE",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":                                          "GET POST",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/microshift-feature-gates-controller":      "PUT PATCH DELETE",
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings":                                   "POST",
		"/apis/apps/v1/namespaces/kube-system/daemonsets":                                          "GET POST",
		"/apis/certificates.k8s.io/v1/certificatesigningrequests":                                  "GET POST",
		"/metrics": "GET",
	} {
		for _, verb := range strings.Fields(verbs) {
			request := client.Discovery().RESTClient().Verb(verb).AbsPath(path)
			if verb == "PATCH" {
				request = request.SetHeader("Content-Type", "application/merge-patch+json")
			}
			if verb != "GET" && verb != "DELETE" {
				request = request.Body([]byte("{}"))
			}
			if err := request.Do(background).Error(); !apierrors.IsForbidden(err) {
				t.Errorf("%s %s is not forbidden: %v", verb, path, err)
			}
			n++
		}
	}
	return n
}
