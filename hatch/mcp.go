package hatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"colony/event"
	"colony/guard/egress"
	"colony/mcp"
	"colony/tools"

	"github.com/sourcegraph/conc"
)

// served is what the ants of a run share of servers. It is safe for concurrent use.
type served struct {
	mu     sync.Mutex // guards what follows
	shared map[string]*shared
	health map[string]*mcp.Health
	places chan struct{} // one for each server that runs
}

// shared is a server that all ants share.
type shared struct {
	*mcp.Server
	mu    sync.Mutex // guards users
	users []*life    // at work
}

func newServed() *served {
	return &served{shared: map[string]*shared{}, health: map[string]*mcp.Health{}}
}

func (s *served) close() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.shared))
	s.mu.Unlock()
	var closing conc.WaitGroup
	for _, one := range all {
		closing.Go(one.Close)
	}
	closing.Wait()
}

// healthOf is how the server of that name fared in this run.
func (s *served) healthOf(name string) *mcp.Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.health[name] == nil {
		s.health[name] = &mcp.Health{}
	}
	return s.health[name]
}

// enter takes a place among the servers that run at once.
func (s *served) enter(most int) func(context.Context) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil {
		s.places = make(chan struct{}, most)
	}
	places := s.places
	return func(ctx context.Context) (func(), error) {
		select {
		case places <- struct{}{}:
			return func() { <-places }, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		default:
			return nil, fmt.Errorf("%d servers run already, which is the most: mcp.most of your settings says so", most)
		}
	}
}

// guests are the servers that work for one ant.
type guests struct {
	own     []*mcp.Server // its alone
	shared  []*shared
	shelves []*mcp.Shelf
}

// invite starts the servers of the card, and puts their tools into the registry. What cannot be started is said, and the ant does
// without. A helper has what its parent has.
func (l *life) invite(ctx context.Context, registry *tools.Registry, hands confined) error {
	if l.parent != nil {
		return nil
	}
	l.dismiss()
	var all []*mcp.Server
	for _, name := range l.card.MCP.Servers {
		if !mayUse(l.card.Tools, name) {
			continue
		}
		s, err := l.guest(name, hands)
		if err != nil {
			if err = l.noted(mcp.Note{Code: mcp.Down, Text: fmt.Sprintf("The MCP server %s was not started: %s", name, mcp.Visible(err.Error())), Next: "mend its entry: colony mcp list"}); err != nil {
				return err
			}
			continue
		}
		all = append(all, s)
	}
	failed := make([]error, len(all))
	var opening conc.WaitGroup
	for i, s := range all {
		opening.Go(func() { failed[i] = s.Open(ctx) })
	}
	opening.Wait()
	for i, s := range all {
		if err := failed[i]; err != nil && ctx.Err() == nil {
			err = l.noted(mcp.Note{Code: mcp.Down, Text: fmt.Sprintf("The MCP server %s was not started: %s", s.Name(), mcp.Visible(err.Error())), Next: "colony mcp test " + s.Name()})
			if err != nil {
				return err
			}
		}
		l.guests.shelves = append(l.guests.shelves, s.Place(registry, always(l.card.MCP.Always), l.brought(s.Name(), registry)))
	}
	return nil
}

// mayUse reports whether the card's wall lets a tool of the server through.
func mayUse(wall []string, name string) bool {
	start := mcp.Name(name, "")
	return slices.ContainsFunc(wall, func(entry string) bool {
		head, _, star := strings.Cut(entry, "*")
		return strings.HasPrefix(head, start) || star && strings.HasPrefix(start, head)
	})
}

// always reports whether a tool is one of those that a card need not look for.
func always(patterns []string) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			head, _, star := strings.Cut(p, "*")
			return name == p || star && strings.HasPrefix(name, head)
		})
	}
}

// brought tells the ant of tools that a server brought while it was at work.
func (l *life) brought(server string, registry *tools.Registry) func([]string) {
	return func(names []string) {
		visible := registry.Deferred()
		names = slices.DeleteFunc(names, func(name string) bool {
			return !slices.ContainsFunc(visible, func(s tools.Spec) bool { return s.Name == name })
		})
		if len(names) == 0 {
			return
		}
		l.ears.Lock()
		defer l.ears.Unlock()
		l.heard = append(l.heard, fmt.Sprintf("The MCP server %s has %d more tools now, which tool_search finds: %s", server, len(names), strings.Join(names[:min(len(names), 10)], ", ")))
	}
}

// announced is what the ant is told of tools that it may look for.
func (l *life) announced() string {
	names := l.env.Tools.Announce(mostAnnounced)
	if names == "" {
		return ""
	}
	how := "which tool_search finds and loads"
	if _, searches := l.env.Tools.Lookup(tools.SearchName); !searches {
		how = "each of which the first call of it loads"
	}
	return "\nThere are more tools, " + how + ": " + names + "\n"
}

// mostAnnounced bounds what an ant is told of deferred tools, in bytes.
const mostAnnounced = 900

