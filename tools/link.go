package tools

import (
	"os"
	"path/filepath"
)

// follow is the place a path whose directory is resolved stands for: itself, or where it points when it is a
// dangling link.
func follow(path string, links int) (string, error) {
	target, err := os.Readlink(path)
	if err != nil {
		return path, nil // no link: nothing is there yet
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return resolve(target, links+1)
}
