package mcp

import (
	"slices"
	"sync"

	"colony/tools"
)

// Shelf keeps the tools of one server in an ant's registry as its server offers them. It is safe for concurrent use.
type Shelf struct {
	server   *Server
	registry *tools.Registry
	always   func(name string) bool
	stop     func()

	mu    sync.Mutex // guards what follows
	there map[string]*offer
}

// Place puts the tools of a server into a registry, deferred but for those that always names, and keeps them as the server
// offers them until Leave. told hears the names of tools that come later.
func (s *Server) Place(r *tools.Registry, always func(name string) bool, told func(names []string)) *Shelf {
	h := &Shelf{server: s, registry: r, always: always, there: map[string]*offer{}}
	h.stop = s.Watch(func() {
		if names := h.sync(); len(names) > 0 {
			told(names)
		}
	})
	h.sync() // after that, so that nothing that changes meanwhile is missed
	return h
}

// Leave keeps the tools as they are now.
func (h *Shelf) Leave() { h.stop() }

// source is where the tools come from.
func (h *Shelf) source() string { return "the MCP server " + h.server.Name() }

// sync makes the registry hold what the server offers, and returns the names that it did not hold before.
func (h *Shelf) sync() (fresh []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	offered := map[string]*offer{}
	for _, t := range h.server.Tools() {
		now := t.(tool).offer
		offered[now.name] = now
		was, there := h.there[now.name]
		if was == now {
			continue
		}
		if there {
			h.registry.Unregister(h.source(), now.name)
			delete(h.there, now.name)
		}
		if err := h.register(t, now.name); err != nil {
			h.server.tell(Withheld, "has a tool that is withheld: "+err.Error(), "its maker mends it; the others are there")
			continue
		}
		h.there[now.name] = now
		if !there {
			fresh = append(fresh, now.name)
		}
	}
	for name := range h.there {
		if offered[name] == nil {
			h.registry.Unregister(h.source(), name)
			delete(h.there, name)
		}
	}
	slices.Sort(fresh)
	return fresh
}

func (h *Shelf) register(t tools.Tool, name string) error {
	put := h.registry.RegisterDeferred
	if h.always(name) {
		put = h.registry.Register
	}
	return put(h.source(), t)
}
