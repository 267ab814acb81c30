package hatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"colony/cards"
	"colony/event"
	"colony/guard/egress"
	"colony/guard/sandbox"
	"colony/strict"
	"colony/tools"
)

// proxyPort is where commands find the proxy, in a network of their own; the next one that no service of the user's has.
const proxyPort = 3128

// out is what commands reach beside their own loopback. The zero value is nothing.
type out struct {
	names []string // as they were written
	hosts egress.Hosts
	own   []netip.AddrPort
}

func (o out) none() bool { return len(o.names) == 0 }

// out is what commands of the cards' ants reach at a level of the run; without a card, what gates and other commands that
// are no ant's reach.
func (s sandboxSettings) out(level string, cards ...cards.Card) (out, error) {
	for _, c := range cards {
		level = tighter(level, c.Sandbox.Level)
	}
	if level != sandbox.WorkspaceNet {
		return out{}, nil
	}
	var o out
	for _, entry := range s.Net {
		if at, err := netip.ParseAddrPort(entry); err == nil && at.Port() != 0 && at.Addr().Zone() == "" {
			o.own = append(o.own, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
		} else if _, err := egress.ParseHosts([]string{entry}); err != nil {
			return out{}, badSetting("sandbox.net", entry, "a host, *.name, registries, *, or the ADDRESS:PORT of a service of yours")
		} else {
			o.names = append(o.names, entry)
		}
	}
	for _, c := range cards {
		o.names = append(o.names, c.Sandbox.Net...)
	}
	var err error
	if o.hosts, err = egress.ParseHosts(o.names); err != nil {
		return out{}, err
	}
	for _, at := range o.own {
		o.names = append(o.names, at.String())
	}
	slices.Sort(o.names)
	o.names = slices.Compact(o.names)
	return o, nil
}

// tighter is the tighter of two levels; an empty one binds nothing. Off is the user's word, and holds.
func tighter(run, card string) string {
	levels := []string{sandbox.ReadOnly, sandbox.Workspace, sandbox.WorkspaceNet}
	if i := slices.Index(levels, card); i >= 0 && i < slices.Index(levels, run) {
		return card
	}
	return run
}

// reaches says in words what the commands of a card's ants reach, for people.
func (s sandboxSettings) reaches(level string, c cards.Card) (string, error) {
	o, err := s.out(level, c)
	switch {
	case err != nil:
		return "", err
	case level == sandbox.Off:
		return "everything: nothing confines commands", nil
	case o.none():
		return "nothing but a loopback of their own", nil
	}
	return strings.Join(o.names, ", "), nil
}

// vain says what a card asks of the sandbox and does not get at the level of the run; empty where it gets all.
func vain(level string, c cards.Card) string {
	switch {
	case len(c.Sandbox.Net) > 0 && tighter(level, c.Sandbox.Level) != sandbox.WorkspaceNet && level != sandbox.Off:
		return fmt.Sprintf("card %s: sandbox.net (%s): level %s reaches nothing; --sandbox workspace+net does", c.Name, strings.Join(c.Sandbox.Net, ", "), level)
	case level == sandbox.Off && c.Sandbox.Level != "":
		return fmt.Sprintf("card %s: sandbox.level %s: the sandbox is off", c.Name, c.Sandbox.Level)
	}
	return ""
}

// lintHosts checks the hosts of a card.
func lintHosts(c cards.Card) strict.Faults {
	return cards.LintHosts(c, func(host string) error {
		if _, err := netip.ParseAddrPort(host); err == nil {
			return fmt.Errorf("%s is a service on somebody's machine, which its user names under sandbox.net in the settings", host)
		}
		if addr, err := netip.ParseAddr(host); err == nil && egress.Public(addr) != nil {
			return egress.Public(addr)
		}
		_, err := egress.ParseHosts([]string{host})
		return err
	})
}

// A trip is what one command asked of the network.
type trip struct {
	mu      sync.Mutex                      // guards both
	reached []string                        // hosts
	refused map[string]*egress.RefusedError // by host
}

func (t *trip) tell(host string, refused *egress.RefusedError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case refused != nil && len(t.refused) < maxHosts:
		t.refused[host] = refused
	case refused == nil && len(t.reached) < maxHosts && !slices.Contains(t.reached, host):
		t.reached = append(t.reached, host)
	}
}

