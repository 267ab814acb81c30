package tools

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// rank is the specs that match the words of the query, best first; equal ones ascending by name.
func rank(among []Spec, query string) []Spec {
	words := strings.Fields(strings.ToLower(query))
	type scored struct {
		spec  Spec
		score int
	}
	var found []scored
	for _, s := range among {
		if score := score(s, query, words); score > 0 {
			found = append(found, scored{s, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]Spec, len(found))
	for i, f := range found {
		out[i] = f.spec
	}
	return out
}

// score weighs an exact name above a word in the name, that above one in an argument's name, and that above one
// in the description.
func score(s Spec, query string, words []string) int {
	total := 0
	if s.Name == query {
		total += 1000
	}
	name, text, args := strings.ToLower(s.Name), strings.ToLower(s.Description), strings.ToLower(argNames(s))
	for _, w := range words {
		for weight, in := range map[int]string{9: name, 4: args, 2: text} {
			if strings.Contains(in, w) {
				total += weight
			}
		}
	}
	return total
}

// argNames are the tool's argument names, one a line.
func argNames(s Spec) string {
	return strings.Join(slices.Sorted(maps.Keys(properties(schemaOf(s)))), "\n")
}
