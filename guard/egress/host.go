package egress

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// A Host is one place as policy and dialling both see it: a name in lower case without a last dot, or an address.
type Host struct {
	name string
	addr netip.Addr // valid where the host is an address
}

func (h Host) String() string { return h.name }

// ParseHost reads a host name or address in the one spelling that this room knows. Whatever a resolver might take for an
// address (127.1, 0x7f000001, 2130706433, 017700000001), and letters that are mapped to others, are refused.
func ParseHost(text string) (Host, error) {
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
		if !strings.Contains(text, ":") {
			return Host{}, fmt.Errorf("host %q has brackets and is no IPv6 address", text)
		}
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		if addr.Zone() != "" {
			return Host{}, fmt.Errorf("host %q names a link of this machine", text)
		}
		return Host{name: addr.String(), addr: addr}, nil
	}
	name := strings.TrimSuffix(strings.ToLower(text), ".")
	if len(name) == 0 || len(name) > 253 {
		return Host{}, fmt.Errorf("host name of %d bytes; it has 1 to 253", len(name))
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if err := checkLabel(label); err != nil {
			return Host{}, fmt.Errorf("host %q: %w", text, err)
		}
	}
	if numeric(labels[len(labels)-1]) {
		return Host{}, fmt.Errorf("host %q is a number and no address: write four decimal numbers", text)
	}
	return Host{name: name}, nil
}

func checkLabel(label string) error {
	if len(label) == 0 || len(label) > 63 {
		return fmt.Errorf("a label of %d bytes; it has 1 to 63", len(label))
	}
	for i := range len(label) {
		switch c := label[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
		case c == '-' && i > 0 && i < len(label)-1:
		case c >= 0x80:
			return fmt.Errorf("it is not ASCII: write its xn-- form")
		default:
			return fmt.Errorf("%q may not stand in a name", c)
		}
	}
	return nil
}

// numeric says that some resolver may read a last label as a number.
func numeric(label string) bool {
	if _, err := strconv.ParseUint(label, 10, 64); err == nil {
		return true
	}
	hex, is := strings.CutPrefix(label, "0x")
	_, err := strconv.ParseUint("0"+hex, 16, 64)
	return is && err == nil
}

// ParseURL reads the address of a page: http or https, no user in it, one host as ParseHost reads it, a plain port.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	return u, tidy(u)
}

// tidy gives a URL the one spelling of its host, or says why it may not be asked for.
func tidy(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("scheme %q is not http or https", u.Scheme)
	}
	if u.Opaque != "" || u.User != nil {
		return fmt.Errorf("an address names no user, and has // before its host")
	}
	h, err := ParseHost(hostOf(u))
	if err != nil {
		return err
	}
	host := h.name
	if h.addr.Is6() {
		host = "[" + host + "]"
	}
	if strings.HasSuffix(u.Host, ":") {
		return fmt.Errorf("the port of %q is missing", u.Host)
	}
	if port := u.Port(); port != "" {
		if _, err := parsePort(port); err != nil {
			return err
		}
		host = net.JoinHostPort(h.name, port)
	}
	u.Host = host
	return nil
}

// hostOf is the host with the brackets that it was written in: without them 127.0.0.1 could hide in [127.0.0.1].
func hostOf(u *url.URL) string {
	if strings.HasPrefix(u.Host, "[") {
		return u.Host[:strings.LastIndex(u.Host, "]")+1]
	}
	return u.Hostname()
}

func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, fmt.Errorf("%q is no port", text)
	}
	return uint16(n), nil
}
