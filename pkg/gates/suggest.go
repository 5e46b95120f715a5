package gates

import "github.com/microshift-io/microshift-feature-gates/pkg/diag"

// Suggest returns the gate that was probably meant by name, by the rules of
// diag.Nearest, or "" when no gate is near. A known name is its own suggestion.
func (r *Registry) Suggest(name string) string {
	names := make([]string, len(r.gates))
	for i, g := range r.gates {
		names[i] = g.Name
	}
	return diag.Nearest(name, names)
}
