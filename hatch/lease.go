package hatch

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Ports of leases, below those that systems give out by themselves.
const (
	firstPort  = 21000
	leasePorts = 4
	mostLeases = 2000
)

// lease is what the processes of an ant, or of a gate, have of the machine for themselves: ports, and an ending for names
// in what they share, as a database. A locked file holds it, so that it is free with its process, however that ends.
type lease struct {
	file   *os.File
	number int
	locks  []string
}

// takeLease takes the first that is free, of those that all runs of this state directory share.
func takeLease(dir string, locks []string) (*lease, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("take a lease: %w", err)
	}
	for n := range mostLeases {
		f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(n)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("take a lease: %w", err)
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && unheard(n) {
			return &lease{f, n, locks}, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("take a lease: all %d are taken", mostLeases)
}

// unheard reports whether nobody outside listens on the ports of a lease.
func unheard(n int) bool {
	for i := range leasePorts {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port(n, i))))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

func port(n, i int) int { return firstPort + n*leasePorts + i }

// env is how processes see it.
func (l *lease) env() []string {
	out := []string{"COLONY_SUFFIX=_c" + strconv.Itoa(l.number), "COLONY_LOCKS=" + strings.Join(l.locks, ",")}
	for i := range leasePorts {
		out = append(out, fmt.Sprintf("COLONY_PORT_%d=%d", i, port(l.number, i)))
	}
	return out
}

// end gives it back.
func (l *lease) end() { l.file.Close() }

// leases is the directory of all leases.
func (h *House) leases() string { return filepath.Join(h.State, "leases") }
