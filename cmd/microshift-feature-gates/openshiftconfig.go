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
// configuration replace each other. It is MicroShift's own with the authorizer
// before RBAC and Node: the first mode that has an opinion decides, and these
// two would let an old kubelet pass.
func authorizationModes() []string {
	return []string{"Scope", "SystemMasters", authorizer, "RBAC", "Node"}
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
		"A node that has just been created or updated in place may be locked out although its kubelet is new enough: its Node object",
		"has no version or the old one until the kubelet has written it. Restart the kubelet, or delete the Node, to get out of that.",
	} {
		fmt.Fprintf(a.stderr, "warning: %s\n", strings.TrimSpace(line))
	}
}
