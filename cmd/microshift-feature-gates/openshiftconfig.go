package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// authorizer is the authorization mode of OpenShift's kube-apiserver that
// denies old kubelets, and the gate that it is behind.
const authorizer = "MinimumKubeletVersion"

// authorizationModes returns the whole list, since argument lists in a
// configuration replace each other. It is MicroShift's own (its
// assets/controllers/kube-apiserver/defaultconfig.yaml) with the authorizer where
// OpenShift has it (cluster-kube-apiserver-operator,
// pkg/operator/configobservation/node, TestAddAuthorizationModes): the first mode
// that has an opinion decides, and Node would let an old kubelet pass.
func authorizationModes() []string {
	return []string{"Scope", "SystemMasters", "RBAC", authorizer, "Node"}
}

// openshiftConfig is the fragment of a KubeAPIServerConfig, as the file behind
// kube-apiserver's --openshift-config has it.
type openshiftConfig struct {
	APIServerArguments    map[string][]string `json:"apiServerArguments"`
	MinimumKubeletVersion string              `json:"minimumKubeletVersion,omitempty"`
}

// openshiftConfigOf returns what kube-apiserver is to be configured with. The
// minimum is the enforced one: there is none before a node has registered,
// which it would lock out.
func openshiftConfigOf(out *startup.Outcome) openshiftConfig {
	args := out.Result.Args(gates.KubeAPIServer)
	v := openshiftConfig{
		APIServerArguments:    map[string][]string{},
		MinimumKubeletVersion: minimumText(out.Rollout.Enforced()),
	}
	if v.MinimumKubeletVersion != "" {
		v.APIServerArguments["authorization-mode"] = authorizationModes()
		if _, set := out.Result.Setting(authorizer); !set {
			if g, ok := out.Result.Registry().Gate(authorizer); ok && g.OpenShift {
				args = append(args, authorizer+"=true")
				slices.Sort(args)
			}
		}
	}
	if len(args) > 0 {
		v.APIServerArguments["feature-gates"] = args
	}
	return v
}

// warnOfLockout says on standard error whom the authorizer may lock out.
func (a *app) warnOfLockout(v openshiftConfig) {
	if v.MinimumKubeletVersion == "" {
		return
	}
	for _, line := range []string{
		fmt.Sprintf("kube-apiserver denies kubelets below %s with this configuration.", v.MinimumKubeletVersion),
		"A kubelet that is new enough is locked out as well while its Node object is missing, has no version or an old one, as that of a node",
		"that joins or was updated in place: it may neither create its Node nor patch its version. To let it in, write them as administrator.",
	} {
		fmt.Fprintf(a.stderr, "warning: %s\n", strings.TrimSpace(line))
	}
}
