package repo

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// halfWritten begins the names of files that an edit of colony's writes before it renames them. One that is left was cut
// off; it is nobody's work.
const halfWritten = ".colony-tmp-"

func swept(name string) bool { return strings.HasPrefix(path.Base(name), halfWritten) }

// sweep removes what an edit that was cut off left.
func (t *Tree) sweep(name string) error {
	in, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := in.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// spread replaces the directories among paths by the files in them, so that each can be told apart. A directory that is a
// repository of its own stays one.
func (t *Tree) spread(paths []string) ([]string, error) {
	var all []string
	for _, p := range paths {
		dir := filepath.Join(t.Dir, filepath.FromSlash(p))
		if !strings.HasSuffix(p, "/") || len(t.brought.Files) == 0 {
			all = append(all, p)
			continue
		}
		err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(t.Dir, at)
			all = append(all, filepath.ToSlash(rel))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
