package egress

import (
	"fmt"
	"slices"
	"strings"
)

// Words of a list that stand for hosts.
const (
	Any        = "*"          // every public host
	Registries = "registries" // where packages of the common languages are kept
)

var registries = []string{
	"proxy.golang.org", "sum.golang.org", "registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org",
	"index.crates.io", "static.crates.io", "crates.io", "rubygems.org", "index.rubygems.org", "repo.maven.apache.org",
	"repo1.maven.org", "plugins.gradle.org", "api.nuget.org", "repo.packagist.org", "hex.pm", "repo.hex.pm",
}

// Hosts is an allow-list. The zero value allows none.
type Hosts struct {
	any   bool
	exact []string
	below []string // with a leading dot
}

// ParseHosts reads a list: a host, *.host for all names below it and not itself, registries, or * for all.
func ParseHosts(list []string) (Hosts, error) {
	var out Hosts
	for _, entry := range list {
		switch entry {
		case Any:
			out.any = true
			continue
		case Registries:
			out.exact = append(out.exact, registries...)
			continue
		}
		name, wild := strings.CutPrefix(entry, "*.")
		h, err := ParseHost(name)
		switch {
		case err != nil:
			return Hosts{}, err
		case wild && h.addr.IsValid():
			return Hosts{}, fmt.Errorf("%q: nothing is below an address", entry)
		case wild:
			out.below = append(out.below, "."+h.name)
		default:
			out.exact = append(out.exact, h.name)
		}
	}
	return out, nil
}

// Allows says whether a host is on the list. Names are compared label by label.
func (l Hosts) Allows(h Host) bool {
	if l.any || slices.Contains(l.exact, h.name) {
		return h.name != ""
	}
	return !h.addr.IsValid() && slices.ContainsFunc(l.below, func(suffix string) bool {
		return len(h.name) > len(suffix) && strings.HasSuffix(h.name, suffix)
	})
}
