package strict

import "strings"

// Nearest is the one of among that a person most likely meant by name: the least edit distance, case left
// aside, no more than a third of the name and never all of it. It is "" when nothing is near. Of equals the first wins.
func Nearest(name string, among []string) string {
	runes := []rune(strings.ToLower(name))
	if len(runes) > 100 {
		return ""
	}
	best, least := "", min(max(1, len(runes)/3)+1, len(runes))
	for _, candidate := range among {
		if d := distance(runes, []rune(strings.ToLower(candidate))); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of neighbours.
func distance(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// meant is ": did you mean X?" or nothing.
func meant(name string, among []string) string {
	if near := Nearest(name, among); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}
