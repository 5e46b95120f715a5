//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// component is a running component of Kubernetes.
type component struct {
	*process
	url string // where it serves, with metrics below
}

// startEtcd starts an etcd that keeps its data in dir and returns its URL.
func startEtcd(t testing.TB, dir string) string {
	t.Helper()
	port := freePort(t)
	start(t, "etcd", newest.program(t, "etcd"), "-port", fmt.Sprint(port), "-dir", dir).awaitText(t, "ready")
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// apiServerArgs returns the flags of a kube-apiserver but for its port, etcd
// and feature gates. Validation finds no fault with them.
func apiServerArgs() []string {
	return []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + keys.cert,
		"--tls-private-key-file=" + keys.key,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keys.key,
		"--service-account-signing-key-file=" + keys.key,
		"--token-auth-file=" + keys.tokens,
		"--authorization-mode=RBAC",
	}
}

// startAPIServer starts a kube-apiserver on an etcd and waits until it is
// ready. The extra flags are given last; empty ones are left out.
func startAPIServer(t testing.TB, k kubernetes, etcd string, extra ...string) component {
	t.Helper()
	c := launchAPIServer(t, k, etcd, extra...)
	c.await(t, healthy(c.url+"/readyz"))
	return c
}

// launchAPIServer is the same without the wait.
func launchAPIServer(t testing.TB, k kubernetes, etcd string, extra ...string) component {
	t.Helper()
	port := freePort(t)
	args := append(apiServerArgs(), fmt.Sprintf("--secure-port=%d", port), "--etcd-servers="+etcd)
	command := append([]string{k.program(t, "kube-apiserver")}, append(args, given(extra)...)...)
	return component{start(t, "kube-apiserver", command...), loopback(port)}
}

// startController starts a kube-controller-manager or kube-scheduler at the
// API server and waits until it is healthy.
func startController(t testing.TB, name string, server component, extra ...string) component {
	t.Helper()
	port := freePort(t)
	command := []string{
		newest.program(t, name),
		"--kubeconfig=" + kubeconfig(t, server.url),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + keys.cert,
		"--tls-private-key-file=" + keys.key,
		"--leader-elect=false",
		"--authorization-always-allow-paths=/healthz,/metrics,/flagz",
	}
	if name == "kube-controller-manager" {
		command = append(command, "--service-account-private-key-file="+keys.key)
	}
	c := component{start(t, name, append(command, given(extra)...)...), loopback(port)}
	c.await(t, healthy(c.url+"/healthz"))
	return c
}

// kubeletConfig returns a KubeletConfiguration without feature gates for a
// kubelet that keeps its data in dir.
func kubeletConfig(dir, socket string, port, healthPort int) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: %d
readOnlyPort: 0
healthzBindAddress: 127.0.0.1
healthzPort: %d
tlsCertFile: %q
tlsPrivateKeyFile: %q
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://%s
failCgroupV1: false
cgroupsPerQOS: false
enforceNodeAllocatable: [none]
cgroupDriver: cgroupfs
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
podLogsDir: %s/logs
volumePluginDir: %s/plugins
`, port, healthPort, keys.cert, keys.key, socket, dir, dir)
}

// isolated runs a command with a mount namespace of its own, in which
// /var/lib is empty, since the kubelet writes to /var/lib/kubelet whatever it
// is told, and in which the kernel settings that it changes are plain files.
const isolated = `
mount -t tmpfs tmpfs /var/lib
mkdir /var/lib/kubelet /var/lib/sysctl
for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
	copy=/var/lib/sysctl/$(echo $name | tr / .)
	cat /proc/sys/$name >$copy
	mount --bind $copy /proc/sys/$name
done
exec "$@"
`

// isolate returns the command line that runs program isolated.
func isolate(program string, args ...string) []string {
	return append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-euc", isolated, "isolated", program}, args...)
}

// needIsolation skips a test where the kubelet can't be isolated.
func needIsolation(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "the kubelet needs root")
	}
	if f := finish(t, isolate("true")...); f.code != 0 {
		skip(t, "no mount namespace for the kubelet: "+strings.TrimSpace(f.stderr))
	}
}

// shortDir returns a new directory with a short name, since that of a socket,
// some of which the kubelet makes itself, may have 107 characters at most.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// startKubelet starts a kubelet on its own, with a runtime that runs nothing,
// and waits until it is healthy. The text goes to the end of its configuration
// file.
func startKubelet(t testing.TB, text string, extra ...string) component {
	t.Helper()
	dir := shortDir(t)
	socket := filepath.Join(dir, "cri.sock")
	start(t, "cri", newest.program(t, "cri"), "-socket", socket).awaitText(t, "ready")
	port, healthPort := freePort(t), freePort(t)
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(kubeletConfig(dir, socket, port, healthPort)+text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--config=" + config, "--root-dir=" + dir + "/root", "--cert-dir=" + dir + "/pki", "--hostname-override=e2e"}, given(extra)...)
	c := component{start(t, "kubelet", isolate(newest.program(t, "kubelet"), args...)...), loopback(port)}
	c.await(t, healthy(fmt.Sprintf("http://127.0.0.1:%d/healthz", healthPort)))
	c.await(t, healthy(c.url+"/healthz"))
	return c
}

func loopback(port int) string { return fmt.Sprintf("https://127.0.0.1:%d", port) }

// given leaves out empty flags.
func given(args []string) []string {
	var list []string
	for _, arg := range args {
		if arg != "" {
			list = append(list, arg)
		}
	}
	return list
}
