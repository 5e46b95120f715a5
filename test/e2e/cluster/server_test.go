//go:build e2e

package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var keys struct{ dir, cert, key, tokens string }

// makeKeys makes one certificate for everything, and a token with all rights.
func makeKeys() error {
	keys.dir = filepath.Join(output, "cluster", "keys")
	keys.cert, keys.key, keys.tokens = filepath.Join(keys.dir, "cert.pem"), filepath.Join(keys.dir, "key.pem"), filepath.Join(keys.dir, "tokens.csv")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(keys.dir, 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(keys.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(keys.key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600),
		os.WriteFile(keys.tokens, []byte("e2e,admin,admin,system:masters\n"), 0o600),
		os.WriteFile(filepath.Join(keys.dir, "audit.yaml"), []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"), 0o600),
	)
}

// server is a kube-apiserver with an etcd of its own.
type server struct {
	*process
	url, audit string
	args       []string
	client     kubernetes.Interface // with all rights
	dynamic    dynamic.Interface
}

func newServer(t testing.TB) *server {
	t.Helper()
	etcdPort, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	etcd, err := launch(filepath.Join(programs, "etcd"), "-port", fmt.Sprint(etcdPort), "-dir", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { etcd.end(syscall.SIGKILL) })
	eventually(t, "etcd", func() error {
		if !strings.Contains(etcd.text(), "ready") {
			return errors.New(etcd.tail())
		}
		return nil
	})
	s := &server{url: fmt.Sprintf("https://127.0.0.1:%d", port), audit: filepath.Join(t.TempDir(), "audit.log")}
	s.args = []string{
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + keys.cert, "--tls-private-key-file=" + keys.key,
		"--service-cluster-ip-range=10.0.0.0/24", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keys.key, "--service-account-signing-key-file=" + keys.key,
		"--token-auth-file=" + keys.tokens, "--authorization-mode=RBAC",
		"--audit-policy-file=" + filepath.Join(keys.dir, "audit.yaml"), "--audit-log-path=" + s.audit, "--audit-log-mode=blocking",
		fmt.Sprintf("--secure-port=%d", port), fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", etcdPort),
	}
	config := s.config("e2e")
	config.QPS = -1
	if s.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	s.up(t)
	t.Cleanup(func() { s.end(syscall.SIGKILL) })
	return s
}

func (s *server) config(token string) *rest.Config {
	return &rest.Config{Host: s.url, BearerToken: token, UserAgent: "e2e-test", TLSClientConfig: rest.TLSClientConfig{CAFile: keys.cert}}
}

// up starts the API server and waits until it is ready.
func (s *server) up(t testing.TB) {
	t.Helper()
	var err error
	if s.process, err = launch(filepath.Join(programs, "kube-apiserver"), s.args...); err != nil {
		t.Fatal(err)
	}
	eventually(t, "kube-apiserver", func() error {
		if s.ended() {
			return errors.New(s.tail())
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return s.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// kubeconfig writes a kubeconfig.
func (s *server) kubeconfig(t testing.TB, token string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: e2e
contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]
clusters: [{name: e2e, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: e2e, user: {token: %q}}]
`, s.url, keys.cert, token)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
