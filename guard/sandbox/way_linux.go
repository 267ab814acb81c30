package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/sourcegraph/conc"
	"golang.org/x/sys/unix"
)

// A listening socket belongs to the network in which it was made, whoever accepts from it. So the helper makes the
// listeners in the job's network and hands them to colony: nothing that leads out is in the job's reach but the ports.

// begin says that the job begins, and hands over the listeners.
func begin(report int, listeners []int) error {
	var rights []byte
	if len(listeners) > 0 {
		rights = unix.UnixRights(listeners...)
	}
	if err := unix.Sendmsg(report, []byte("\n"), rights, nil, 0); err != nil {
		return err
	}
	for _, fd := range listeners {
		unix.Close(fd)
	}
	return nil
}

// network raises the loopback of this process's network and makes a listener for each port.
func network(numbers []uint16) ([]int, error) {
	if err := loopback(); err != nil {
		return nil, fmt.Errorf("raise loopback: %w", err)
	}
	return ports(numbers)
}

// ports makes a listener of this process's loopback for each port.
func ports(numbers []uint16) ([]int, error) {
	var fds []int
	for _, port := range numbers {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		fds = append(fds, fd)
		at := &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}
		if err := errors.Join(unix.Bind(fd, at), unix.Listen(fd, 128)); err != nil {
			return nil, fmt.Errorf("port %d: %w", port, err)
		}
	}
	return fds, nil
}

// open serves the ways of a job as soon as its listeners come. What it returns ends that and says what went wrong; it is
// called when the helper has ended.
func (h *helper) open(ways []Way) func() error {
	if len(ways) == 0 {
		return func() error { return nil }
	}
	var all, first conc.WaitGroup
	var listeners []net.Listener
	trouble := make([]error, len(ways)+1)
	first.Go(func() {
		if listeners, trouble[len(ways)] = h.receive(len(ways)); len(listeners) < len(ways) {
			return
		}
		for i, w := range ways {
			all.Go(func() { trouble[i] = w.Serve(listeners[i]) })
		}
	})
	return func() error {
		first.Wait() // the helper has ended: there is a message, or the end
		for _, l := range listeners {
			l.Close()
		}
		all.Wait()
		return errors.Join(trouble...)
	}
}

// receive takes the helper's first word and the listeners with it. Without a word the job has not begun, which is said
// elsewhere.
func (h *helper) receive(n int) ([]net.Listener, error) {
	var word [1]byte
	rights := make([]byte, unix.CmsgSpace(4*n))
	got, more, _, _, err := unix.Recvmsg(int(h.report.Fd()), word[:], rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || got == 0 {
		return nil, err
	}
	h.first = word[:]
	messages, err := unix.ParseSocketControlMessage(rights[:more])
	if err != nil {
		return nil, fmt.Errorf("sandbox: take the ways: %w", err)
	}
	var listeners []net.Listener
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, fmt.Errorf("sandbox: take the ways: %w", err)
		}
		for _, fd := range fds {
			f := os.NewFile(uintptr(fd), "way")
			l, err := net.FileListener(f)
			f.Close()
			if err != nil {
				return listeners, fmt.Errorf("sandbox: take the ways: %w", err)
			}
			listeners = append(listeners, l)
		}
	}
	return listeners, nil
}
