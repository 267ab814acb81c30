package repo

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The state repository is colony's own, made by colony with loose objects and with refs as files. A commit or a ref is
// written there as git writes it, without a process for each.

// packers are kept, since a new one takes a megabyte.
var packers = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}

// writeLoose stores an object of the state repository and returns its id. It is as durable as what git add writes.
func (r *Repo) writeLoose(kind string, data []byte) (string, error) {
	var sum hash.Hash = sha1.New()
	if r.found.format == "sha256" {
		sum = sha256.New()
	}
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	sum.Write(whole)
	id := hex.EncodeToString(sum.Sum(nil))
	dir := filepath.Join(r.gitDir(), "objects", id[:2])
	path := filepath.Join(dir, id[2:])
	if _, err := os.Lstat(path); err == nil {
		now := time.Now() // so that nothing takes it for an old one that nobody needs
		return id, os.Chtimes(path, now, now)
	}
	var packed bytes.Buffer
	z := packers.Get().(*zlib.Writer)
	defer packers.Put(z)
	z.Reset(&packed)
	if _, err := z.Write(whole); err != nil {
		return "", err
	}
	if err := errors.Join(z.Close(), os.MkdirAll(dir, 0o700)); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(dir, "tmp_obj_") // git's prune knows the name
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(packed.Bytes())
	if err := errors.Join(err, tmp.Chmod(0o444), tmp.Close()); err != nil {
		return "", err
	}
	return id, os.Rename(tmp.Name(), path)
}

// lockTries bounds how often a ref that another has locked is tried; they are lockPause apart.
const (
	lockTries = 300
	lockPause = 10 * time.Millisecond
)

// setRef writes a ref of the state repository, or the HEAD of one of its worktrees, if it is at old; an empty old is
// for a ref whose old value does not matter.
func setRef(path, old, new string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := lockRef(path + ".lock")
	if err != nil {
		return err
	}
	defer os.Remove(lock.Name())
	at, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, lock.Close())
	}
	if now := strings.TrimSpace(string(at)); old != "" && now != old {
		return errors.Join(fmt.Errorf("%s is at %q, not at %s", path, now, old), lock.Close())
	}
	_, err = lock.WriteString(new + "\n")
	if err := errors.Join(err, lock.Close()); err != nil {
		return err
	}
	return os.Rename(lock.Name(), path)
}

// lockRef makes the lock file that git itself would make.
func lockRef(path string) (*os.File, error) {
	for try := 0; ; try++ {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == lockTries {
			return f, err
		}
		time.Sleep(lockPause)
	}
}
