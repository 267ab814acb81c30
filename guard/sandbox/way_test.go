package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"colony/guard/sandbox"
)

// greet is a way at which every connection is told a word.
func greet(port uint16, word string, served *atomic.Int32) sandbox.Way {
	return sandbox.Way{Port: port, Serve: func(l net.Listener) error {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			served.Add(1)
			io.WriteString(conn, word)
			conn.Close()
		}
	}}
}

// A job reaches its ways, at ports of its own, and nothing else: no listener of this machine, though at the same port. S2, S6
func TestAJobReachesItsWaysOnly(t *testing.T) {
	each(t, testAJobReachesItsWaysOnly)
}

func testAJobReachesItsWaysOnly(t *testing.T, w world) {
	if w.isLocked() {
		if _, err := sandbox.New(t.Context(), w.parts("workspace+net")); err == nil || !strings.Contains(err.Error(), "no network of a job's own") {
			t.Errorf("%v", err)
		}
		return
	}
	outside := listen(t)
	var port uint16
	fmt.Sscanf(outside.addr, "127.0.0.1:%d", &port)
	s := w.open(t, "workspace+net")
	var served atomic.Int32
	for range 4 { // by a helper that was started for the job, and by one that was kept ready
		j := w.sh(fmt.Sprintf("cat < /dev/tcp/127.0.0.1/3128; cat < /dev/tcp/127.0.0.1/%d; cat < /dev/tcp/127.0.0.1/%d; echo; echo x > new; id -u >/dev/null", port, port-1))
		j.Ways = []sandbox.Way{greet(3128, "one ", &served), greet(port, "two", &served)}
		if exit, out := run(t, s, j); exit.Code != 0 || !strings.HasPrefix(out, "one two") || strings.Count(out, "refused") != 2 {
			t.Errorf("%+v %s", exit, out)
		}
		if _, out := run(t, s, w.sh("cat < /dev/tcp/127.0.0.1/3128")); strings.Contains(out, "one") || !strings.Contains(out, "refused") {
			t.Errorf("without a way: %s", out)
		}
	}
	if served.Load() != 8 || outside.n.Load() != 0 {
		t.Errorf("%d were served, %d came out", served.Load(), outside.n.Load())
	}
}

// Ways are of one level, and what they come to is the job's.
func TestWaysAreOfOneLevel(t *testing.T) {
	w := newWorld(t)
	var served atomic.Int32
	for _, level := range []string{"workspace", "read-only"} {
		j := w.sh("echo ran")
		j.Ways = []sandbox.Way{greet(80, "x", &served)}
		if _, err := w.open(t, level).Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "no way out") {
			t.Errorf("%s: %v", level, err)
		}
	}
	s := w.open(t, "workspace+net")
	j := w.sh("true")
	bad := errors.New("bad way")
	j.Ways = []sandbox.Way{{Port: 80, Serve: func(l net.Listener) error { return bad }}}
	if _, err := s.Run(t.Context(), j); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	j.Ways = []sandbox.Way{greet(80, "x", &served), greet(80, "y", &served)}
	var out strings.Builder
	j.Argv, j.Stdout = []string{"echo", "ran"}, &out
	if _, err := s.Run(t.Context(), j); err == nil || out.Len() > 0 {
		t.Errorf("two ways at one port: %v, %s", err, out.String())
	}
}
