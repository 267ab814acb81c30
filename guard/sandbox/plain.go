//go:build linux || darwin

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plain runs a job unconfined.
func (s *Sandbox) plain(ctx context.Context, j Job) (Exit, error) {
	j.Env = merge(s.given(j), []string{"HOME=" + s.home}, j.Env)
	return grouped(ctx, j)
}

// grouped runs a job, with no environment but its own, in a process group that is killed when it ends.
func grouped(ctx context.Context, j Job) (Exit, error) {
	// The kernel kills the job when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd := exec.CommandContext(ctx, j.Argv[0], j.Argv[1:]...)
	cmd.Dir = j.Dir
	cmd.Env = j.Env
	cmd.Stdout, cmd.Stderr = j.Stdout, j.Stderr
	if j.Stdin != nil {
		cmd.Stdin = j.Stdin
	}
	cmd.WaitDelay = 200 * time.Millisecond // a survivor may hold the output; it is killed next
	cmd.SysProcAttr = ownGroup()
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = group
	began := time.Now()
	err := cmd.Start()
	if err != nil {
		if ctx.Err() != nil {
			return killed(), fmt.Errorf("sandbox: %w", context.Cause(ctx))
		}
		code, said := unstarted(j.Argv[0], err)
		if j.Stderr != nil {
			fmt.Fprintln(j.Stderr, said)
		}
		return Exit{Code: code}, nil
	}
	err = cmd.Wait()
	if gone := group(); gone != nil && !errors.Is(gone, syscall.ESRCH) {
		return Exit{}, fmt.Errorf("sandbox: end group of %s: %w", j.Argv[0], gone)
	}
	if ctx.Err() != nil {
		return killed(), fmt.Errorf("sandbox: %w", context.Cause(ctx))
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended && !errors.Is(err, exec.ErrWaitDelay) {
		return Exit{}, fmt.Errorf("sandbox: run %s: %w", j.Argv[0], err)
	}
	exit := Exit{Code: cmd.ProcessState.ExitCode(), Duration: time.Since(began)}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Code, exit.Signal = 128+int(status.Signal()), unix.SignalName(status.Signal())
	}
	return exit, nil
}

// unstarted is the exit code and the words of a shell for a command that cannot be started.
func unstarted(name string, err error) (code int, said string) {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127, "colony: " + name + ": command not found"
	}
	return 126, "colony: " + name + ": " + err.Error()
}

func killed() Exit {
	return Exit{Code: 128 + int(unix.SIGKILL), Signal: unix.SignalName(unix.SIGKILL)}
}

// ownScratch is a scratch that ends with its job.
func ownScratch() (string, error) {
	dir, err := os.MkdirTemp("", "colony-job-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	return dir, nil
}
