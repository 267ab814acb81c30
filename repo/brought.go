package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// brought is what colony put into a worktree beside its commit, by path, with the mark that each file had then. It is
// kept beside the worktree's git, so that another process knows too what is not an ant's.
type brought struct {
	Files   map[string]string `json:"files"`
	Modules []string          `json:"modules"` // directories of submodules: nothing in them lands
}

func (t *Tree) broughtPath() string { return filepath.Join(t.GitDir, "brought.json") }

func (t *Tree) saveBrought() error {
	if len(t.brought.Files) == 0 && len(t.brought.Modules) == 0 {
		return nil
	}
	data, err := json.Marshal(t.brought)
	if err != nil {
		return err
	}
	return os.WriteFile(t.broughtPath(), data, 0o600)
}

func (t *Tree) loadBrought() error {
	data, err := os.ReadFile(t.broughtPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &t.brought)
}

// mark changes whenever a file does: its change time cannot be set back.
func mark(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", s.Ino, info.Size(), changeTime(s))
}

// ours reports whether a file of the worktree is as colony brought it.
func (t *Tree) ours(path string) bool {
	was, ok := t.brought.Files[path]
	if !ok {
		return false
	}
	info, err := os.Lstat(filepath.Join(t.Dir, filepath.FromSlash(path)))
	return err == nil && was != "" && mark(info) == was
}

// bring copies what lies under from into the worktree, where nothing is yet, and remembers it. Nothing is written through
// a link of the worktree.
func (t *Tree) bring(from string) error {
	src, err := os.OpenRoot(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer dst.Close()
	return fs.WalkDir(src.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		made, err := copyEntry(src, dst, name, d)
		if err != nil || !made || d.IsDir() {
			return err
		}
		return t.note(dst, name)
	})
}

// note remembers a file that was brought, as it is now.
func (t *Tree) note(in *os.Root, name string) error {
	info, err := in.Lstat(name)
	if err != nil {
		return err
	}
	if t.brought.Files == nil {
		t.brought.Files = map[string]string{}
	}
	t.brought.Files[filepath.ToSlash(name)] = mark(info)
	return nil
}

// noteModule remembers the files of a submodule.
func (t *Tree) noteModule(path string) error {
	in, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer in.Close()
	t.brought.Modules = append(t.brought.Modules, path)
	return fs.WalkDir(in.FS(), path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return t.note(in, name)
	})
}

// inModules are the files in submodules that are not as they were brought.
func (t *Tree) inModules() ([]string, error) {
	var changed []string
	seen := map[string]bool{}
	for _, module := range t.brought.Modules {
		err := filepath.WalkDir(filepath.Join(t.Dir, filepath.FromSlash(module)), func(at string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(t.Dir, at)
			if path := filepath.ToSlash(rel); err == nil && !seen[path] {
				seen[path] = true
				if !t.ours(path) {
					changed = append(changed, path)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for path := range t.brought.Files {
		if _, err := os.Lstat(filepath.Join(t.Dir, filepath.FromSlash(path))); err != nil && t.inModule(path) {
			changed = append(changed, path)
		}
	}
	return changed, nil
}

func (t *Tree) inModule(path string) bool {
	for _, m := range t.brought.Modules {
		if strings.HasPrefix(path, m+"/") {
			return true
		}
	}
	return false
}

// copyEntry copies one file, link or directory; false where something is there already.
func copyEntry(src, dst *os.Root, name string, d fs.DirEntry) (bool, error) {
	switch {
	case d.IsDir():
		err := dst.Mkdir(name, 0o755)
		if errors.Is(err, fs.ErrExist) {
			return false, blockedBy(dst, name)
		}
		return err == nil, err
	case d.Type() == fs.ModeSymlink:
		to, err := src.Readlink(name)
		if err == nil {
			err = dst.Symlink(to, name)
		}
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return err == nil, err
	case d.Type().IsRegular():
		return copyFile(src, dst, name)
	}
	return false, nil // pipes, sockets and devices stay where they are
}

// blockedBy leaves out a directory whose place another thing has.
func blockedBy(dst *os.Root, name string) error {
	if info, err := dst.Lstat(name); err != nil || !info.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func copyFile(src, dst *os.Root, name string) (bool, error) {
	from, err := src.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	to, err := dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err = reflink(to, from); err != nil {
		_, err = to.ReadFrom(from)
	}
	return true, errors.Join(err, to.Close())
}
