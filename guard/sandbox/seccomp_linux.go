package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are calls that reach what Landlock does not look at: sockets of any kind, modes, owners, attributes and times of
// files, other processes, keys, memory shared by name, namespaces and mounts.
var denied = [...]uint32{
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
	unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_IOPRIO_SET,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT,
	unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_KEXEC_LOAD,
}

// owned are calls of which one argument names a process: only with 0, which is the caller itself.
var owned = map[uint32]uint32{unix.SYS_PRLIMIT64: 0, unix.SYS_SETPRIORITY: 1}

// requests to a file that are denied: to push characters into a terminal's input, to set attributes.
var requests = [...]uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.FS_IOC_SETFLAGS, setAttributes}

// setAttributes is FS_IOC_FSSETXATTR.
const setAttributes = 0x401c5820

const (
	spaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
		unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME
	forbid = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	allAre = unix.SECCOMP_RET_ALLOW

	atNumber, atArch, atArgs = 0, 4, 16 // in the kernel's description of a call
)

// program is the filter, as the kernel's small machine runs it.
func program() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	result := func(of uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: of} }
	unless := func(test uint16, k uint32, skip uint8) unix.SockFilter { // else skip so many
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jf: skip}
	}
	p := []unix.SockFilter{
		load(atArch), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syscallArch, Jt: 1}, result(forbid),
		load(atNumber), unless(unix.BPF_JGE, otherCalls, 1), result(forbid),
	}
	for _, list := range [][]uint32{denied[:], legacy[:]} {
		for _, call := range list {
			p = append(p, unless(unix.BPF_JEQ, call, 1), result(forbid))
		}
	}
	// glibc goes on with clone, whose flags can be read.
	p = append(p, unless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), result(absent),
		unless(unix.BPF_JEQ, unix.SYS_CLONE, 4), load(atArgs), unless(unix.BPF_JSET, spaces, 1), result(forbid), result(allAre))
	for call, argument := range owned {
		p = append(p, unless(unix.BPF_JEQ, call, 4), load(atArgs+8*argument), unless(unix.BPF_JEQ, 0, 1), result(allAre), result(forbid))
	}
	p = append(p, unless(unix.BPF_JEQ, unix.SYS_IOCTL, uint8(2+2*len(requests))), load(atArgs+8))
	for _, request := range requests {
		p = append(p, unless(unix.BPF_JEQ, request, 1), result(forbid))
	}
	return append(p, result(allAre), result(allAre))
}

// filter puts the filter on this thread and what it starts, for good.
func filter() error {
	p := program()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
