package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// What is kept of a place that a job could change, and must not, is bounded.
const (
	mostKept  = 16 << 20 // bytes
	mostFiles = 10000
)

// A copied is a path with all below it, as it was before a job.
type copied struct {
	path  string
	files []copiedFile // outer ones first
}

type copiedFile struct {
	path string // below the copied's
	mode fs.FileMode
	time time.Time
	data []byte
	link string
}

// copyAll remembers paths whole. One that is larger than what can be kept is refused.
func copyAll(paths []string) ([]copied, error) {
	var all []copied
	left, files := int64(mostKept), mostFiles
	for _, path := range paths {
		c, err := look(path, &left, &files)
		if err != nil {
			return nil, fmt.Errorf("sandbox: keep %s as it is: %w", path, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// look reads what is there.
func look(path string, left *int64, files *int) (copied, error) {
	c := copied{path: path}
	err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if *files--; *files < 0 {
			return fmt.Errorf("it holds more than %d files", mostFiles)
		}
		rel, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		f := copiedFile{path: rel, mode: info.Mode(), time: info.ModTime()}
		switch {
		case f.mode.IsRegular():
			if *left -= info.Size(); *left < 0 {
				return fmt.Errorf("it holds more than %d MiB", mostKept>>20)
			}
			f.data, err = os.ReadFile(at)
		case f.mode&fs.ModeSymlink != 0:
			f.link, err = os.Readlink(at)
		}
		c.files = append(c.files, f)
		return err
	})
	return c, err
}

// restoreAll makes the paths what they were, and says so where it was needed.
func restoreAll(all []copied, say io.Writer) error {
	var trouble error
	for _, c := range all {
		left, files := int64(mostKept), mostFiles
		if now, err := look(c.path, &left, &files); err == nil && c.same(now) {
			continue
		}
		if say != nil {
			fmt.Fprintf(say, "colony: %s is protected: what this command did there was undone\n", filepath.Base(c.path))
		}
		if err := c.restore(); err != nil {
			trouble = errors.Join(trouble, fmt.Errorf("sandbox: restore %s: %w", c.path, err))
		}
	}
	return trouble
}

func (c copied) same(now copied) bool {
	if len(c.files) != len(now.files) {
		return false
	}
	for i, f := range c.files {
		n := now.files[i]
		if f.path != n.path || f.mode != n.mode || f.link != n.link || !bytes.Equal(f.data, n.data) || f.mode.IsRegular() && !f.time.Equal(n.time) {
			return false
		}
	}
	return true
}

// restore puts back what was there, where no link leads.
func (c copied) restore() error {
	if err := remove(c.path); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(c.path))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range c.files {
		if err := f.put(root, filepath.Join(filepath.Base(c.path), f.path)); err != nil {
			return err
		}
	}
	for i := len(c.files) - 1; i >= 0; i-- { // inner ones first: a directory may be closed
		f := c.files[i]
		if at := filepath.Join(filepath.Base(c.path), f.path); f.mode.IsDir() {
			if err := errors.Join(root.Chmod(at, f.mode.Perm()), root.Chtimes(at, f.time, f.time)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f copiedFile) put(root *os.Root, at string) error {
	switch {
	case f.mode.IsDir():
		return root.Mkdir(at, 0o700)
	case f.mode&fs.ModeSymlink != 0:
		return root.Symlink(f.link, at)
	case f.mode.IsRegular():
		return errors.Join(root.WriteFile(at, f.data, 0o600), root.Chmod(at, f.mode.Perm()), root.Chtimes(at, f.time, f.time))
	}
	return nil // a device or a socket: nobody made it part of a repository
}
