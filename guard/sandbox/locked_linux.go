package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lockedName = "colony: sandbox locked" // argv[0] of colony started to watch over a job without namespaces
	innerName  = "colony: sandbox inner"  // argv[0] of colony started to become that job
	troubleFD  = 4                        // where the latter says why it does not
)

// keepLocked runs the job that is ordered in processes that stay below this one, and ends whatever is left of them. It
// does not return. It is not confined itself, so that the job can do nothing to it.
func keepLocked() {
	runtime.LockOSThread()
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(reportFD)
	out := os.NewFile(reportFD, "report")
	if err := json.NewEncoder(out).Encode(watch(os.NewFile(orderFD, "order"))); err != nil {
		syscall.Exit(125)
	}
	syscall.Exit(0)
}

func watch(in *os.File) report {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return report{Trouble: "become the parent of orphans: " + err.Error()}
	}
	from := json.NewDecoder(in)
	var o order
	if err := from.Decode(&o); err != nil {
		return report{Trouble: "read order: " + err.Error()}
	}
	if o.Joined {
		if err := unix.Dup3(1, 2, 0); err != nil {
			return report{Trouble: "join streams: " + err.Error()}
		}
	}
	began := time.Now()
	pid, err := inner(o)
	if err != nil {
		sweep()
		return report{Trouble: err.Error()}
	}
	go follow(o.Memory, offspring, killChildren, killChildren)
	if err := begin(reportFD, nil); err != nil {
		sweep()
		return report{Trouble: "begin: " + err.Error()}
	}
	r := await(pid)
	r.Nanos = int64(time.Since(began))
	sweep()
	runtime.KeepAlive(in) // which closes the order's end
	return r
}

// sweep ends all that is left. Whoever loses its parent becomes a child of this process, so that at last there is none.
func sweep() {
	for {
		killChildren()
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && err != syscall.EINTR {
			return
		}
	}
}

func killChildren() {
	for _, pid := range children(os.Getpid()) {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
	}
}

// inner starts the process that confines itself and becomes the job, and waits until it has, or says why not.
func inner(o order) (pid int, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return 0, fmt.Errorf("write order: %w", err)
	}
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("pass order: %w", err)
	}
	order := os.NewFile(uintptr(fd), "order")
	defer order.Close()
	_, wrote := order.Write(text)
	_, sought := order.Seek(0, io.SeekStart)
	r, w, err := os.Pipe()
	if err := errors.Join(wrote, sought, err); err != nil {
		return 0, fmt.Errorf("pass order: %w", err)
	}
	defer r.Close()
	pid, err = syscall.ForkExec("/proc/self/exe", []string{innerName}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2, order.Fd(), w.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	w.Close()
	if err != nil {
		return 0, fmt.Errorf("start: %w", err)
	}
	trouble, err := io.ReadAll(io.LimitReader(r, maxReport))
	if err == nil && len(trouble) > 0 {
		err = errors.New(string(trouble))
	}
	return pid, err
}

// becomeJob confines this thread and turns it into the job. It does not return.
func becomeJob() {
	runtime.LockOSThread()
	var o order
	err := json.NewDecoder(os.NewFile(orderFD, "order")).Decode(&o)
	if err == nil {
		err = shut(o)
	}
	if err != nil {
		fmt.Fprint(os.NewFile(troubleFD, "trouble"), err)
		syscall.Exit(125)
	}
	for _, entry := range o.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	if err := os.Chdir(o.Dir); err != nil {
		fmt.Fprintln(os.Stderr, "colony: cannot enter "+o.Dir+": "+errors.Unwrap(err).Error())
		syscall.Exit(126)
	}
	path, err := exec.LookPath(o.Argv[0])
	if err == nil || errors.Is(err, exec.ErrDot) {
		err = syscall.Exec(path, o.Argv, o.Env)
	}
	code, said := unstarted(o.Argv[0], err)
	fmt.Fprintln(os.Stderr, said)
	syscall.Exit(code)
}

// shut takes from this thread all that the job must not have.
func shut(o order) error {
	home := ""
	for _, entry := range o.Env {
		if dir, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = dir
		}
	}
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make home: %w", err)
	}
	if err := errors.Join(leaveKeys(), offerMemory(), enter(o.Group), limit(o.Processes), keepFiles(), disarm()); err != nil {
		return err
	}
	if err := lock(o.Grants); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := filter(); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}
