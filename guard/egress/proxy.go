package egress

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"time"

	"github.com/sourcegraph/conc"
)

// Serve answers as an HTTP proxy on l until it is closed: CONNECT, and requests for whole addresses. Only ports 80 and
// 443 are reached, and what Own names.
func (d *Dialer) Serve(l net.Listener) error {
	transport := d.transport()
	defer transport.CloseIdleConnections()
	forward := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.Header.Del("Proxy-Authorization") },
		Transport:    &hop{dialer: d, next: transport},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { d.deny(w, err) },
		ErrorLog:     silent,
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop() // ends what is still joined
	server := &http.Server{
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: dialLimit, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: silent,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodConnect:
				d.tunnel(w, r)
			case !r.URL.IsAbs():
				http.Error(w, "colony: this is a proxy: ask for a whole address", http.StatusBadRequest)
			default:
				if err := d.usual(r.URL.Host, origin(r.URL)); err != nil {
					d.deny(w, err)
					return
				}
				d.parts.Told(r.URL.Hostname(), nil)
				forward.ServeHTTP(w, r)
			}
		}),
	}
	err := server.Serve(l)
	server.Close()
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// silent keeps what a process in the sandbox sends from being told to the operator.
var silent = log.New(io.Discard, "", 0)

// deny tells the process in the sandbox why, so that its output says so.
func (d *Dialer) deny(w http.ResponseWriter, err error) {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		d.parts.Told(refused.Host, refused)
		said := refused.Error()
		if refused.Unlisted {
			said += "; to reach it, name it under sandbox.net of the card or of your settings"
		}
		http.Error(w, "colony: "+said, http.StatusForbidden)
		return
	}
	http.Error(w, "colony: "+err.Error(), http.StatusBadGateway)
}

// usual refuses ports that no registry answers on: an allowed host is not a way to its mail or its shell.
func (d *Dialer) usual(shown, address string) error {
	h, port, err := split("tcp", address)
	if err != nil {
		return &RefusedError{Host: shown, Why: err.Error()}
	}
	if port != 80 && port != 443 && !slices.Contains(d.parts.Own, netip.AddrPortFrom(h.addr, port)) {
		return &RefusedError{Host: shown, Why: "only ports 80 and 443 are reached"}
	}
	return d.permits(h, port)
}

// tunnel joins the two connections until either side ends.
func (d *Dialer) tunnel(w http.ResponseWriter, r *http.Request) {
	if err := d.usual(r.Host, r.Host); err != nil {
		d.deny(w, err)
		return
	}
	there, err := d.Dial(r.Context(), "tcp", r.Host)
	if err != nil {
		d.deny(w, err)
		return
	}
	defer there.Close()
	if h, _, err := split("tcp", r.Host); err == nil {
		d.parts.Told(h.name, nil)
	}
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		d.deny(w, err)
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	defer context.AfterFunc(r.Context(), func() { here.Close(); there.Close() })()
	join(here, buffered, there)
}

// join copies both ways until both sides have ended. What here sends is read from buffered.
func join(here net.Conn, buffered io.Reader, there net.Conn) {
	var both conc.WaitGroup
	both.Go(func() { pass(there, buffered) })
	both.Go(func() { pass(here, there) })
	both.Wait()
}

// Forward answers on l, until it is closed, with what the service at the address says: every connection is joined to one
// that Dial makes.
func (d *Dialer) Forward(l net.Listener, address string) error {
	ctx, stop := context.WithCancel(context.Background())
	var all conc.WaitGroup
	defer all.Wait()
	defer stop()
	for {
		here, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		all.Go(func() {
			defer here.Close()
			there, err := d.Dial(ctx, "tcp", address)
			if err != nil {
				return
			}
			defer there.Close()
			defer context.AfterFunc(ctx, func() { here.Close(); there.Close() })()
			join(here, here, there)
		})
	}
}

// pass copies until from ends, and tells to that no more comes.
func pass(to net.Conn, from io.Reader) {
	_, err := io.Copy(to, from)
	half, ok := to.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		to.Close()
	}
}
