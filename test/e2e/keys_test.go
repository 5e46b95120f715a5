//go:build e2e

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// One key and certificate serve all components, and sign service account
// tokens too. One token has all rights.
var keys struct {
	cert, key, tokens string // files
	client            *http.Client
}

const token = "e2e"

// makeKeys writes the keys into dir.
func makeKeys(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	keys.cert, keys.key, keys.tokens = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "tokens.csv")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for file, data := range map[string][]byte{
		keys.cert:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keys.key:    pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
		keys.tokens: []byte(token + ",admin,admin,system:masters\n"),
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	keys.client = &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:    &tls.Config{RootCAs: roots},
			DisableCompression: true, // what is compressed must be seen
			DisableKeepAlives:  true, // servers come and go
		},
	}
	return nil
}

// kubeconfig writes a kubeconfig for the API server at url.
func kubeconfig(t testing.TB, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: e2e
contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]
clusters: [{name: e2e, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: e2e, user: {token: %q}}]
`, url, keys.cert, token)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// answer is what a server said.
type answer struct {
	status int
	header http.Header
	body   string
}

// request asks a server as the one who has all rights.
func request(method, url string, body io.Reader, header map[string]string) (answer, error) {
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := keys.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(data)}, err
}

// healthy returns a function that asks url until it says that all is well.
func healthy(url string) func() error {
	return func() error {
		a, err := request(http.MethodGet, url, nil, nil)
		if err == nil && a.status != http.StatusOK {
			err = fmt.Errorf("%s: %d %s", url, a.status, a.body)
		}
		return err
	}
}
