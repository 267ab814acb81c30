package hatch

import (
	"io/fs"
	"os"
	"path/filepath"
)

// scratch is where the ants of the run have their /tmp.
func (c *Colony) scratch() string { return filepath.Join(c.parts.runDir(c.run), "scratch") }

// sweep takes away what ants left in their /tmp, also where they made it unwritable.
func (c *Colony) sweep() {
	err := os.RemoveAll(c.scratch())
	if err != nil {
		_ = filepath.WalkDir(c.scratch(), func(path string, d fs.DirEntry, err error) error { // what stays is told below
			if err == nil && d.IsDir() {
				return os.Chmod(path, 0o700)
			}
			return nil
		})
		err = os.RemoveAll(c.scratch())
	}
	if err != nil {
		c.parts.Diagnostics.Warn("remove the ants' scratch", "error", err)
	}
}
