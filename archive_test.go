package colony_test

import (
	"strconv"
	"strings"
	"testing"
)

// FS08: nothing of colony unpacks an archive, so that no entry of one can lead out of where it was meant to go.
func TestNothingUnpacksAnArchive(t *testing.T) {
	for _, files := range rooms(t) {
		for path, file := range files {
			for _, spec := range file.Imports {
				if name, _ := strconv.Unquote(spec.Path.Value); strings.HasPrefix(name, "archive/") {
					t.Errorf("%s imports %s: entries of an archive lead out by .., by absolute names, by links and by hard links", path, name)
				}
			}
		}
	}
}
