package sandbox

import "golang.org/x/sys/unix"

const (
	syscallArch = unix.AUDIT_ARCH_X86_64
	otherCalls  = 0x40000000 // those of x32 begin here
)

// legacy are calls that newer machines do not have.
var legacy = [...]uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_MODIFY_LDT,
	unix.SYS_IOPERM, unix.SYS_IOPL,
}
