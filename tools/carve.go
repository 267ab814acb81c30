package tools

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"colony/strict"
)

// DuplicateNameError is a tool that registers twice under one source.
type DuplicateNameError struct{ Name, First, Second string }

func (e *DuplicateNameError) Error() string {
	return fmt.Sprintf("tool %s of %s is there already: second registration by %s", e.Name, e.First, e.Second)
}

// unknownTool is a plain name in a list of a card that no tool has.
func unknownTool(name string, known []string) error {
	if near := strict.Nearest(name, known); near != "" {
		return fmt.Errorf("tool %q is unknown: did you mean %s?", name, near)
	}
	return fmt.Errorf("tool %q is unknown", name)
}

// servedName begins the names of tools of servers, which may not be there yet.
const servedName = "mcp__"

// Child is a live view of r that shows what allow names and deny does not, of what r itself shows. A star in a
// name stands for any run of characters and need not match yet. A plain name that no tool has is an error
// that names the nearest, but for one of a server's tool; an empty allow is no tools.
func (r *Registry) Child(allow, deny []string) (*Registry, error) {
	known := r.names()
	for _, name := range slices.Concat(allow, deny) {
		if !isPattern(name) && !strings.HasPrefix(name, servedName) && !slices.Contains(known, name) {
			return nil, unknownTool(name, known)
		}
	}
	child := NewRegistry(r.warn)
	child.parent = r
	child.walls = []filter{{allow: slices.Clone(allow), deny: slices.Clone(deny)}}
	return child, nil
}

// Clone is the same view without a parent: what is visible is copied root first, stateful tools by their own
// Clone, and the walls go with it. Later changes of either do not reach the other.
func (r *Registry) Clone() *Registry {
	var chain []*Registry
	for at := r; at != nil; at = at.above() {
		chain = append(chain, at)
	}
	c := NewRegistry(io.Discard)
	c.warn = r.warn
	for _, at := range slices.Backward(chain) {
		at.copyInto(c)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	c.frozen, c.loaded = slices.Clone(r.frozen), slices.Clone(r.loaded)
	return c
}

func (r *Registry) copyInto(c *Registry) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(r.own)) {
		for _, e := range r.own[name] {
			own := *e
			if s, ok := e.tool.(stateful); ok {
				own.tool = s.Clone()
			}
			c.own[name] = append(c.own[name], &own)
		}
	}
	c.walls = append(c.walls, r.walls...)
	c.denied = append(c.denied, r.denied...)
	c.replace = append(c.replace, r.replace...)
}
