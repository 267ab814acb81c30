package egress

import (
	"fmt"
	"net/netip"
)

// closed are the IPv4 ranges that are not the public internet, or that answer from inside a cloud machine.
var closed = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

// global is where IPv6 addresses of the public internet lie. All that is outside is closed: loopback, unspecified,
// mapped, compatible, translated (NAT64), discard, unique local, link-local, site-local, multicast.
var global = netip.MustParsePrefix("2000::/3")

// closed6 are the ranges in global that are not public, or that carry an IPv4 address which a gateway unpacks.
var closed6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// Public says why an address is not one of the public internet; nil where it is.
func Public(a netip.Addr) error {
	switch {
	case !a.IsValid() || a.Zone() != "":
		return fmt.Errorf("%s is no address of the public internet", a)
	case a.Is4():
		return outside(a, closed)
	case !global.Contains(a):
		return fmt.Errorf("%s is not in %s, where public addresses lie", a, global)
	}
	return outside(a, closed6)
}

func outside(a netip.Addr, ranges []netip.Prefix) error {
	for _, r := range ranges {
		if r.Contains(a) {
			return fmt.Errorf("%s is in %s, which is not the public internet", a, r)
		}
	}
	return nil
}
