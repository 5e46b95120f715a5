package gates

import "strings"

// maxDistance bounds how many typing errors Suggest forgives.
const maxDistance = 4

// Suggest returns the gate that was probably meant by name: one that differs
// only in case, or else the one with the fewest typing errors, at most one for
// every five letters and maxDistance altogether, but always one. Of equally
// near ones it is the first by name. It returns "" when no gate is near.
func (r *Registry) Suggest(name string) string {
	best, bestDistance := "", min(max(1, len(name)/5), maxDistance)+1
	lower := strings.ToLower(name)
	for _, g := range r.gates {
		if abs(len(g.Name)-len(lower)) >= bestDistance {
			continue
		}
		if d := distance(lower, strings.ToLower(g.Name)); d < bestDistance {
			best, bestDistance = g.Name, d
		}
	}
	return best
}

// distance returns how many letters must be inserted, deleted, replaced or
// swapped with their neighbour to turn a into b (optimal string alignment).
func distance(a, b string) int {
	before, previous := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			substitution := previous[j]
			if a[i] != b[j] {
				substitution++
			}
			row[j+1] = min(previous[j+1]+1, row[j]+1, substitution)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}

func abs(n int) int { return max(n, -n) }
