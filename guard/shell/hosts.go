package shell

import (
	"net/netip"
	"path"
	"strconv"
	"strings"
)

var (
	url  = lazily(`[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@\s]*@)?(\[[^\]]*\]|[^/:?#\s\\'"]+)`)
	bare = lazily(`^(?:[^/@\s]*@)?(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.?)(?:[:/].*)?$`)
)

// dials take a host without a scheme as an operand.
var dials = set("curl", "wget", "http", "https", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "telnet", "ftp", "ping", "socat", "dig", "host", "nslookup")

// hosts are the hosts that a command's words name: in every URL, and as an operand of a program that dials.
func hosts(words []word) []string {
	var out []string
	for _, w := range words[1:] {
		for _, found := range url().FindAllStringSubmatch(w.text(), -1) {
			out = append(out, address(found[1]))
		}
		if !w.literal || !words[0].literal || !dials[path.Base(words[0].value)] || strings.Contains(w.value, "://") || strings.HasPrefix(w.value, "-") {
			continue
		}
		if found := bare().FindStringSubmatch(w.value); found != nil && dialled(w.value, found[1]) {
			out = append(out, address(found[1]))
		}
	}
	return out
}

// dialled reports whether a word is likely a host and no file or number of seconds.
func dialled(word, host string) bool {
	return host != word && !strings.Contains(word, "./") || strings.Contains(host, ".") || host == "localhost" || address(host) != host
}

// address is a host, its brackets off, and where it is an IPv4 address in one of the forms that the C library takes
// (2130706433, 0x7f.1, 127.1) the address in four parts.
func address(host string) string {
	host = strings.Trim(host, "[]")
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 || len(parts) == 1 && len(host) < 8 {
		return host
	}
	var value uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		last := i == len(parts)-1
		if err != nil || strings.Contains(part, "_") || !last && n > 255 || last && n >= 1<<(8*(5-len(parts))) {
			return host
		}
		if last {
			value |= n
		} else {
			value |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}).String()
}
