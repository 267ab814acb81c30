package repo

// GoPaths is what a go.mod or go.work leads to, for the fuzz target.
var GoPaths = goPaths

// ReadIndex is what an index with ids of 20 bytes holds, for the fuzz target.
func ReadIndex(data []byte) (entries int, hides bool) {
	found := readIndex(data, 20)
	return found.entries, found.hides
}
