//go:build unix

package trust

import (
	"errors"
	"os"
	"syscall"
	"time"
)

const lockLimit = 10 * time.Second

// lock takes the file's lock, which the kernel frees when its owner dies.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockLimit); ; time.Sleep(2 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) || time.Now().After(end) {
			return nil, errors.Join(err, f.Close())
		}
	}
}