// maxHosts bounds how many hosts of one command are told of.
const maxHosts = 20

// stopped are the refusals, one a host, by host.
func (t *trip) stopped() []*egress.RefusedError {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*egress.RefusedError
	for _, host := range slices.Sorted(maps.Keys(t.refused)) {
		all = append(all, t.refused[host])
	}
	return all
}

// lead gives a job its ways out and the variables that name them.
func (c confined) lead(j *sandbox.Job, t *trip) {
	d := egress.New(egress.Parts{Allow: c.out.hosts, Own: c.out.own, Told: t.tell})
	port := uint16(proxyPort)
	for _, at := range c.out.own {
		if at.Addr().IsLoopback() && at.Addr().Is4() {
			j.Ways = append(j.Ways, sandbox.Way{Port: at.Port(), Serve: func(l net.Listener) error { return d.Forward(l, at.String()) }})
		}
		if at.Port() == port {
			port++
		}
	}
	j.Ways = append(j.Ways, sandbox.Way{Port: port, Serve: d.Serve})
	proxy, direct := fmt.Sprintf("http://127.0.0.1:%d", port), "localhost,127.0.0.1,::1"
	j.Env = append([]string{
		"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "http_proxy=" + proxy, "https_proxy=" + proxy,
		"NO_PROXY=" + direct, "no_proxy=" + direct, "NODE_USE_ENV_PROXY=1",
	}, j.Env...)
}

// outEnv lets toolchains take from the network what the user's own caches, which stay as they are, do not have.
func outEnv(cache string, getenv func(string) string) []string {
	from := getenv("GOPROXY")
	if from == "" || from == "off" {
		from = "https://proxy.golang.org"
	}
	if have := moduleCache(getenv); filepath.IsAbs(have) {
		from = "file://" + filepath.Join(have, "cache", "download") + "," + from
	}
	return []string{
		"GOPROXY=" + from, "GOMODCACHE=" + filepath.Join(cache, "go-mod"), "GOFLAGS=" + strings.TrimSpace(getenv("GOFLAGS")+" -modcacherw"),
	}
}

// hands is the box in which the ant's own commands run: its card may tighten the level, and names what they reach.
func (l *life) hands() (confined, error) {
	box := l.box
	box.tight = tighter(l.Colony.box.Level(), l.card.Sandbox.Level) == sandbox.ReadOnly
	var err error
	l.reach, err = l.settings.sandbox.out(l.Colony.box.Level(), l.card)
	return box.to(l.reach, l.parts.Getenv, l.travelled), err
}

// travelled keeps what a command of the ant's asked of the network: what was refused is an event, once for a host, and
// what it reached is text that others wrote.
func (l *life) travelled(ctx context.Context, t *trip) error {
	t.mu.Lock()
	reached := slices.Clone(t.reached)
	t.mu.Unlock()
	l.policies[l.order.Card].Witness(l.env, "sh", tools.Effects{Hosts: reached}, nil)
	return l.warnOf(ctx, t)
}

// warnOf keeps in the log what of the network a process of the ant's was refused.
func (l *life) warnOf(ctx context.Context, t *trip) error {
	var all error
	for _, refused := range t.stopped() {
		if !l.saidOnce.first(l.order.Ant + " " + refused.Error()) {
			continue
		}
		next := "Look at what the ant wanted there: nobody's card can name it"
		if refused.Unlisted {
			next = "Where it is needed, name the host under sandbox.net of the card or of your settings"
		}
		_, err := l.log.Append(context.WithoutCancel(ctx), event.Event{Run: l.run, Task: l.order.Task, Ant: l.order.Ant, Body: event.Warned{
			Code: "egress", Text: "A command of " + l.order.Ant + " was stopped: " + refused.Error(), Next: next,
		}})
		all = errors.Join(all, err)
	}
	return all
}
