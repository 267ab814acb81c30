package egress_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"colony/guard/egress"
)

// canary is a server on every loopback address that must never be reached.
type canary struct {
	port string
	hits atomic.Int32
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{}
	l, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c.hits.Add(1)
		fmt.Fprint(w, "secret")
	})}}
	s.Start()
	t.Cleanup(s.Close)
	c.port = fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	reply, err := http.Get("http://127.0.0.1:" + c.port)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if c.hits.Swap(0) != 1 {
		t.Fatal("the canary cannot be heard")
	}
	return c
}

func hosts(t testing.TB, list ...string) egress.Hosts {
	t.Helper()
	h, err := egress.ParseHosts(list)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// answers is a resolver that gives these addresses to every name, one list for each time it is asked.
func answers(asked *atomic.Int32, lists ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		n := int(asked.Add(1)) - 1
		var out []netip.Addr
		for text := range strings.FieldsSeq(lists[min(n, len(lists)-1)]) {
			out = append(out, netip.MustParseAddr(text))
		}
		return out, nil
	}
}

// spellings are ways to write this machine or its network; P is the canary's port. NW01, NW04, NW05, S6
var spellings = []string{
	"http://127.0.0.1:P/", "http://127.0.0.1.:P/", "http://127.1:P/", "http://127.0.1:P/", "http://127.127.127.127:P/",
	"http://2130706433:P/", "http://0x7f000001:P/", "http://0x7F.0.0.1:P/", "http://0x7f.1:P/", "http://017700000001:P/",
	"http://0177.0.0.1:P/", "http://0177.0x0.0.01:P/", "http://127.0.0.01:P/", "http://0127.0.0.1:P/", "http://127.0.0.1%00:P/",
	"http://0:P/", "http://0.0.0.0:P/", "http://0.0:P/", "http://00000000:P/", "http://[::]:P/", "http://[::1]:P/",
	"http://[0:0:0:0:0:0:0:1]:P/", "http://[0000::0001]:P/", "http://[::ffff:127.0.0.1]:P/", "http://[::ffff:7f00:1]:P/",
	"http://[::FFFF:7F00:0001]:P/", "http://[::127.0.0.1]:P/", "http://[::7f00:1]:P/", "http://[64:ff9b::7f00:1]:P/",
	"http://[64:ff9b:1::7f00:1]:P/", "http://[2002:7f00:1::]:P/", "http://[2001:0:7f00:1::1]:P/", "http://[fe80::1%25lo]:P/",
	"http://[::1%25lo]:P/", "http://[fc00::1]:P/", "http://[fd00:ec2::254]:P/", "http://[fec0::1]:P/", "http://[ff02::1]:P/",
	"http://[127.0.0.1]:P/", "http://localhost:P/", "http://LOCALHOST:P/", "http://localhost.:P/", "http://a.localhost:P/",
	"http://localhost.localdomain:P/", "http://ip6-localhost:P/", "http://①②⑦.⓪.⓪.①:P/", "http://１２７.０.０.１:P/",
	"http://127。0。0。1:P/", "http://127．0．0．1:P/", "http://127｡0｡0｡1:P/", "http://loc\u00adalhost:P/", "http://ⓛocalhost:P/",
	"http://ok.test@127.0.0.1:P/", "http://ok.test:80@127.0.0.1:P/", "http://127.0.0.1:P@ok.test/", "http://ok.test%40127.0.0.1:P/",
	"http://ok.test\\@127.0.0.1:P/", "http://127.0.0.1\\@ok.test:P/", "http://127.0.0.1 :P/", "http://127.0.0.1\t:P/",
	"http:127.0.0.1:P/", "http:///127.0.0.1:P/", "http:\\\\127.0.0.1:P/", "//127.0.0.1:P/", "HTTP://127.0.0.1:P/",
	"http://127.0.0.1:P#@ok.test/", "http://127.0.0.1:P?@ok.test/", "http://127.0.0.1:0P/", "http://127.0.0.1:+P/",
	"http://169.254.169.254:P/latest/meta-data/", "http://metadata.google.internal:P/", "http://10.0.0.1:P/", "http://168.63.129.16:P/",
	"http://printer:P/", "http://nas.local:P/", "http://router.home.arpa:P/", "http://h.lan:P/", "http://-a.test:P/",
	"http://a..test:P/", "http://.test:P/", "http://a_b!.test:P/", "http://" + strings.Repeat("a", 64) + ".test:P/",
	"http://" + strings.Repeat("a.", 127) + "test:P/", "http://%31%32%37.0.0.1:P/", "http://:P/", "http://?:P/",
	"https://127.0.0.1:P/", "ws://127.0.0.1:P/", "file:///etc/passwd", "gopher://127.0.0.1:P/_x", "data:text/html,x", "ftp://127.0.0.1:P/",
	"unix:///run/docker.sock", "javascript:1", "http://127.0.0.1:99999/", "http://[::1:P/", "http://::1:P/",
}

