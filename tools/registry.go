package tools

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// Registry is the tools that one owner may see. A child reads its parent live and filters on every lookup, so
// one predicate decides what is listed, what a search finds and what runs. It is safe for concurrent use.
type Registry struct {
	warn io.Writer

	mu      sync.RWMutex
	parent  *Registry           // guarded by mu; nil at the root
	own     map[string][]*entry // guarded by mu; the last of a name wins
	walls   []filter            // guarded by mu; a name must pass all; none at the root
	denied  []string            // guarded by mu; denies added later
	replace []string            // guarded by mu; sources that may replace a built-in tool
	frozen  []Spec              // guarded by mu; what the model was shown at hatch; nil before
	loaded  []Spec              // guarded by mu; what it was shown since, in that order
}

// NewRegistry is empty and allows every name. Warnings go to warn.
func NewRegistry(warn io.Writer) *Registry {
	return &Registry{warn: warn, own: map[string][]*entry{}}
}

// Register adds a tool. A tool of the same name and source is a *DuplicateNameError; one of another source is
// replaced with a warning, and comes back when the winner is unregistered. A built-in tool is replaced only by
// a source that AllowReplace named.
func (r *Registry) Register(source string, t Tool) error { return r.register(source, t, false) }

// RegisterDeferred is Register for a tool that must be loaded before the model sees its schema or may call it.
func (r *Registry) RegisterDeferred(source string, t Tool) error { return r.register(source, t, true) }

func (r *Registry) register(source string, t Tool, deferred bool) error {
	e, err := newEntry(source, t, deferred)
	if err != nil {
		return err
	}
	replaced, err := r.add(e)
	if err != nil || replaced == "" {
		return err
	}
	if _, err := fmt.Fprintf(r.warn, "tool %s of %s is replaced by the one of %s\n", e.spec.Name, replaced, source); err != nil {
		return fmt.Errorf("warn of a replaced tool: %w", err)
	}
	return nil
}

// add returns the source that the entry replaces, or nothing.
func (r *Registry) add(e *entry) (replaced string, err error) {
	name := e.spec.Name
	above, inherited := r.above().find(name)
	mayReplace := r.mayReplace(e.source)
	r.mu.Lock()
	defer r.mu.Unlock()
	mine := r.own[name]
	for _, old := range mine {
		if old.source == e.source {
			return "", &DuplicateNameError{Name: name, First: old.source, Second: e.source}
		}
	}
	builtIn := inherited && above.source == BuiltIn ||
		slices.ContainsFunc(mine, func(old *entry) bool { return old.source == BuiltIn })
	if builtIn && !mayReplace {
		return "", fmt.Errorf("register tool %s of %s: it would replace a built-in tool: set replace: true for a source you trust, or rename it", name, e.source)
	}
	r.own[name] = append(slices.Clone(mine), e)
	switch {
	case len(mine) > 0:
		return mine[len(mine)-1].source, nil
	case inherited:
		return above.source, nil
	}
	return "", nil
}

// AllowReplace lets a source replace built-in tools: one that the user trusts and whose settings say so.
func (r *Registry) AllowReplace(source string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replace = append(r.replace, source)
}

// Unregister removes the source's own tool of that name and reports whether there was one.
func (r *Registry) Unregister(source, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(r.own[name]), func(e *entry) bool { return e.source == source })
	removed := len(kept) < len(r.own[name])
	r.own[name] = kept
	if len(kept) == 0 {
		delete(r.own, name)
	}
	return removed
}

// Deny hides the names, or what a pattern matches, from this registry and all its children at once.
func (r *Registry) Deny(names ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.denied = append(r.denied, names...)
}

// Lookup is the tool of exactly that name, when it may be called now: visible, and loaded where it is deferred.
func (r *Registry) Lookup(name string) (Tool, bool) {
	e, ok := r.visible(name)
	if !ok || r.waits(e) {
		return nil, false
	}
	return e.tool, true
}
