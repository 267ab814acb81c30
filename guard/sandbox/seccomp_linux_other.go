//go:build linux && !amd64 && !arm64

package sandbox

const (
	syscallArch = 0 // not known
	otherCalls  = 0
)

var legacy = [...]uint32{}
