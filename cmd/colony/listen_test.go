package main

import (
	"fmt"
	"net"

	"github.com/rogpeppe/go-internal/testscript"
)

// ear is a listener on loopback of one script. It tells who connected, in order.
type ear struct {
	address  string
	accepted chan string
}

// listen: `listen` opens a port on loopback and sets $PORT.
func listen(ts *testscript.TestScript, neg bool, _ []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	e := ts.Value(ear{}).(*ear)
	e.address, e.accepted = listener.Addr().String(), make(chan string, 1024)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			e.accepted <- conn.RemoteAddr().String()
			conn.Close()
		}
	}()
	ts.Defer(func() { listener.Close(); <-done })
	ts.Setenv("PORT", fmt.Sprint(listener.Addr().(*net.TCPAddr).Port))
}

// unheard: `unheard` wants that nobody connected to the port since the last time. Connections are taken in order, so its
// own, which comes last, shows that the listener works and that all before it were counted.
func unheard(ts *testscript.TestScript, neg bool, _ []string) {
	e := ts.Value(ear{}).(*ear)
	conn, err := net.Dial("tcp", e.address)
	ts.Check(err)
	defer conn.Close()
	others := 0
	for <-e.accepted != conn.LocalAddr().String() {
		others++
	}
	if (others > 0) != neg {
		ts.Fatalf("%d connections reached the listener", others)
	}
}
