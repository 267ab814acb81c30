package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A helper is this very program, started in namespaces of its own, before or after it has its order. To start one takes
// longer than the rest of a small job, so that one that nobody needed yet is kept.
type helper struct {
	cmd       *exec.Cmd
	kill      context.CancelFunc
	order     *os.File // written once, then held open for as long as the job may run
	report    *os.File
	first     []byte // what was read of the report already
	out, errs outlet
}

// start starts a helper in namespaces of its own, which waits for its order and ends when colony does.
func start(stdin *os.File) (*helper, error) {
	return launch("/proc/self/exe", []string{helperName}, stdin, nil, namespaces())
}

// launch starts a program that is a helper, or makes itself one; it finds the further files from firstFD on.
func launch(program string, argv []string, stdin *os.File, files []*os.File, attr *syscall.SysProcAttr) (*helper, error) {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer orderR.Close()
	reportR, reportW, err := pair()
	if err != nil {
		orderW.Close()
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer reportW.Close()
	ctx, kill := context.WithCancel(context.Background())
	h := &helper{kill: kill, order: orderW, report: reportR}
	h.cmd = exec.CommandContext(ctx, program)
	h.cmd.Args = argv
	h.cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=none"}
	h.cmd.Dir = "/"
	h.cmd.Stdout, h.cmd.Stderr = &h.out, &h.errs
	if stdin != nil {
		h.cmd.Stdin = stdin
	}
	h.cmd.ExtraFiles = append([]*os.File{orderR, reportW}, files...)
	h.cmd.WaitDelay = pipeGrace
	h.cmd.SysProcAttr = attr
	if err := h.cmd.Start(); err != nil {
		h.close()
		return nil, fmt.Errorf("sandbox: start %s: %w", argv[0], err)
	}
	return h, nil
}

// pair is a pipe that can carry files.
func pair() (r, w *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "report"), os.NewFile(uintptr(fds[1]), "report"), nil
}

func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setsid: true,
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_NET_BIND_SERVICE},
	}
}

// drop ends a helper that has no order.
func (h *helper) drop() {
	h.kill()
	_ = h.cmd.Wait() // it was killed: that is how it ended
	h.close()
}

// close frees what the helper holds of this process.
func (h *helper) close() {
	h.kill()
	h.order.Close()
	h.report.Close()
}

// spareAfter is how many jobs are run before a helper is kept ready. The probe and the first gate are on the way to a
// run's first request, where there is nothing beside which a further one could be started.
const spareAfter = 2

// makeSpare keeps one helper ready for the next job, where there is none. One that cannot be started now is tried again
// when it is needed, and then says why.
func (s *Sandbox) makeSpare() {
	if s.jobs.Add(1) <= spareAfter || s.closed.Load() || s.spare.Load() != nil {
		return
	}
	h, err := start(nil)
	if err != nil {
		return
	}
	if !s.spare.CompareAndSwap(nil, h) {
		h.drop()
	}
}

// spareFor takes the helper that is kept ready, where the job can have it: one that reads what it is sent cannot.
func (s *Sandbox) spareFor(j Job) *helper {
	if j.Stdin != nil {
		return nil
	}
	return s.spare.Swap(nil)
}

// Close ends the helper that is kept ready. No job may be started after it. A nil Sandbox has none.
func (s *Sandbox) Close() {
	if s == nil {
		return
	}
	s.closed.Store(true)
	if h := s.spare.Swap(nil); h != nil {
		h.drop()
	}
}

// outlet is where a stream of a helper goes, which is known only when it gets its order.
type outlet struct{ w atomic.Pointer[io.Writer] }

func (o *outlet) to(w io.Writer) {
	if w != nil {
		o.w.Store(&w)
	}
}

func (o *outlet) Write(p []byte) (int, error) {
	if w := o.w.Load(); w != nil {
		return (*w).Write(p)
	}
	return len(p), nil
}

// oneWriter says whether both streams go to one writer.
func oneWriter(a, b io.Writer) (one bool) {
	defer func() { _ = recover() }() // writers that cannot be compared are two
	return a != nil && a == b
}
