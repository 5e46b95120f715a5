// Command embedded does what MicroShift does with feature gates, on the
// original Kubernetes: kube-apiserver and kubelet run in one process and share
// one gate table, and startup.Run comes before both.
//
//	embedded -root DIR -version X.Y.Z -kubelet-config FILE -kubelet-root DIR -control PORT -- KUBE-APISERVER-FLAGS
//
// It prints "running" on stdout once both are healthy. http://127.0.0.1:PORT/gates
// then tells what the gate table says. It exits like microshift-feature-gates:
// 1 where the configuration is rejected, 3 where something could not be done,
// 4 where the lock stops the start.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/sirupsen/logrus"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// settings are the flags.
type settings struct {
	root, version string
	kubeletConfig string // a KubeletConfiguration without feature gates
	kubeletRoot   string
	control       int
	apiServerArgs []string
}

func main() {
	var s settings
	flag.StringVar(&s.root, "root", "", "root of the device")
	flag.StringVar(&s.version, "version", "", "version of MicroShift")
	flag.StringVar(&s.kubeletConfig, "kubelet-config", "", "file with a KubeletConfiguration")
	flag.StringVar(&s.kubeletRoot, "kubelet-root", "", "directory for the kubelet's data")
	flag.IntVar(&s.control, "control", 0, "port to answer at")
	flag.Parse()
	s.apiServerArgs = flag.Args()

	err := run(s)
	fmt.Fprintln(os.Stderr, "embedded:", err)
	var refusal *startup.Refusal
	switch {
	case !errors.As(err, &refusal):
		os.Exit(3)
	case refusal.ByLock:
		os.Exit(4)
	default:
		os.Exit(1)
	}
}

// run returns only with an error.
func run(s settings) error {
	running, err := lock.ParseVersion(s.version)
	if err != nil {
		return err
	}
	options := startup.DefaultOptions(s.root, running)
	log := logrus.New()
	log.SetFormatter(&logrus.TextFormatter{DisableColors: true})
	options.Log = log
	outcome, err := startup.Run(context.Background(), options)
	if err != nil {
		return err
	}

	failed := make(chan error, 3)
	server := startAPIServer(append(s.apiServerArgs, apiServerGates(outcome)...), failed)
	go func() {
		if err := server.waitReady(); err != nil {
			failed <- err
			return
		}
		if err := startKubelet(s, outcome, failed); err != nil {
			failed <- fmt.Errorf("kubelet: %w", err)
			return
		}
		fmt.Println("running")
	}()
	go func() {
		http.HandleFunc("/gates", printGates)
		failed <- http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", s.control), nil)
	}()
	return <-failed
}

// apiServerGates returns the flags that MicroShift gives in apiServerArguments.
func apiServerGates(outcome *startup.Outcome) []string {
	var flags []string
	for _, s := range outcome.Result.For(gates.KubeAPIServer) {
		if recognised("kube-apiserver", s.Gate.Name) {
			flags = append(flags, fmt.Sprintf("--feature-gates=%s=%t", s.Gate.Name, s.Enabled))
		}
	}
	return flags
}

// recognised reports whether the original Kubernetes has a gate. It does not
// start with others, of which OpenShift's only warns.
func recognised(component, name string) bool {
	_, ok := utilfeature.DefaultMutableFeatureGate.GetAll()[featuregate.Feature(name)]
	if !ok {
		fmt.Fprintf(os.Stderr, "embedded: %s is left out for %s, since only OpenShift's Kubernetes starts with it\n", name, component)
	}
	return ok
}

// printGates answers with the value of each gate in the shared table.
func printGates(w http.ResponseWriter, _ *http.Request) {
	values := map[featuregate.Feature]bool{}
	for name := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		values[name] = utilfeature.DefaultFeatureGate.Enabled(name)
	}
	_ = json.NewEncoder(w).Encode(values) // the asker may have gone
}
