package resolve

import (
	"strconv"
	"strings"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

// For returns the settings that a component is given, sorted by name. All of
// MicroShift's components share one process-wide gate table, so a gate has the
// same value for each component that recognises it. A gate that none does is
// given to kube-apiserver only, which warns of it in its log.
func (r *Result) For(c gates.Component) []Setting {
	var list []Setting
	for _, s := range r.Settings {
		if s.Gate.Has(c) || !s.Known() && c == gates.KubeAPIServer {
			list = append(list, s)
		}
	}
	return list
}

// Args returns what c is given as the values of --feature-gates, such as
// "MemoryQoS=true", sorted by name. It is empty, not nil, where there is nothing.
func (r *Result) Args(c gates.Component) []string {
	args := []string{}
	for _, s := range r.For(c) {
		args = append(args, s.Gate.Name+"="+strconv.FormatBool(s.Enabled))
	}
	return args
}

// Flag returns what c is given as one flag, or "" where there is nothing.
func (r *Result) Flag(c gates.Component) string {
	args := r.Args(c)
	if len(args) == 0 {
		return ""
	}
	return "--feature-gates=" + strings.Join(args, ",")
}

// Map returns what c is given as in the featureGates of a
// KubeletConfiguration. It is empty, not nil, where there is nothing.
func (r *Result) Map(c gates.Component) map[string]bool {
	m := map[string]bool{}
	for _, s := range r.For(c) {
		m[s.Gate.Name] = s.Enabled
	}
	return m
}
