package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plain runs a job unconfined, in a process group of its own that is killed when the job ends.
func (s *Sandbox) plain(ctx context.Context, j Job) (Exit, error) {
	// The kernel kills the job when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd := exec.CommandContext(ctx, j.Argv[0], j.Argv[1:]...)
	cmd.Dir = j.Dir
	cmd.Env = merge(s.env, []string{"HOME=" + s.home}, j.Env)
	cmd.Stdout, cmd.Stderr = j.Stdout, j.Stderr
	cmd.WaitDelay = 200 * time.Millisecond // a survivor may hold the output; it is killed next
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
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
