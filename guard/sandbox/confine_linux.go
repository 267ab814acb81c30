package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// confine gives this thread, and so the job it starts, the view and no powers.
func confine(o order) error {
	if err := errors.Join(leaveKeys(), offerMemory()); err != nil {
		return err
	}
	if err := build(o); err != nil {
		return err
	}
	return settleIn(o)
}

// leaveKeys leaves the session's keyring, which is inherited and may hold the user's tickets.
func leaveKeys() error {
	if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil && !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("leave keyring: %w", err)
	}
	return nil
}

// offerMemory lets the machine take this process first where memory runs out.
func offerMemory() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0); err != nil {
		return fmt.Errorf("offer memory: %w", err)
	}
	return nil
}

// settleIn makes the home in the view that is there, sets the limits and takes all powers away.
func settleIn(o order) error {
	if err := os.Mkdir("/tmp/home", 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make home: %w", err)
	}
	if err := limit(o.Processes); err != nil {
		return err
	}
	if err := keepFiles(); err != nil {
		return err
	}
	return disarm()
}

// keepFiles lets whatever else was inherited stay with this process.
func keepFiles() error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close files: %w", err)
	}
	return nil
}

// loopback raises lo, which a new network namespace has down.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

func limit(processes int) error {
	none := unix.Rlimit{}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &none); err != nil {
		return fmt.Errorf("limit core files: %w", err)
	}
	n := unix.Rlimit{Cur: uint64(processes), Max: uint64(processes)}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &n); err != nil {
		return fmt.Errorf("limit processes: %w", err)
	}
	return nil
}

// disarm drops every capability for good and keeps this process, whose other threads have them still, from being traced.
func disarm() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid tracing: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	for c := uintptr(0); c < 64; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // past the last one this kernel knows
		}
		if errors.Is(err, unix.EPERM) && powerless() {
			break // there is none to drop, and no new one to come
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// powerless says that this thread has no capability.
func powerless() bool {
	var have [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &have[0])
	return err == nil && have == [2]unix.CapUserData{}
}
