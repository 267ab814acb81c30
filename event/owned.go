package event

import (
	"os"
	"path/filepath"
	"syscall"
)

// Owned reports whether a living process appends to the log in dir.
func Owned(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "owner"))
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
