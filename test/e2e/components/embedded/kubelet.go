package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/configfiles"
	"k8s.io/kubernetes/pkg/util/filesystem"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// startKubelet runs the kubelet in the background, as MicroShift's
// pkg/node/kubelet.go does, and waits until it is healthy. Its end goes to failed.
func startKubelet(s settings, outcome *startup.Outcome, failed chan<- error) error {
	cfg, err := loadKubeletConfig(s, outcome)
	if err != nil {
		return err
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(cfg.FeatureGates); err != nil {
		return err
	}
	server := &options.KubeletServer{KubeletFlags: *options.NewKubeletFlags(), KubeletConfiguration: *cfg}
	server.RootDirectory = s.kubeletRoot
	server.CertDirectory = s.kubeletRoot + "/pki"
	server.HostnameOverride = "e2e"
	ctx := context.Background()
	deps, err := app.UnsecuredDependencies(ctx, server, utilfeature.DefaultFeatureGate)
	if err != nil {
		return err
	}
	go func() {
		failed <- fmt.Errorf("the kubelet has ended: %w", orEnded(app.Run(ctx, server, deps, utilfeature.DefaultFeatureGate)))
	}()
	health := fmt.Sprintf("http://127.0.0.1:%d/healthz", cfg.HealthzPort)
	return wait(func() error { return ok(http.Get(health)) })
}

// loadKubeletConfig writes the kubelet's configuration the way MicroShift does,
// and loads it: a template with feature gates, and after it as text what the
// user has under kubelet, where a second featureGates replaces the first.
func loadKubeletConfig(s settings, outcome *startup.Outcome) (*config.KubeletConfiguration, error) {
	base, err := os.ReadFile(s.kubeletConfig)
	if err != nil {
		return nil, err
	}
	values := resolve.BuiltInKubeletGates()
	maps.Copy(values, outcome.Result.Map(gates.Kubelet))
	text := string(base) + featureGates(values)
	if user := outcome.Config.Kubelet; len(user) > 0 {
		values = map[string]bool{}
		for name, v := range user {
			values[name] = v.V
		}
		text += featureGates(values)
	}
	file := s.kubeletConfig + ".complete"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	loader, err := configfiles.NewFsLoader(&filesystem.DefaultFs{}, file)
	if err != nil {
		return nil, err
	}
	cfg, err := loader.Load(context.Background())
	if err == nil && cfg == nil {
		err = errors.New("no configuration")
	}
	return cfg, err
}

// featureGates returns the key of a KubeletConfiguration.
func featureGates(values map[string]bool) string {
	var b strings.Builder
	b.WriteString("featureGates:\n")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if recognised("the kubelet", name) {
			fmt.Fprintf(&b, "  %s: %t\n", name, values[name])
		}
	}
	return b.String()
}
