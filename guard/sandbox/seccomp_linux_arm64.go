package sandbox

import "golang.org/x/sys/unix"

const (
	syscallArch = unix.AUDIT_ARCH_AARCH64
	otherCalls  = 0x40000000 // there are none so high
)

var legacy = [...]uint32{}
