package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// apiServer is the kube-apiserver in this process.
type apiServer struct {
	cmd  *cobra.Command
	port string
}

// startAPIServer runs kube-apiserver in the background, as MicroShift's
// pkg/controllers/kube-apiserver.go does. Its end goes to failed.
func startAPIServer(args []string, failed chan<- error) apiServer {
	s := apiServer{cmd: app.NewAPIServerCommand()}
	for _, arg := range args {
		if port, ok := strings.CutPrefix(arg, "--secure-port="); ok {
			s.port = port
		}
	}
	s.cmd.SetArgs(args)
	go func() { failed <- fmt.Errorf("kube-apiserver has ended: %w", orEnded(s.cmd.Execute())) }()
	return s
}

// waitReady waits until kube-apiserver is ready.
func (s apiServer) waitReady() error {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // on loopback, and only to learn the status
	}}
	return wait(func() error { return ok(client.Get("https://127.0.0.1:" + s.port + "/readyz")) })
}

// wait tries for five minutes.
func wait(ready func() error) error {
	deadline := time.Now().Add(5 * time.Minute)
	for {
		err := ready()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// ok returns an error unless resp has status 200.
func ok(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

func orEnded(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}
