package tools

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SearchName is the tool that exists only where something deferred is allowed.
const SearchName = "tool_search"

// SetParent moves the registry under another parent, or under none, for all readers at once. A parent that
// descends from the registry itself is an error and changes nothing.
func (r *Registry) SetParent(parent *Registry) error {
	for at := parent; at != nil; at = at.above() {
		if at == r {
			return fmt.Errorf("set parent of a registry: it would descend from itself")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parent = parent
	return nil
}

// above is the parent. A nil registry is above nothing and finds nothing.
func (r *Registry) above() *Registry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.parent
}

// find is the winning entry of the name, own before inherited, whatever the walls say.
func (r *Registry) find(name string) (*entry, bool) {
	for at := r; at != nil; at = at.above() {
		if e, ok := at.mine(name); ok {
			return e, true
		}
	}
	return nil, false
}

func (r *Registry) mine(name string) (*entry, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if all := r.own[name]; len(all) > 0 {
		return all[len(all)-1], true
	}
	return nil, false
}

// allows is the predicate: the name passes every wall from here to the root.
func (r *Registry) allows(name string) bool {
	for at := r; at != nil; at = at.above() {
		if !at.passes(name) {
			return false
		}
	}
	return true
}

func (r *Registry) passes(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	blocks := func(f filter) bool { return !f.allows(name) }
	return !slices.ContainsFunc(r.walls, blocks) && !matchesAny(r.denied, name)
}

func (r *Registry) mayReplace(source string) bool {
	for at := r; at != nil; at = at.above() {
		at.mu.RLock()
		ok := slices.Contains(at.replace, source)
		at.mu.RUnlock()
		if ok {
			return true
		}
	}
	return false
}

// visible is the winning entry of a name that may be shown. The search tool is visible only where something
// deferred is allowed.
func (r *Registry) visible(name string) (*entry, bool) {
	e, ok := r.find(name)
	if !ok || !r.allows(name) {
		return nil, false
	}
	if name == SearchName && !r.defers() {
		return nil, false
	}
	return e, true
}

// defers reports whether something deferred is allowed, loaded or not.
func (r *Registry) defers() bool {
	for _, name := range r.names() {
		if name == SearchName || !r.allows(name) {
			continue
		}
		if e, ok := r.find(name); ok && r.isDeferred(e) {
			return true
		}
	}
	return false
}

// names are all names from here to the root, sorted, whatever the walls say.
func (r *Registry) names() []string {
	all := map[string]bool{}
	for at := r; at != nil; at = at.above() {
		at.mu.RLock()
		for name := range at.own {
			all[name] = true
		}
		at.mu.RUnlock()
	}
	return slices.Sorted(maps.Keys(all))
}

// entries are the visible entries, ascending by name. There may be thousands: each level is locked once.
func (r *Registry) entries() []*entry {
	winning := map[string]*entry{}
	var walls []filter
	var denied []string
	for at := r; at != nil; at = at.above() {
		at.mu.RLock()
		walls, denied = append(walls, at.walls...), append(denied, at.denied...)
		for name, all := range at.own {
			if winning[name] == nil {
				winning[name] = all[len(all)-1]
			}
		}
		at.mu.RUnlock()
	}
	out := make([]*entry, 0, len(winning))
	for name, e := range winning {
		blocks := func(f filter) bool { return !f.allows(name) }
		if !slices.ContainsFunc(walls, blocks) && !matchesAny(denied, name) && (name != SearchName || r.defers()) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	return out
}
