package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helperName is argv[0] of colony started as the helper of a job.
const helperName = "colony: sandbox helper"

const (
	orderFD   = 3 // the order, then open for as long as colony lives
	reportFD  = 4 // how the job ended
	maxReport = 64 << 10
	pipeGrace = 2 * time.Second
)

// An order is what the helper is told: the job as it is after all decisions.
type order struct {
	Argv      []string
	Dir       string
	Env       []string
	Places    []place
	Processes int
}

// A report is what the helper says. Trouble means that the job was not run.
type report struct {
	Code    int
	Signal  string
	Nanos   int64
	Trouble string
}

func (s *Sandbox) confined(ctx context.Context, j Job) (Exit, error) {
	told, err := json.Marshal(order{
		Argv: j.Argv, Dir: j.Dir, Places: s.view(j), Processes: s.processes,
		Env: merge(s.env, []string{"HOME=/tmp/home", "TMPDIR=/tmp"}, j.Env),
	})
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: write order: %w", err)
	}
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: %w", err)
	}
	defer orderW.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		orderR.Close()
		return Exit{}, fmt.Errorf("sandbox: %w", err)
	}
	defer reportR.Close()

	cmd := helper(ctx, j, orderR, reportW)
	err = cmd.Start()
	orderR.Close()
	reportW.Close()
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: start helper: %w", err)
	}
	_, untold := orderW.Write(told)
	waited := cmd.Wait()
	if ctx.Err() != nil {
		return killed(), fmt.Errorf("sandbox: %w", context.Cause(ctx))
	}
	return settle(reportR, waited, untold)
}

// helper is this very program, started in namespaces of its own.
func helper(ctx context.Context, j Job, orderR, reportW *os.File) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{helperName}
	cmd.Env = []string{"GOMAXPROCS=2", "GOGC=off", "GOTRACEBACK=none"}
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = j.Stdout, j.Stderr
	cmd.ExtraFiles = []*os.File{orderR, reportW}
	cmd.WaitDelay = pipeGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true,
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE},
	}
	return cmd
}

// settle makes an Exit of the helper's report. A helper that died without one was killed, with all of its job.
func settle(from io.Reader, waited, untold error) (Exit, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxReport))
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: read report: %w", err)
	}
	var r report
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
		return Exit{}, fmt.Errorf("sandbox: helper ended without a report: %w", errors.Join(waited, untold))
	}
	if r.Trouble != "" {
		return Exit{}, fmt.Errorf("sandbox: %s", r.Trouble)
	}
	return Exit{Code: r.Code, Signal: r.Signal, Duration: time.Duration(r.Nanos)}, nil
}

func killed() Exit {
	return Exit{Code: 128 + int(unix.SIGKILL), Signal: unix.SignalName(unix.SIGKILL)}
}
