package diag

import "strings"

// Nearest returns the known word that was probably meant by word: one that
// differs only in case, or else the one with the fewest typing errors, at most
// one for every five letters and four altogether, but always one. Of equally
// near ones it is the first. It returns "" when none is near.
func Nearest(word string, known []string) string {
	lower := strings.ToLower(word)
	best, limit := "", min(max(1, len(word)/5), 4)+1
	for _, k := range known {
		if d := distance(lower, strings.ToLower(k), limit); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// distance returns how many letters must be inserted, deleted, replaced or
// swapped with their neighbour to turn a into b (optimal string alignment), or
// limit where it is not less than that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, previous := make([]int, len(b)+1), make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
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
		before, previous, row = previous, row, before
	}
	return min(previous[len(b)], limit)
}
