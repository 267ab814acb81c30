package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Helper does a sandbox helper's work and never returns, where this process was started as one; else it returns at once.
// It is the first line of main, and of TestMain in every package whose tests run jobs.
func Helper() {
	if len(os.Args) == 2 && os.Args[0] == dialName {
		dial(os.Args[1])
	}
	if len(os.Args) > 2 && os.Args[0] == wrapperName {
		becomeBubblewrap(os.Args[1], os.Args[2:])
	}
	make := map[string]func(order) ([]int, error){helperName: inNamespaces, wrappedName: inBubblewrap}[called()]
	switch called() {
	case lockedName:
		keepLocked()
	case innerName:
		becomeJob()
	}
	if make == nil {
		return
	}
	// Capabilities and no_new_privs belong to a thread: the one that drops them is the one that starts the job.
	runtime.LockOSThread()
	out := os.NewFile(reportFD, "report")
	r := serve(make)
	if err := json.NewEncoder(out).Encode(r); err != nil {
		syscall.Exit(125)
	}
	syscall.Exit(0)
}

// called is the helper that this process was started as: by its name, or by its only argument where another program
// starts it.
func called() string {
	switch {
	case len(os.Args) == 1:
		return os.Args[0]
	case len(os.Args) == 2 && os.Args[0] == wrappedExe:
		return os.Args[1]
	}
	return ""
}

// inNamespaces makes the network and the view, and takes all powers away.
func inNamespaces(o order) ([]int, error) {
	listeners, err := network(o.Ports)
	if err != nil {
		return nil, fmt.Errorf("make the network: %w", err)
	}
	return listeners, confine(o)
}

// serve reads the order, builds the view, runs the job and says how it ended. It is process 1: when it ends, the kernel
// ends what is left.
func serve(make func(order) ([]int, error)) report {
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(reportFD)
	in := os.NewFile(orderFD, "order")
	from := json.NewDecoder(in)
	var o order
	if err := from.Decode(&o); err != nil {
		return report{Trouble: "read order: " + err.Error()}
	}
	if err := deafen(); err != nil {
		return report{Trouble: "ignore signals: " + err.Error()}
	}
	listeners, err := make(o)
	if err != nil {
		return report{Trouble: err.Error()}
	}
	// Whoever reads this knows from it that the job began, and that no other helper may do it.
	if err := begin(reportFD, listeners); err != nil {
		return report{Trouble: "begin: " + err.Error()}
	}
	r := run(o)
	runtime.KeepAlive(in) // which closes the order's end
	return r
}

// deafen keeps the signals that a job may send to process 1 from ending it: the kernel drops those that it has no handler
// for, and the runtime has one for each.
func deafen() error {
	for _, s := range [...]unix.Signal{
		unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGABRT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGTSTP,
		unix.SIGTTIN, unix.SIGTTOU,
	} {
		var none [4]uint64 // the kernel's sigaction: the default, no flags, no mask
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0); errno != 0 {
			return errno
		}
	}
	return nil
}

func run(o order) report {
	if o.Joined {
		if err := unix.Dup3(1, 2, 0); err != nil {
			return report{Trouble: "join streams: " + err.Error()}
		}
	}
	for _, entry := range o.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	if err := os.Chdir(o.Dir); err != nil { // the job's own doing: it may write there
		fmt.Fprintln(os.Stderr, "colony: cannot enter "+o.Dir+": "+errors.Unwrap(err).Error())
		return report{Code: 126}
	}
	began := time.Now()
	path, err := exec.LookPath(o.Argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return refuse(o.Argv[0], err)
	}
	pid, err := syscall.ForkExec(path, o.Argv, &syscall.ProcAttr{
		Env: o.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return refuse(path, err)
	}
	go follow(o.Memory, everybody, func() { syscall.Kill(-1, syscall.SIGKILL) }, func() { syscall.Exit(125) }) //nolint:errcheck // all may have ended
	r := await(pid)
	r.Nanos = int64(time.Since(began))
	return r
}

// await waits for the process, and reaps others that end meanwhile.
func await(pid int) report {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR || err == nil && got != pid:
		case err != nil:
			return report{Trouble: "wait: " + err.Error()}
		case status.Signaled():
			s := status.Signal()
			return report{Code: 128 + int(s), Signal: unix.SignalName(s)}
		default:
			return report{Code: status.ExitStatus()}
		}
	}
}

func refuse(name string, err error) report {
	code, said := unstarted(name, err)
	fmt.Fprintln(os.Stderr, said)
	return report{Code: code}
}
