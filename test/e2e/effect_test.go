//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestFlagsTakeEffect starts every component with exactly what flags prints,
// and compares what show says of every gate with what the component says.
func TestFlagsTakeEffect(t *testing.T) {
	each(t, func(t *testing.T, k kubernetes) {
		for _, c := range configurations(t, k) {
			t.Run(c.name, func(t *testing.T) {
				d := newDevice(t, k, c.text)
				shown := d.show(t)
				server := startAPIServer(t, k, startEtcd(t, t.TempDir()), d.flag(t, "kube-apiserver"))
				server.compare(t, "kube-apiserver", d, shown)
				server.checkFlagz(t, shown)
				server.checkCompression(t, shown)
				if k.minor != newest.minor {
					return
				}
				for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
					c := startController(t, name, server, d.flag(t, name))
					c.compare(t, name, d, shown)
					c.checkFlagz(t, shown)
				}
			})
		}
	})
}

// TestKubeletFlagsTakeEffect is the same for the kubelet, which takes gates as
// a flag and in its configuration file.
func TestKubeletFlagsTakeEffect(t *testing.T) {
	needIsolation(t)
	before := kernelSettings(t)
	for _, c := range configurations(t, newest) {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice(t, newest, c.text)
			shown := d.show(t)
			for _, kubelet := range []component{
				startKubelet(t, "", d.flag(t, "kubelet")),
				startKubelet(t, d.kubeletConfig(t)),
			} {
				kubelet.compare(t, "kubelet", d, shown)
				kubelet.checkFlagz(t, shown)
			}
		})
	}
	if after := kernelSettings(t); after != before {
		t.Errorf("the kernel's settings were\n%sand are now\n%s", before, after)
	}
}

// kernelSettings returns the settings of the kernel that a kubelet changes.
func kernelSettings(t *testing.T) string {
	t.Helper()
	return finish(t, "sh", "-c", "cd /proc/sys && grep . vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_max*").stdout
}

// checkFlagz checks that ComponentFlagz does what it is for.
func (c component) checkFlagz(t *testing.T, shown map[string]gateView) {
	t.Helper()
	want := http.StatusNotFound
	if shown["ComponentFlagz"].Enabled {
		want = http.StatusOK
	}
	a, err := request(http.MethodGet, c.url+"/flagz", nil, map[string]string{"Accept": "text/plain"})
	if err != nil || a.status != want {
		t.Errorf("%s: ComponentFlagz is %t, and /flagz answers %d (%v), want %d", c.name, shown["ComponentFlagz"].Enabled, a.status, err, want)
	}
	count("", "proofs of ComponentFlagz and APIResponseCompression by what they do")
}

// checkCompression checks that APIResponseCompression does what it is for.
func (c component) checkCompression(t *testing.T, shown map[string]gateView) {
	t.Helper()
	want := ""
	if shown["APIResponseCompression"].Enabled {
		want = "gzip"
	}
	if got := c.encoding(t); got != want {
		t.Errorf("APIResponseCompression is %t, and a large list has Content-Encoding %q, want %q", shown["APIResponseCompression"].Enabled, got, want)
	}
	count("", "proofs of ComponentFlagz and APIResponseCompression by what they do")
}

// encoding returns the Content-Encoding of a large list from a kube-apiserver,
// whose client can take gzip.
func (c component) encoding(t *testing.T) string {
	t.Helper()
	list := c.url + "/api/v1/namespaces/default/configmaps"
	large := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"x":%q}}`, strings.Repeat("x", 500_000))
	c.await(t, func() error { // the namespace is made after the server is ready
		a, err := request(http.MethodPost, list, strings.NewReader(large), map[string]string{"Content-Type": "application/json"})
		if err == nil && a.status != http.StatusCreated && a.status != http.StatusConflict {
			err = fmt.Errorf("create a ConfigMap: %d %s", a.status, a.body)
		}
		return err
	})
	a, err := request(http.MethodGet, list, nil, map[string]string{"Accept-Encoding": "gzip"})
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("list of ConfigMaps: %d (%v)", a.status, err)
	}
	return a.header.Get("Content-Encoding")
}
