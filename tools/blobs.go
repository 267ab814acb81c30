package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Blobs keep bytes in a directory, each in a file named by the SHA-256 of its content and readable by its
// owner only. A file is there whole or not at all. They are safe for concurrent use, also by processes.
type Blobs struct{ dir string }

// NewBlobs makes the directory where it is missing. It is kept as an absolute path.
func NewBlobs(dir string) (*Blobs, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open blobs %s: %w", dir, err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	return &Blobs{dir: abs}, nil
}

// Put keeps the data and is durable when it returns.
func (b *Blobs) Put(media string, data []byte) (BlobRef, error) {
	sum := sha256.Sum256(data)
	ref := BlobRef{SHA256: hex.EncodeToString(sum[:]), Media: media, Bytes: int64(len(data))}
	if kept, err := os.ReadFile(b.Path(ref)); err == nil && bytes.Equal(kept, data) {
		return ref, nil
	}
	if err := b.write(b.Path(ref), data); err != nil {
		return BlobRef{}, fmt.Errorf("keep blob %s: %w", ref.SHA256, err)
	}
	return ref, nil
}

// Get is the bytes of a blob. A file whose content is not what its name says is an error.
func (b *Blobs) Get(sha string) ([]byte, error) {
	if !isHash(sha) {
		return nil, fmt.Errorf("read blob %q: not a SHA-256 in hex", sha)
	}
	data, err := os.ReadFile(filepath.Join(b.dir, sha))
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("read blob %s: its content has changed", sha)
	}
	return data, nil
}

// Path is the blob's file, absolute, where an ant's tools can read it.
func (b *Blobs) Path(ref BlobRef) string { return filepath.Join(b.dir, ref.SHA256) }

func (b *Blobs) write(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(b.dir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if gone := os.Remove(tmp.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(b.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == s
}
