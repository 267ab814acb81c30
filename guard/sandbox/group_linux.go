package sandbox

import "syscall"

// ownGroup starts a process in a group of its own, which the kernel ends where this one ends first.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
