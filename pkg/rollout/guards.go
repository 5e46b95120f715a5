package rollout

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/microshift-io/microshift-feature-gates/assets"
)

// DefaultGuards returns the guarded gates, sorted by name. standing tells about each in the
// running Kubernetes; nil means that none is known.
func DefaultGuards(standing func(gate string) Standing) []Guard {
	var guards []Guard
	table := guarded()
	for _, gate := range slices.Sorted(maps.Keys(table)) {
		g := Guard{Gate: gate, Requires: table[gate]}
		if standing != nil {
			g.Standing = standing(gate)
		}
		guards = append(guards, g)
	}
	return guards
}

// guarded is the embedded table. It can't be read only if it was built wrong,
// which every start of any command would show.
var guarded = sync.OnceValue(func() map[string]Version {
	const file = "rollout/guarded.yaml"
	var table map[string]Version
	data, err := assets.FS.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(data, &table)
	}
	if err != nil {
		panic(fmt.Sprintf("embedded %s: %v", file, err))
	}
	return table
})
