package tools

// nearest is the name that differs least, or nothing where even that one differs too much.
func nearest(name string, among []string) string {
	best, least := "", len(name)/2+1
	for _, other := range among {
		if d := distance(name, other); d < least {
			best, least = other, d
		}
	}
	return best
}

// distance counts insertions, deletions and changes of bytes. A very long name is far from all.
func distance(a, b string) int {
	if len(a) > maxName || len(b) > maxName {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			step := corner
			if a[i] != b[j] {
				step++
			}
			corner = row[j+1]
			row[j+1] = min(step, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
