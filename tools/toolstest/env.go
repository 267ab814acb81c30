package toolstest

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"colony/tools"
)

// NewEnv is an env on an empty scratch tree: processes run unconfined in a group of their own, nobody answers
// an ask, and dialling is an error. Its jobs end with the test.
func NewEnv(t testing.TB) *tools.Env {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := tools.NewBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	jobs := tools.NewJobs(run)
	t.Cleanup(jobs.Close)
	return &tools.Env{
		Root: root, Ant: "test-1", Cwd: func() string { return root },
		Tools: tools.NewRegistry(io.Discard),
		Files: tools.NewFileState(), Jobs: jobs, Locks: tools.NewPathLocks(), Blobs: blobs,
		Ask: func(context.Context, tools.Question) (tools.Answer, error) {
			return tools.Answer{Headless: true, Text: "nobody can answer"}, nil
		},
		Exec: run,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("dial: no network in tests")
		},
		Now:      time.Now,
		Progress: func(string) {},
	}
}

// run runs a process and kills what is left of its group when it or the context ends.
func run(ctx context.Context, p tools.Process) (tools.Exit, error) {
	start := time.Now()
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Env = p.Dir, append(cmd.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	if cmd.Process != nil {
		if gone := cmd.Cancel(); gone != nil && !errors.Is(gone, syscall.ESRCH) {
			return tools.Exit{}, gone
		}
	}
	exit := tools.Exit{Duration: time.Since(start)}
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		exit.Code = failed.ExitCode()
		if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			exit.Code, exit.Signal = 128+int(status.Signal()), status.Signal().String()
		}
		return exit, nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return exit, nil
	}
	if err != nil && ctx.Err() != nil {
		return tools.Exit{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL.String(), Duration: exit.Duration}, nil
	}
	return exit, err
}
