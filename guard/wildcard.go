package guard

import "strings"

// wildcard matches a pattern with stars. On a command "*" is any run; on a path it stops at "/" and "**"
// crosses. It takes time in proportion to pattern times subject.
func wildcard(pattern, subject string, command bool) bool {
	// reach[i] says that the pattern read so far can end before subject[i].
	reach := make([]bool, len(subject)+1)
	reach[0] = true
	for pattern != "" {
		if pattern[0] != '*' {
			for i := len(subject); i > 0; i-- {
				reach[i] = reach[i-1] && subject[i-1] == pattern[0]
			}
			reach[0] = false
			pattern = pattern[1:]
			continue
		}
		rest := strings.TrimLeft(pattern, "*")
		crosses := command || len(pattern)-len(rest) > 1
		pattern = rest
		for i := range len(subject) {
			if reach[i] && (crosses || subject[i] != '/') {
				reach[i+1] = true
			}
		}
	}
	return reach[len(subject)]
}
