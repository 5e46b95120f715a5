package rollout

import (
	"fmt"
	"slices"
)

// Lag is an enabled gate with the nodes whose kubelet is too old to know it.
// It is for a warning: nothing is held back for these nodes.
type Lag struct {
	Gate  string
	Since Version  // first Kubernetes version that has the gate
	Nodes []string // sorted, not empty
}

// String is the warning, with at most ten nodes by name.
func (l Lag) String() string {
	return fmt.Sprintf("%s exists since Kubernetes %s; the kubelet of %s is older and does not know it", l.Gate, l.Since, list(l.Nodes))
}

// Lagging returns one Lag per enabled gate that some kubelet is too old for,
// sorted by gate. since holds the first Kubernetes version of each gate; a gate
// that is not in it, or with none, concerns no node. A kubelet whose version
// can't be read is not called older.
func Lagging(enabled []string, since map[string]Version, nodes []Node) []Lag {
	kubelets := survey(nodes)
	var lags []Lag
	for _, gate := range slices.Compact(slices.Sorted(slices.Values(enabled))) {
		lag := Lag{Gate: gate, Since: since[gate]}
		for _, k := range kubelets {
			if !k.version.IsZero() && k.version.Less(lag.Since) {
				lag.Nodes = append(lag.Nodes, k.node)
			}
		}
		if len(lag.Nodes) > 0 {
			lags = append(lags, lag)
		}
	}
	return lags
}
