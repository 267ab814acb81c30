package builtin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"colony/tools"
)

var (
	errNotRegular = errors.New("not a regular file: use sh where a device, pipe or socket is meant")
	errTooBig     = errors.New("too big for this tool: use sh with head, tail or sed")
)

// openDir opens a directory below the root one component at a time and follows no link, so it cannot be
// led out of the root by whoever swaps a directory for a link meanwhile. It makes what is missing if told.
func openDir(root, rel string, create bool) (*os.File, error) {
	dir, err := os.OpenFile(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil || rel == "." {
		return dir, err
	}
	for _, name := range strings.Split(rel, "/") {
		next, err := openAt(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if create && errors.Is(err, unix.ENOENT) {
			next, err = makeDir(dir, name)
		}
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func makeDir(dir *os.File, name string) (*os.File, error) {
	if err := unix.Mkdirat(int(dir.Fd()), name, 0o777); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, &os.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return openAt(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// plainly are the flags that open a file for reading without following a link, and without waiting for the
// other end of a pipe or taking a terminal.
const plainly = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY

func openAt(dir *os.File, name string, flags int, mode uint32) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_CLOEXEC, mode)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
		return os.NewFile(uintptr(fd), filepath.Join(dir.Name(), name)), nil
	}
}

// openPlace opens what stands at a place for reading, without following a link and without waiting for
// the other end of a pipe.
func openPlace(env *tools.Env, p place) (*os.File, os.FileInfo, error) {
	if p.rel == "." {
		dir, err := openDir(env.Root, ".", false)
		return statOf(dir, err)
	}
	dir, err := openDir(env.Root, filepath.Dir(p.rel), false)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	return statOf(openAt(dir, filepath.Base(p.rel), plainly, 0))
}

func statOf(f *os.File, err error) (*os.File, os.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// load reads a whole regular file of at most max bytes.
func load(f *os.File, info os.FileInfo, max int64) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if info.Size() > max {
		return nil, fmt.Errorf("%d bytes: %w", info.Size(), errTooBig)
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case int64(len(data)) > max:
			return nil, errTooBig
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// replace puts data at a place in one step: a reader sees the old bytes or the new ones. mode 0 is a new
// file's mode. The bytes and the name are on the disk when it returns.
func replace(root, rel string, data []byte, mode os.FileMode) error {
	dir, err := openDir(root, filepath.Dir(rel), true)
	if err != nil {
		return err
	}
	defer dir.Close()
	tmp := ".colony-tmp-" + rand.Text()
	if err := fill(dir, tmp, data, mode); err != nil {
		return errors.Join(err, remove(dir, tmp))
	}
	if err := unix.Renameat(int(dir.Fd()), tmp, int(dir.Fd()), filepath.Base(rel)); err != nil {
		return errors.Join(&os.PathError{Op: "rename", Path: rel, Err: err}, remove(dir, tmp))
	}
	return dir.Sync()
}

func fill(dir *os.File, name string, data []byte, mode os.FileMode) error {
	f, err := openAt(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o666)
	if err != nil {
		return err
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func remove(dir *os.File, name string) error {
	err := unix.Unlinkat(int(dir.Fd()), name, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
