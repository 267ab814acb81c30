package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"colony/failpoint"
)

// OwnedError is a log that another process appends to.
type OwnedError struct {
	Log   string
	PID   int
	Host  string
	Since time.Time
}

func (e *OwnedError) Error() string {
	return fmt.Sprintf("log %s is owned by process %d on %s since %s: stop that one first",
		e.Log, e.PID, e.Host, e.Since.UTC().Format(time.RFC3339))
}

// owner is what the lock file of a log says.
type owner struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// own takes the lock of the log in dir. It is held until the file is closed, also by the process's end.
func own(dir string, now time.Time) (*os.File, error) {
	if err := failpoint.Hit("event.own.before"); err != nil {
		return nil, fmt.Errorf("own log: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "owner"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("own log: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	for range 10 { // Owned holds the lock for a moment
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(2 * time.Millisecond)
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ownedBy(dir, f)
	} else if err == nil {
		err = sign(f, now)
	}
	if err == nil {
		err = failpoint.Hit("event.own.after")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ownedBy reads who holds the lock. A holder that has not signed yet is process 0.
func ownedBy(dir string, f *os.File) *OwnedError {
	var o owner
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil || json.Unmarshal(data, &o) != nil {
		o = owner{Host: "an unknown host"}
	}
	return &OwnedError{Log: dir, PID: o.PID, Host: o.Host, Since: o.Since}
}

// sign writes who holds the lock.
func sign(f *os.File, now time.Time) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("own log: %w", err)
	}
	data, err := json.Marshal(owner{os.Getpid(), host, now.UTC()})
	if err != nil {
		return fmt.Errorf("own log: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("own log: %w", err)
	}
	if _, err := f.WriteAt(append(data, '\n'), 0); err != nil {
		return fmt.Errorf("own log: %w", err)
	}
	return nil
}
