package egress_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"colony/guard/egress"
)

// site is a server of the world outside: every allowed name leads to it.
func site(t *testing.T, handler http.HandlerFunc, allow ...string) (*egress.Dialer, string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	at := netip.MustParseAddrPort(s.Listener.Addr().String())
	var asked atomic.Int32
	d := egress.New(egress.Parts{Allow: hosts(t, allow...), Own: []netip.AddrPort{at}, Lookup: answers(&asked, "127.0.0.1")})
	return d, fmt.Sprint(at.Port())
}

// A redirect is a new request to a new place. NW02
func TestRedirectsAreDecidedOnAnew(t *testing.T) {
	c := newCanary(t)
	for name, to := range map[string]string{
		"this machine": "http://127.0.0.1:" + c.port + "/secret", "by name": "http://localhost:" + c.port + "/secret",
		"not allowed": "http://other.test:" + c.port + "/", "a file": "file:///etc/passwd", "a user": "http://u:p@ok.test/",
		"an allowed name elsewhere": "http://ok.test:" + c.port + "/secret", "unreadable": "http://①:" + c.port + "/",
		"no scheme": "//127.0.0.1:" + c.port + "/", "mapped": "http://[::ffff:127.0.0.1]:" + c.port + "/",
	} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			d, port := site(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/" {
					w.Header().Set("Location", to)
					w.WriteHeader(code)
				}
			}, "ok.test")
			req, err := http.NewRequest("POST", "http://ok.test:"+port+"/", strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Key", "key")
			if reply, err := d.Client().Do(req); err == nil {
				text, _ := io.ReadAll(reply.Body)
				reply.Body.Close()
				t.Errorf("%s, %d: %d %s", name, code, reply.StatusCode, text)
			}
		}
	}
	if n := c.hits.Load(); n != 0 {
		t.Errorf("%d hits", n)
	}
}

func TestRedirectsAreBounded(t *testing.T) {
	var hits atomic.Int32
	d, port := site(t, func(w http.ResponseWriter, r *http.Request) {
		var left int
		fmt.Sscanf(r.URL.Path, "/%d", &left)
		hits.Add(1)
		if left > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
		}
	}, "ok.test")
	for hops, works := range map[int]bool{0: true, egress.Hops: true, egress.Hops + 1: false, 1000: false} {
		hits.Store(0)
		reply, err := d.Client().Get(fmt.Sprintf("http://ok.test:%s/%d", port, hops))
		if err == nil {
			reply.Body.Close()
		}
		if (err == nil) != works || int(hits.Load()) > egress.Hops+1 {
			t.Errorf("%d hops: %v after %d requests", hops, err, hits.Load())
		}
	}
}

// What was meant for one origin does not reach another, nor come back to the first by way of another.
func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	seen := map[string]http.Header{}
	var port string
	d, port := site(t, func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Host, ".")
		seen[name+r.URL.Path] = r.Header.Clone()
		switch name + r.URL.Path {
		case "a/start":
			http.Redirect(w, r, "/same", http.StatusFound)
		case "a/same":
			http.Redirect(w, r, "http://b.ok.test:"+port+"/other", http.StatusFound)
		case "b/other":
			http.Redirect(w, r, "http://a.ok.test:"+port+"/back", http.StatusFound)
		}
	}, "*.ok.test")
	req, err := http.NewRequest("GET", "http://A.ok.test.:"+port+"/start", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "Accept"} {
		req.Header.Set(name, "canary")
	}
	reply, err := d.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	for place, holds := range map[string]bool{"a/start": true, "a/same": true, "b/other": false, "a/back": false} {
		h, there := seen[place]
		if !there || h.Get("Accept") != "canary" || h.Get("Referer") != "" {
			t.Errorf("%s: %v", place, h)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			if (h.Get(name) != "") != holds {
				t.Errorf("%s: %s is %q", place, name, h.Get(name))
			}
		}
	}
	// A body does not go to another origin either.
	d, port = site(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "b.") {
			t.Error("the body went elsewhere")
		}
		http.Redirect(w, r, "http://b.ok.test:"+port+"/", http.StatusTemporaryRedirect)
	}, "*.ok.test")
	if reply, err := d.Client().Post("http://a.ok.test:"+port+"/", "text/plain", strings.NewReader("body")); err == nil {
		reply.Body.Close()
		t.Error("the body was sent again")
	}
}

