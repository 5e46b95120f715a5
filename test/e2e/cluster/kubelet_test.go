//go:build e2e

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isolated runs a command in a mount namespace of its own, in which /var/lib is
// empty and the kernel settings that a kubelet changes are plain files.
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

// startKubelet starts a real kubelet, with a runtime that runs nothing, which
// registers its Node. It returns the Node's name.
func startKubelet(t *testing.T, s *server) string {
	t.Helper()
	const name = "real-kubelet"
	unshare := func(args ...string) []string {
		return append([]string{"--mount", "--propagation", "private", "sh", "-euc", isolated, "isolated"}, args...)
	}
	if os.Geteuid() != 0 {
		skip(t, "the kubelet needs root")
	}
	if text, err := exec.Command("unshare", unshare("true")...).CombinedOutput(); err != nil {
		skip(t, "no mount namespace for the kubelet: "+string(text))
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "cri.sock")
	cri, err := launch(filepath.Join(programs, "cri"), "-socket", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cri.end(syscall.SIGKILL) })
	eventually(t, "the container runtime", func() error {
		if !strings.Contains(cri.text(), "ready") {
			return errors.New(cri.tail())
		}
		return nil
	})
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: %d
readOnlyPort: 0
healthzPort: 0
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
`, port, keys.cert, keys.key, socket, dir, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := unshare(filepath.Join(programs, "kubelet"), "--config="+config, "--root-dir="+dir+"/root", "--cert-dir="+dir+"/pki",
		"--hostname-override="+name, "--node-ip=127.0.0.1", "--kubeconfig="+s.kubeconfig(t, "e2e"))
	kubelet, err := launch("unshare", args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kubelet.end(syscall.SIGKILL) })
	version := ""
	eventually(t, "the kubelet registers", func() error {
		if kubelet.ended() {
			t.Fatalf("the kubelet has ended:\n%s", kubelet.tail())
		}
		node, err := s.client.CoreV1().Nodes().Get(background, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if version = node.Status.NodeInfo.KubeletVersion; version == "" {
			return errors.New("no version yet")
		}
		return nil
	})
	note("a real kubelet %s registered as %s", version, name)
	return name
}
