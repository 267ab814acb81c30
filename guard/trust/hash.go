package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const fileLimit = 16 << 20

// File is a file of a repository as it was read: what is shown, hashed and used are these same bytes.
type File struct {
	Name string // relative to the repository, slash-separated
	Data []byte
}

// LeadsOutError names a file that a repository brings but that is not in it, or is no plain file: its content is not the
// repository's to vouch for.
type LeadsOutError struct {
	Path, Why string
}

func (e *LeadsOutError) Error() string {
	return fmt.Sprintf("trust %s: %s; make it a plain file in the repository", e.Path, e.Why)
}

// Read returns the named files of the repository at root, in the order of their names, each once. A link is followed within
// root; one that leads out is a *LeadsOutError, as is what is no regular file or too large. A missing file is an
// fs.ErrNotExist.
func Read(root string, names ...string) ([]File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	defer dir.Close()
	names = slices.Clone(names)
	slices.Sort(names)
	var files []File
	for _, name := range slices.Compact(names) {
		if !filepath.IsLocal(name) || path.Clean(name) != name {
			return nil, &LeadsOutError{Path: name, Why: "the name is not a clean path in the repository"}
		}
		data, err := read(dir, name)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: name, Data: data})
	}
	return files, nil
}

// read opens without waiting, so that a pipe cannot hold it.
func read(dir *os.Root, name string) ([]byte, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("trust: %w", err)
	}
	if err != nil {
		return nil, &LeadsOutError{Path: name, Why: "it leads out of the repository"}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &LeadsOutError{Path: name, Why: "it is no regular file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	if len(data) > fileLimit {
		return nil, &LeadsOutError{Path: name, Why: fmt.Sprintf("it is larger than %d bytes", fileLimit)}
	}
	return data, nil
}

// Hash returns one sha256, in hex, over the names and bytes of all files. Their order does not matter.
func Hash(files ...File) string {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	total := sha256.New()
	for _, f := range files {
		for _, part := range [][]byte{[]byte(f.Name), f.Data} {
			// With the lengths no two lists of files are the same bytes.
			total.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			total.Write(part)
		}
	}
	return hex.EncodeToString(total.Sum(nil))
}
