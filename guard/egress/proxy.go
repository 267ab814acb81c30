package egress

import (
	"errors"
	"io"
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
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { deny(w, err) },
	}
	server := &http.Server{ReadHeaderTimeout: dialLimit, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodConnect:
				d.tunnel(w, r)
			case !r.URL.IsAbs():
				http.Error(w, "colony: this is a proxy: ask for a whole address", http.StatusBadRequest)
			default:
				if err := d.usual(r.URL.Host, origin(r.URL)); err != nil {
					deny(w, err)
					return
				}
				forward.ServeHTTP(w, r)
			}
		})}
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// deny tells the process in the sandbox why, so that its output says so.
func deny(w http.ResponseWriter, err error) {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		http.Error(w, "colony: "+refused.Error(), http.StatusForbidden)
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
		deny(w, err)
		return
	}
	there, err := d.Dial(r.Context(), "tcp", r.Host)
	if err != nil {
		deny(w, err)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		deny(w, err)
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both conc.WaitGroup
	both.Go(func() { pass(there, buffered) })
	both.Go(func() { pass(here, there) })
	both.Wait()
}

// pass copies until from ends, and tells to that no more comes.
func pass(to net.Conn, from io.Reader) {
	_, err := io.Copy(to, from)
	half, ok := to.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		to.Close()
	}
}
