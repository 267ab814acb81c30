package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// kept is a protected path as it was before a job.
type kept struct {
	path  string
	there bool
	mode  fs.FileMode
	link  string // where a link led
}

// remember looks at the protected paths of a job.
func remember(paths []string) ([]kept, error) {
	out := make([]kept, 0, len(paths))
	for _, path := range paths {
		k := kept{path: path}
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("sandbox: %w", err)
		default:
			k.there, k.mode = true, info.Mode()
		}
		if k.mode&fs.ModeSymlink != 0 {
			if k.link, err = os.Readlink(path); err != nil {
				return nil, fmt.Errorf("sandbox: %w", err)
			}
		}
		out = append(out, k)
	}
	return out, nil
}

// bindable lists those that a job finds read-only: a link cannot be, and what is not there cannot.
func bindable(all []kept) []string {
	var out []string
	for _, k := range all {
		if k.plain() {
			out = append(out, k.path)
		}
	}
	return out
}

// plain says that a file or a directory was there.
func (k kept) plain() bool { return k.there && (k.mode.IsRegular() || k.mode.IsDir()) }

// restore makes the protected paths what they were: what the job made is removed, and a link leads where it led. It says
// so among what the job said.
func restore(all []kept, say io.Writer) error {
	var trouble error
	for _, k := range all {
		if k.unchanged() {
			continue
		}
		if say != nil {
			fmt.Fprintf(say, "colony: %s is protected: what this command made there was undone\n", filepath.Base(k.path))
		}
		if err := k.restore(); err != nil {
			trouble = errors.Join(trouble, fmt.Errorf("sandbox: restore %s: %w", k.path, err))
		}
	}
	return trouble
}

// unchanged says that the path is as it was. What was mounted was read-only.
func (k kept) unchanged() bool {
	link, err := os.Readlink(k.path)
	switch {
	case k.plain():
		return true
	case k.link != "":
		return err == nil && link == k.link
	case k.there:
		return true // a device or a socket: nobody made it part of a repository
	}
	return errors.Is(err, fs.ErrNotExist)
}

func (k kept) restore() error {
	if _, err := os.Lstat(k.path); err == nil {
		if err := remove(k.path); err != nil {
			return err
		}
	}
	if k.link != "" {
		return os.Symlink(k.link, k.path)
	}
	return nil
}

// remove removes a tree whose directories its maker may have closed.
func remove(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	root, err := os.OpenRoot(filepath.Dir(path)) // no link in the tree leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	return errors.Join(fs.WalkDir(root.FS(), filepath.Base(path), func(at string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return root.Chmod(at, 0o700)
		}
		return err
	}), root.RemoveAll(filepath.Base(path)))
}
