package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

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

// page counts the requests for the page of one script.
type page struct{ n atomic.Int32 }

// serve: `serve FILE` answers every request on a port of loopback with the file, and sets $SERVED to ADDRESS:PORT.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	text, count := ts.ReadFile(args[0]), ts.Value(page{}).(*page)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.n.Add(1)
		io.WriteString(w, text)
	}))
	ts.Defer(server.Close)
	ts.Setenv("SERVED", strings.TrimPrefix(server.URL, "http://"))
}

// unserved: `unserved` wants that nobody asked for the page so far.
func unserved(ts *testscript.TestScript, neg bool, _ []string) {
	if n := ts.Value(page{}).(*page).n.Load(); (n > 0) != neg {
		ts.Fatalf("the page was asked for %d times", n)
	}
}
