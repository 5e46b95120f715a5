package gates

import "strings"

// maxDistance bounds how many typing errors Suggest forgives.
const maxDistance = 4

// Suggest returns the gate that was probably meant by name: one that differs
// only in case, or else the one with the fewest typing errors, at most one for
// every five letters and maxDistance altogether, but always one. Of equally
// near ones it is the first by name. It returns "" when no gate is near.
func (r *Registry) Suggest(name string) string {
	nearest, bound := "", min(max(1, len(name)/5), maxDistance)
	name = strings.ToLower(name)
	for _, g := range r.gates {
		d := distance(name, strings.ToLower(g.Name), bound)
		if d == 0 {
			return g.Name
		}
		if d <= bound {
			nearest, bound = g.Name, d-1
		}
	}
	return nearest
}

// distance returns how many letters must be inserted, deleted, replaced or
// swapped with their neighbour to turn a into b (optimal string alignment), or
// any number over bound when it is over bound.
func distance(a, b string, bound int) int {
	if max(len(a)-len(b), len(b)-len(a)) > bound {
		return bound + 1
	}
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		lowest := row[0]
		for j := range len(b) {
			replaced := previous[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(previous[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			lowest = min(lowest, row[j+1])
		}
		if lowest > bound+1 {
			return lowest // no later row gets below this one less a swap
		}
		before, previous, row = previous, row, before
	}
	return previous[len(b)]
}