// proxy serves a dialler's proxy and returns a client of it.
func proxy(t *testing.T, d *egress.Dialer) (*http.Client, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- d.Serve(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	at := &url.URL{Scheme: "http", Host: l.Addr().String()}
	transport := &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, l.Addr().String()
}

func TestTheProxyHasTheSamePolicy(t *testing.T) {
	c := newCanary(t)
	var asked atomic.Int32
	client, at := proxy(t, egress.New(egress.Parts{Allow: hosts(t, egress.Any), Lookup: answers(&asked, "127.0.0.1")}))
	for _, s := range spellings {
		text := strings.ReplaceAll(s, "P", c.port)
		if reply, err := client.Get(text); err == nil {
			reply.Body.Close()
			if reply.StatusCode < 400 {
				t.Errorf("%q: %d", text, reply.StatusCode)
			}
		}
		_, after, found := strings.Cut(text, "//")
		if !found || strings.ContainsAny(after, " \t\n") {
			continue
		}
		for _, line := range []string{"CONNECT " + strings.TrimSuffix(after, "/"), "GET " + text, "GET / "} {
			if code := raw(t, at, line+" HTTP/1.1\r\nHost: 127.0.0.1:"+c.port+"\r\nConnection: close\r\n\r\n"); code < 400 {
				t.Errorf("%q: %d", line, code)
			}
		}
	}
	if n := c.hits.Load(); n != 0 {
		t.Errorf("%d hits", n)
	}
}

func raw(t *testing.T, at, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 600 // it hung up
	}
	defer reply.Body.Close()
	return reply.StatusCode
}

func TestTheProxyForwards(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "plain ", r.Host, r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Forwarded-For"))
	}))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "secure") }))
	defer secure.Close()
	own := []netip.AddrPort{netip.MustParseAddrPort(plain.Listener.Addr().String()), netip.MustParseAddrPort(secure.Listener.Addr().String())}
	d := egress.New(egress.Parts{Own: own})
	client, _ := proxy(t, d)
	// The client would not ask a proxy for 127.0.0.1 by environment; a fixed one it asks.
	for address, want := range map[string]string{plain.URL: "plain " + own[0].String(), secure.URL: "secure"} {
		reply, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", address, text, err)
		}
	}
	// An allowed name at a port of no registry is not reached.
	var asked atomic.Int32
	client, _ = proxy(t, egress.New(egress.Parts{Allow: hosts(t, "ok.test"), Lookup: answers(&asked, "93.184.216.34")}))
	reply, err := client.Get("http://ok.test:22/")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusForbidden || asked.Load() != 0 {
		t.Errorf("%d, asked %d times", reply.StatusCode, asked.Load())
	}
}

// What was asked for is told, and what was refused with the reason.
func TestWhatWasAskedForIsTold(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "ok") }))
	defer s.Close()
	at := netip.MustParseAddrPort(s.Listener.Addr().String())
	var mu sync.Mutex
	told := map[string]*egress.RefusedError{}
	client, _ := proxy(t, egress.New(egress.Parts{Allow: hosts(t, "ok.test"), Own: []netip.AddrPort{at}, Told: func(host string, refused *egress.RefusedError) {
		mu.Lock()
		defer mu.Unlock()
		told[host] = refused
	}}))
	for _, address := range []string{s.URL, "http://other.test/", "https://other2.test/", "http://169.254.169.254/", "http://ok.test:22/"} {
		if reply, err := client.Get(address); err == nil {
			text, _ := io.ReadAll(reply.Body)
			reply.Body.Close()
			if address != s.URL && !strings.Contains(string(text), "is not reached") {
				t.Errorf("%s: %d %q", address, reply.StatusCode, text)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for host, unlisted := range map[string]bool{"other.test": true, "other2.test": true, "169.254.169.254": false, "ok.test:22": false} {
		if r := told[host]; r == nil || r.Unlisted != unlisted {
			t.Errorf("%s: %+v", host, r)
		}
	}
	if r, heard := told[at.Addr().String()]; !heard || r != nil {
		t.Errorf("%+v", told)
	}
}

// A service of the user's answers at a port of the job's own, whatever it speaks, and nothing else does.
func TestForward(t *testing.T) {
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	go func() {
		for {
			conn, err := service.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, "hello\n")
			io.Copy(conn, conn)
			conn.Close()
		}
	}()
	at := service.Addr().String()
	for own, want := range map[string]string{at: "hello\nx", "127.0.0.1:1": ""} {
		d := egress.New(egress.Parts{Own: []netip.AddrPort{netip.MustParseAddrPort(own)}})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- d.Forward(l, at) }()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "x"); err == nil {
			conn.(*net.TCPConn).CloseWrite()
		}
		if got, _ := io.ReadAll(conn); string(got) != want {
			t.Errorf("%s: %q", own, got)
		}
		held, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if err := <-done; err != nil { // though one is still joined
			t.Error(err)
		}
		conn.Close()
		held.Close()
	}
}
