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
// which it would lock out. Where the authorizer's gate is off, neither is in it:
// the authorizer would do nothing.
func openshiftConfigOf(out *startup.Outcome) openshiftConfig {
	args := out.Result.Args(gates.KubeAPIServer)
	v := openshiftConfig{APIServerArguments: map[string][]string{}}
	if minimum := out.Rollout.Enforced(); !minimum.IsZero() && !authorizerOff(out) {
		v.MinimumKubeletVersion = minimumText(minimum)
		v.APIServerArguments["authorization-mode"] = authorizationModes()
		if _, set := out.Result.Setting(authorizer); !set {
			args = append(args, authorizer+"=true")
			slices.Sort(args)
		}
	}
	if len(args) > 0 {
		v.APIServerArguments["feature-gates"] = args
	}
	return v
}

// authorizerOff reports whether the authorizer can't be had: the configuration
// turns its gate off, or this Kubernetes lacks it.
func authorizerOff(out *startup.Outcome) bool {
	if s, set := out.Result.Setting(authorizer); set {
		return !s.Enabled
	}
	g, ok := out.Result.Registry().Gate(authorizer)
	return !ok || !g.OpenShift
}

// warnOfLockout says on standard error whom the authorizer may lock out, or that
// it denies nobody.
func (a *app) warnOfLockout(out *startup.Outcome) {
	minimum := out.Rollout.Enforced()
	if minimum.IsZero() {
		return
	}
	lines := []string{
		fmt.Sprintf("kube-apiserver denies kubelets below %s with this configuration.", minimum),
		"A kubelet that is new enough is locked out as well while its Node object is missing, has no version or an old one, as that of a node",
		"that joins or was updated in place: it may neither create its Node nor patch its version. To let it in, write them as administrator.",
	}
	if authorizerOff(out) {
		lines = []string{
			"Nothing is denied with this configuration: the gate " + authorizer + ", which enforces the minimum, is off.",
			"To have kubelets below " + minimum.String() + " denied, update MicroShift to a version with that gate, and print this anew.",
		}
		if s, set := out.Result.Setting(authorizer); set {
			lines[1] = fmt.Sprintf("To have kubelets below %s denied, change %s (%s), which turns it off, restart MicroShift, and print this anew.", minimum, s.Origin.Path, s.Origin.Pos)
		}
	}
	for _, line := range lines {
		fmt.Fprintf(a.stderr, "warning: %s\n", strings.TrimSpace(line))
	}
}
