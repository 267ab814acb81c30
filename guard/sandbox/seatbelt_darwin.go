package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// What is in this file was never run.

var mechanisms = [...]string{Seatbelt}

const sandboxExec = "/usr/bin/sandbox-exec"

// Helper returns at once: no helper is needed on this platform.
func Helper() {}

func (s *Sandbox) ready() error {
	_, err := os.Stat(sandboxExec)
	return err
}

// confined runs a job by sandbox-exec. It has the paths that it has outside, so that its /tmp is its scratch by another name.
func (s *Sandbox) confined(ctx context.Context, j Job) (exit Exit, err error) {
	if len(j.Bound) > 0 {
		return Exit{}, errors.New("sandbox: seatbelt shows nothing at another place")
	}
	if j.Scratch == "" {
		if j.Scratch, err = ownScratch(); err != nil {
			return Exit{}, err
		}
		defer func() { err = errors.Join(err, remove(j.Scratch)) }()
	}
	home := j.Scratch + "/home"
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return Exit{}, fmt.Errorf("sandbox: %w", err)
	}
	limited := "ulimit -c 0; ulimit -u " + strconv.Itoa(s.processes) + `; exec "$@"`
	j.Argv = append([]string{sandboxExec, "-p", seatbelt(s.view(j)), "/bin/sh", "-c", limited, "sh"}, j.Argv...)
	j.Env = merge(s.given(j), []string{"HOME=" + home, "TMPDIR=" + j.Scratch}, j.Env)
	return grouped(ctx, j)
}

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func direct(string) bool { return false }

func there(path string) bool {
	var stat unix.Stat_t
	return unix.Lstat(path, &stat) == nil
}

// machineMemory is 0: memory is not bounded on this platform.
func machineMemory() int64 { return 0 }

type helper struct{}

// Close does nothing: no helper is kept on this platform.
func (s *Sandbox) Close() {}
