package hatch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"colony/guard/egress"
	"colony/mcp"
)

// serversFile is the file by which a repository brings servers, and userServers that of the user, in the configuration.
const (
	serversFile = ".mcp.json"
	userServers = "mcp.json"
)

// server is a server that the user or the repository brings.
type server struct {
	mcp.Entry
	source string // its file
	users  bool   // the user brings it: what its entry names of the user's it is given
}

// isServers reports whether a project file lists servers.
func (f ProjectFile) isServers() bool { return f.Name == serversFile }

// serverBrings says what the servers of the repository would run and be given.
func serverBrings(f ProjectFile) ([]string, error) {
	entries, err := mcp.ParseFile(f.Data)
	if err != nil {
		return nil, badServers(f.Path, err)
	}
	var runs []string
	for _, e := range entries {
		what := "MCP server " + e.Name + ": " + e.What()
		if names := e.Variables(); len(names) > 0 {
			what += ", with your variables " + strings.Join(names, ", ")
		}
		runs = append(runs, what)
	}
	return runs, nil
}

func badServers(file string, err error) error {
	return &Problem{Exit: 2, Code: "bad_file", Message: fmt.Sprintf("%s: %s", file, mcp.Visible(err.Error())), Next: "mend " + file}
}

// findServers reads the user's servers, and then those of the repository where they are trusted. Of two of one name the user's is
// meant; what a repository's entry says of its own tools counts for nothing.
func (h *House) findServers(trusted []ProjectFile) error {
	h.servers = nil
	own := filepath.Join(h.Config, userServers)
	data, err := os.ReadFile(own)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Problem{Exit: 2, Code: "bad_file", Message: fmt.Sprintf("your servers in %s cannot be read: %v", own, err), Next: "make the file readable, or remove it"}
	}
	if err == nil {
		entries, err := mcp.ParseFile(data)
		if err = cmp.Or(err, mcp.Faults(entries)); err != nil {
			return badServers(own, err)
		}
		for _, e := range entries {
			h.servers = append(h.servers, server{e, own, true})
		}
	}
	for _, f := range trusted {
		if !f.isServers() {
			continue
		}
		entries, err := mcp.ParseFile(f.Data)
		if err != nil {
			return badServers(f.Path, err)
		}
		for _, e := range entries {
			if e.Grades = nil; !slices.Contains(h.serverNames(), e.Name) {
				h.servers = append(h.servers, server{e, f.Path, false})
			}
		}
	}
	slices.SortFunc(h.servers, func(a, b server) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (h *House) serverNames() []string {
	var names []string
	for _, s := range h.servers {
		names = append(names, s.Name)
	}
	return names
}

// server is the server of that name.
func (h *House) server(name string) (server, bool) {
	at := slices.IndexFunc(h.servers, func(s server) bool { return s.Name == name })
	if at < 0 {
		return server{}, false
	}
	return h.servers[at], true
}

func (s serverSettings) limits() mcp.Limits {
	return mcp.Limits{Start: time.Duration(s.Start), Call: time.Duration(s.Call), Idle: time.Duration(s.Idle)}
}

// given is what the server may know of the user's environment: what the user names, in an entry of their own or in mcp.env.
func (s server) given(env []string, getenv func(string) string) func(string) string {
	return func(name string) string {
		if !s.users && !slices.Contains(env, name) {
			return ""
		}
		return getenv(name)
	}
}

// offline are the servers where nothing leaves the machine: those that are reached by a URL are not.
func offline(servers []server) []server {
	out := slices.Clone(servers)
	for i := range out {
		if out[i].URL != "" {
			out[i].Wrong = errors.New("it is reached by its URL, and nothing is reached here")
		}
	}
	return out
}

// serverSecrets are values of the user's that servers are given as credentials.
func (c *Colony) serverSecrets() []string {
	var values []string
	for _, s := range c.parts.servers {
		for _, value := range s.Secrets(s.given(c.settings.mcp.Env, c.parts.Getenv)) {
			if len(value) >= shortestKey {
				values = append(values, value)
			}
		}
	}
	return values
}

// client reaches the one host of a server's URL, and of this machine and its network what the user names: in an entry of their
// own, or in sandbox.net.
func (s server) client(net []string) (*http.Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	hosts, err := egress.ParseHosts([]string{u.Hostname()})
	if err != nil {
		return nil, err
	}
	var own []netip.AddrPort
	for _, entry := range net {
		if at, err := netip.ParseAddrPort(entry); err == nil {
			own = append(own, at)
		}
	}
	if at, err := netip.ParseAddrPort(hostPort(u)); err == nil && s.users {
		own = append(own, at)
	}
	return egress.New(egress.Parts{Allow: hosts, Own: own}).Client(), nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// pins are what the user saw of a server's tools.
func (h *House) pins(s server) *mcp.Pins {
	place := filepath.Join(h.State, "mcp")
	if !s.users {
		place = filepath.Join(h.home(), "mcp")
	}
	return mcp.OpenPins(filepath.Join(place, s.Name+".json"))
}