func TestNoSpellingReachesThisMachine(t *testing.T) {
	if len(spellings) < 60 {
		t.Fatalf("%d spellings, want 60", len(spellings))
	}
	c := newCanary(t)
	for _, proxied := range []bool{false, true} {
		if proxied { // a variable of the repository's is not followed
			t.Setenv("HTTP_PROXY", "http://127.0.0.1:"+c.port)
			t.Setenv("http_proxy", "http://127.0.0.1:"+c.port)
		}
		var asked atomic.Int32
		d := egress.New(egress.Parts{Allow: hosts(t, egress.Any), Lookup: answers(&asked, "127.0.0.1")})
		client := d.Client()
		for _, s := range spellings {
			text := strings.ReplaceAll(s, "P", c.port)
			if strings.HasPrefix(s, "HTTP:") {
				text = "HTTP:" + strings.ReplaceAll(s[5:], "P", c.port)
			}
			if u, err := egress.ParseURL(text); err == nil {
				if conn, err := d.Dial(t.Context(), "tcp", u.Host); err == nil {
					conn.Close()
					t.Errorf("%q: connected", text)
				}
			}
			if reply, err := client.Get(text); err == nil {
				reply.Body.Close()
				t.Errorf("%q: answered", text)
			}
			if conn, err := d.Dial(t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(text, "http://"), "/")); err == nil {
				conn.Close()
				t.Errorf("%q: connected", text)
			}
		}
	}
	if n := c.hits.Load(); n != 0 {
		t.Errorf("%d hits", n)
	}
	t.Logf("security: S6 | egress: hits by spellings of this machine, with and without proxy variables | %d of %d | 0 of 60", c.hits.Load(), len(spellings))
}