// dismiss ends the servers that work for the ant alone, and leaves the others.
func (l *life) dismiss() {
	for _, h := range l.guests.shelves {
		h.Leave()
	}
	for _, s := range l.guests.shared {
		s.leave(l)
	}
	var closing conc.WaitGroup
	for _, s := range l.guests.own {
		closing.Go(s.Close)
	}
	closing.Wait()
	l.guests = guests{}
}

// guest is the server of that name for this ant, which was not started for it yet.
func (l *life) guest(name string, hands confined) (*mcp.Server, error) {
	s, ok := l.parts.server(name)
	if !ok {
		return nil, errors.New("there is none of this name")
	}
	if s.Per == mcp.PerColony {
		return l.share(s)
	}
	scratch := filepath.Join(l.scratch(), l.order.Ant+".mcp."+name)
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	box := hands.in(l.tree.Dir, scratch)
	box.after = l.warnOf
	p, err := l.serverParts(s, box)
	if err != nil {
		return nil, err
	}
	p.Root, p.Asks = l.tree.Dir, true
	p.Told = func(n mcp.Note) { l.logServer(n, l.noted(n)) }
	if s.URL == "" {
		p.Hosts = foreign(l.reach.names)
	}
	own, err := mcp.New(p)
	if err == nil {
		l.guests.own = append(l.guests.own, own)
	}
	return own, err
}

// share is the server that all ants share, made for the first of them.
func (l *life) share(s server) (*mcp.Server, error) {
	l.served.mu.Lock()
	one := l.served.shared[s.Name]
	l.served.mu.Unlock()
	if one == nil {
		box, err := l.confine("ants")
		if err != nil {
			return nil, err
		}
		tree, scratch := filepath.Join(l.scratch(), "mcp."+s.Name+".tree"), filepath.Join(l.scratch(), "mcp."+s.Name)
		if err := errors.Join(os.MkdirAll(tree, 0o700), os.MkdirAll(scratch, 0o700)); err != nil {
			return nil, err
		}
		p, err := l.serverParts(s, box.in(tree, scratch).beginning(l.parts.Root))
		if err != nil {
			return nil, err
		}
		if s.URL == "" {
			p.Hosts = foreign(box.out.names)
		}
		made := &shared{}
		p.Told = func(n mcp.Note) { l.logServer(n, made.note(n)) }
		if made.Server, err = mcp.New(p); err != nil {
			return nil, err
		}
		l.served.mu.Lock()
		if one = l.served.shared[s.Name]; one == nil {
			one = made
			l.served.shared[s.Name] = one
		}
		l.served.mu.Unlock()
	}
	one.mu.Lock()
	one.users = append(one.users, l)
	one.mu.Unlock()
	l.guests.shared = append(l.guests.shared, one)
	return one.Server, nil
}

func (s *shared) leave(l *life) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = slices.DeleteFunc(s.users, func(u *life) bool { return u == l })
}

// note says something of the server in the name of an ant that uses it. While none does nobody needs to know.
func (s *shared) note(n mcp.Note) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.users) == 0 {
		return nil
	}
	return s.users[0].noted(n)
}

// serverParts are what a server is made of, whoever uses it.
func (c *Colony) serverParts(s server, box confined) (mcp.Parts, error) {
	entry, err := s.Expand(s.given(c.settings.mcp.Env, c.parts.Getenv))
	if err != nil {
		return mcp.Parts{}, err
	}
	s.Entry = entry
	p := mcp.Parts{
		Entry: entry, Version: c.parts.Version, Pins: c.parts.pins(s), Health: c.served.healthOf(s.Name), Now: c.parts.Now,
		Limits: c.settings.mcp.limits(), Enter: c.served.enter(c.settings.mcp.Most),
		Start: func(_ context.Context, argv, env []string, stderr io.Writer) (io.ReadWriteCloser, error) {
			return box.speak(argv, env, stderr)
		},
	}
	if entry.URL != "" {
		p.Hosts = foreign([]string{entry.Host()})
		p.Client, err = s.client(c.settings.sandbox.Net)
	}
	return p, err
}

// foreign are the hosts that are others': what the user named of this machine and its network is the user's.
func foreign(hosts []string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		if at, err := netip.ParseAddrPort(host); err == nil {
			host = at.Addr().String()
		}
		addr, err := netip.ParseAddr(host)
		return err == nil && egress.Public(addr) != nil
	})
}

// noted keeps in the log, once, what people should know of a server.
func (l *life) noted(n mcp.Note) error {
	n.Text = l.redact(n.Text)
	if n.Code == mcp.Noise {
		l.parts.Diagnostics.Info(n.Text)
		return nil
	}
	if !l.saidOnce.first(n.Code + n.Text) {
		return nil
	}
	return l.append(event.Warned{Code: n.Code, Text: n.Text, Next: n.Next})
}

// logServer tells the operator what could not be kept in the log.
func (c *Colony) logServer(n mcp.Note, err error) {
	if err != nil {
		c.parts.Diagnostics.Warn("keep a note of a server", "note", n.Text, "error", err)
	}
}
