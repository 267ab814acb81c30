// Package egress is the one way out: a dialler that reaches public addresses of allowed hosts and no other, a client
// whose redirects go the same way, and a proxy for processes in a sandbox.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	dialLimit   = 20 * time.Second
	lookupLimit = 10 * time.Second
	mostAddrs   = 8 // of one host that are tried
)

// RefusedError is a place that was not connected to, and why. Nothing was sent there. Unlisted means that it is not on the
// list of allowed hosts, and nothing else was looked at.
type RefusedError struct {
	Host, Why string
	Unlisted  bool
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s is not reached: %s", e.Host, e.Why) }

// Parts is what a Dialer is made of.
type Parts struct {
	Allow Hosts
	// Own are services of the user's that may be reached although they are not public. Only the user's own settings
	// name one.
	Own []netip.AddrPort
	// Lookup asks for the addresses of a name; the machine's resolver where it is nil. It is asked once for a dial.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Told hears of every connection that Serve was asked for: the host as it was named, and why it was not reached; nil
	// where it was. It is called from several goroutines at once. Nobody hears where it is nil.
	Told func(host string, refused *RefusedError)
}

// Dialer connects to allowed hosts at public addresses. It is safe for concurrent use.
type Dialer struct{ parts Parts }

// New returns a dialler.
func New(p Parts) *Dialer {
	if p.Lookup == nil {
		p.Lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	if p.Told == nil {
		p.Told = func(string, *RefusedError) {}
	}
	p.Own = slices.Clone(p.Own)
	return &Dialer{parts: p}
}

// Dial connects to host:port over TCP. What it refuses is a *RefusedError.
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	h, port, err := split(network, address)
	if err != nil {
		return nil, &RefusedError{Host: address, Why: err.Error()}
	}
	if err := d.permits(h, port); err != nil {
		return nil, err
	}
	addrs, err := d.addresses(ctx, h, port)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	out := net.Dialer{Control: d.control}
	var all error
	for _, a := range addrs[:min(len(addrs), mostAddrs)] {
		conn, err := out.DialContext(ctx, "tcp", netip.AddrPortFrom(a, port).String())
		if err == nil {
			return conn, nil
		}
		all = errors.Join(all, err)
	}
	return nil, fmt.Errorf("connect to %s: %w", h, all)
}

func split(network, address string) (Host, uint16, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return Host{}, 0, fmt.Errorf("network %q is not tcp", network)
	}
	name, digits, err := net.SplitHostPort(address)
	if err != nil {
		return Host{}, 0, err
	}
	port, err := parsePort(digits)
	if err != nil {
		return Host{}, 0, err
	}
	h, err := ParseHost(name)
	return h, port, err
}

// permits is the policy on a host as it is named, before any name is looked up.
func (d *Dialer) permits(h Host, port uint16) error {
	switch {
	case h.addr.IsValid() && slices.Contains(d.parts.Own, netip.AddrPortFrom(h.addr, port)):
		return nil
	case h.addr.IsValid() && Public(h.addr) != nil:
		return &RefusedError{Host: h.name, Why: Public(h.addr).Error()}
	case !h.addr.IsValid() && inside(h.name):
		return &RefusedError{Host: h.name, Why: "it is a name of this machine or network"}
	case !d.parts.Allow.Allows(h):
		return &RefusedError{Host: h.name, Why: "it is not on the list of allowed hosts", Unlisted: true}
	}
	return nil
}

// inside says that a name is not one of the public internet.
func inside(name string) bool {
	at := strings.LastIndexByte(name, '.')
	switch name[at+1:] {
	case "localhost", "local", "internal", "localdomain", "lan", "intranet", "home", "corp", "private":
		return true
	}
	return at < 0 || strings.HasSuffix(name, ".home.arpa")
}

// addresses asks once; one address that is not public condemns the name, for a resolver that mixes them is lying.
func (d *Dialer) addresses(ctx context.Context, h Host, port uint16) ([]netip.Addr, error) {
	if h.addr.IsValid() {
		return []netip.Addr{h.addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	addrs, err := d.parts.Lookup(ctx, h.name)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", h, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("look up %s: it has no address", h)
	}
	out := make([]netip.Addr, len(addrs))
	for i, a := range addrs {
		out[i] = a.Unmap() // a resolver answers with IPv4 in either form
		if slices.Contains(d.parts.Own, netip.AddrPortFrom(out[i], port)) {
			continue
		}
		if err := Public(out[i]); err != nil {
			return nil, &RefusedError{Host: h.name, Why: err.Error()}
		}
	}
	return out, nil
}

// control is the last word: it sees the address that the socket is about to connect to.
func (d *Dialer) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if slices.Contains(d.parts.Own, at) {
		return nil
	}
	if err := Public(at.Addr()); err != nil {
		return &RefusedError{Host: address, Why: err.Error()}
	}
	return nil
}