// NW06, S6
func TestTheTableOfAddresses(t *testing.T) {
	deny := strings.Fields(`100.64.0.1 100.127.255.255 0.1.2.3 0.0.0.0 192.0.0.8 198.18.0.1 198.19.255.255 240.0.0.1 255.255.255.255
		10.0.0.1 10.255.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.1 192.0.2.1 192.88.99.1
		198.51.100.1 203.0.113.5 224.0.0.1 239.255.255.255 168.63.129.16 ::127.0.0.1 ::1 :: ::ffff:8.8.8.8 ::ffff:10.0.0.1 64:ff9b::a00:1
		64:ff9b:1::1 100::1 fec0::1 fe80::1 fe80::1%lo fc00::1 fd12:3456::1 ff02::1 ff0e::1 2002:7f00:1:: 2001::1 2001:0:7f00:1::1
		2001:10::1 2001:db8::1 3fff::1 5f00::1 4000::1 1::1 2001:1ff::1`)
	if len(deny) < 30 {
		t.Fatalf("%d addresses", len(deny))
	}
	public := 0
	for _, text := range deny {
		if egress.Public(netip.MustParseAddr(text)) == nil {
			public++
			t.Errorf("%s is taken for public", text)
		}
	}
	t.Logf("security: S6 | egress: addresses that are not public and were taken for it | %d of %d | 0 of 30", public, len(deny))
	for _, text := range strings.Fields(`93.184.216.34 8.8.8.8 1.1.1.1 172.32.0.1 172.15.255.255 100.128.0.1 100.63.255.255 192.0.1.1
		198.20.0.1 223.255.255.255 11.0.0.1 2606:2800:220:1::1 2a00:1450::1 2001:200::1 2400::1`) {
		if err := egress.Public(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if egress.Public(netip.Addr{}) == nil {
		t.Error("no address is taken for public")
	}
}

// A name is asked for once, and each of its addresses has to be public. NW03
func TestRebindingReachesNothing(t *testing.T) {
	c := newCanary(t)
	for _, lists := range [][]string{
		{"203.0.113.5", "127.0.0.1"}, {"93.184.216.34 127.0.0.1"}, {"127.0.0.1 93.184.216.34"}, {"::ffff:127.0.0.1"}, {"::1"},
		{"0.0.0.0"}, {"::"}, {"fe80::1%lo"}, {"64:ff9b::7f00:1"}, {""},
	} {
		var asked atomic.Int32
		d := egress.New(egress.Parts{Allow: hosts(t, "rebind.test"), Lookup: answers(&asked, lists...)})
		conn, err := d.Dial(t.Context(), "tcp", "rebind.test:"+c.port)
		if err == nil {
			conn.Close()
		}
		if err == nil || asked.Load() != 1 {
			t.Errorf("%q: %v, asked %d times", lists, err, asked.Load())
		}
	}
	if n := c.hits.Load(); n != 0 {
		t.Errorf("%d hits", n)
	}
}

// NW08
func TestHostsAreComparedByLabel(t *testing.T) {
	list := hosts(t, "example.com", "*.ok.test", "93.184.216.34")
	for name, want := range map[string]bool{
		"evil-example.com": false, "example.com.evil.test": false, "a.example.com": false, "ok.test": false, "a.ok.test": true,
		"b.a.ok.test": true, "xok.test": false, "EXAMPLE.com.": true, "example.com": true, "93.184.216.34": true, "93.184.216.35": false,
		"com": false,
	} {
		h, err := egress.ParseHost(name)
		if err != nil || list.Allows(h) != want {
			t.Errorf("%s: %v, %v; want %v", name, list.Allows(h), err, want)
		}
	}
	for _, bad := range []string{"", "*.", "*.1.2.3.4", "a*.test", "a/b", "http://a.test", "a.test:80", "a b"} {
		if _, err := egress.ParseHosts([]string{bad}); err == nil {
			t.Errorf("%q is taken for a host", bad)
		}
	}
	npm, _ := egress.ParseHost("registry.npmjs.org")
	if (egress.Hosts{}).Allows(npm) || !hosts(t, egress.Registries).Allows(npm) || !hosts(t, egress.Any).Allows(npm) {
		t.Error("the words of a list")
	}
	d := egress.New(egress.Parts{Allow: list, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		t.Error("a name that is not allowed was looked up")
		return nil, errors.New("asked")
	}})
	_, err := d.Dial(t.Context(), "tcp", "example.com.evil.test:443")
	if refused, ok := errors.AsType[*egress.RefusedError](err); !ok || refused.Host != "example.com.evil.test" {
		t.Errorf("%v", err)
	}
	for _, network := range []string{"udp", "unix", "ip", ""} {
		if _, err := d.Dial(t.Context(), network, "example.com:443"); err == nil {
			t.Errorf("network %q", network)
		}
	}
}

// What is parsed stays as it is when it is parsed again, and never has a spelling that somebody may read otherwise.
func FuzzHost(f *testing.F) {
	for _, s := range spellings {
		f.Add(strings.TrimSuffix(strings.TrimPrefix(s, "http://"), ":P/"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := egress.ParseHost(text)
		if err != nil {
			return
		}
		again, err := egress.ParseHost(h.String())
		if err != nil || again != h {
			t.Errorf("%q is %q, and that %q, %v", text, h, again, err)
		}
		if strings.ContainsFunc(h.String(), func(r rune) bool { return r > 126 || r <= ' ' || strings.ContainsRune("/\\@?#%[]*", r) }) {
			t.Errorf("%q is %q", text, h)
		}
	})
}

func FuzzURL(f *testing.F) {
	for _, s := range spellings {
		f.Add(strings.ReplaceAll(s, "P", "80"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := egress.ParseURL(text)
		if err != nil {
			return
		}
		again, err := egress.ParseURL(u.String())
		if err != nil || again.Host != u.Host {
			t.Errorf("%q is %q, and that %v, %v", text, u, again, err)
		}
	})
}
