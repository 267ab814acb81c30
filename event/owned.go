package event

import (
	"os"
	"path/filepath"
	"syscall"
)

// OwnerOf is who appends to the log in dir; nil where no living process does. One that has not signed yet is process 0.
func OwnerOf(dir string) *OwnedError {
	if !Owned(dir) {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, "owner"))
	if err != nil {
		return nil // it has just gone
	}
	defer f.Close()
	return ownedBy(dir, f)
}

// Owned reports whether a living process appends to the log in dir.
func Owned(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "owner"))
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
