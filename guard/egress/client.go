package egress

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Hops is how many redirects are followed.
const Hops = 5

// carried are the headers that go with a redirect to another origin: they say what is wanted, not who wants it.
var carried = []string{"Accept", "Accept-Language", "User-Agent"}

// Client returns a client whose every connection and redirect this dialler decides on. It takes no proxy from the
// environment and keeps no cookies.
func (d *Dialer) Client() *http.Client {
	return &http.Client{Transport: &hop{dialer: d, next: d.transport()}, CheckRedirect: redirect}
}

func (d *Dialer) transport() *http.Transport {
	return &http.Transport{
		Proxy: nil, DialContext: d.Dial, ForceAttemptHTTP2: true, MaxIdleConns: 16, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: dialLimit, ResponseHeaderTimeout: time.Minute, MaxResponseHeaderBytes: 256 << 10,
	}
}

// A hop is one request to one place.
type hop struct {
	dialer *Dialer
	next   http.RoundTripper
}

// RoundTrip gives the host its one spelling, so that what policy reads is what is dialled, sent and named in TLS.
func (h *hop) RoundTrip(req *http.Request) (*http.Response, error) {
	to := *req.URL
	if err := tidy(&to); err != nil {
		return nil, closing(req, &RefusedError{Host: req.URL.Host, Why: err.Error()})
	}
	host, port, err := split("tcp", origin(&to))
	if err == nil {
		err = h.dialer.permits(host, port)
	}
	if err != nil {
		return nil, closing(req, err)
	}
	sent := req.Clone(req.Context())
	sent.URL, sent.Host = &to, ""
	return h.next.RoundTrip(sent)
}

// closing closes a body that will not be sent, as a RoundTripper must.
func closing(req *http.Request, err error) error {
	if req.Body != nil {
		return errors.Join(err, req.Body.Close())
	}
	return err
}

// origin is host:port of a tidy URL.
func origin(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return u.Host + ":443"
	}
	return u.Host + ":80"
}

// redirect is asked before each hop after the first.
func redirect(req *http.Request, before []*http.Request) error {
	if len(before) > Hops {
		return fmt.Errorf("more than %d redirects", Hops)
	}
	last := *before[len(before)-1].URL
	if err := errors.Join(tidy(&last), tidy(req.URL)); err != nil {
		return &RefusedError{Host: req.URL.Host, Why: err.Error()}
	}
	if last.Scheme == "https" && req.URL.Scheme == "http" {
		return &RefusedError{Host: req.URL.Host, Why: "a redirect from https to http"}
	}
	req.Header.Del("Referer")
	if last.Scheme == req.URL.Scheme && strings.EqualFold(origin(&last), origin(req.URL)) && sameSoFar(before) {
		return nil
	}
	if req.Body != nil || req.ContentLength != 0 {
		return &RefusedError{Host: req.URL.Host, Why: "a redirect would send the body to another origin"}
	}
	for name := range req.Header {
		if !slices.Contains(carried, name) {
			req.Header.Del(name)
		}
	}
	return nil
}

// sameSoFar says that no hop has left the first origin: net/http takes headers from the first request each time.
func sameSoFar(before []*http.Request) bool {
	first := *before[0].URL
	if tidy(&first) != nil {
		return false
	}
	return !slices.ContainsFunc(before, func(r *http.Request) bool {
		u := *r.URL
		return tidy(&u) != nil || u.Scheme != first.Scheme || origin(&u) != origin(&first)
	})
}
