package tools

import "slices"

// List is all visible tools, loaded or not, ascending by name: for people and for list_tools.
func (r *Registry) List() []Spec {
	return specs(r.entries(), func(entry) bool { return true })
}

// Deferred is the visible tools that must be loaded before they can be called, ascending by name.
func (r *Registry) Deferred() []Spec { return specs(r.entries(), r.waits) }

// Freeze fixes what the model is shown as it is now, at hatch. Whatever registers later is deferred.
func (r *Registry) Freeze() { r.freeze(r.callable) }

// FreezeReadOnly is Freeze for an ant that is to look only: every other tool is deferred too.
func (r *Registry) FreezeReadOnly() {
	r.freeze(func(e entry) bool { return e.spec.ReadOnly && r.callable(e) })
}

func (r *Registry) freeze(shown func(entry) bool) {
	now := specs(r.entries(), shown)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen != nil {
		return
	}
	isLoaded := func(s Spec) bool { return named(r.loaded, s.Name) }
	r.frozen = append([]Spec{}, slices.DeleteFunc(now, isLoaded)...)
}

// Specs is what the model is shown, in wire order: as frozen, or ascending by name before, then as loaded. It
// grows at its end and is never sorted again. Texts and schemas stay as they were when first shown; a tool that
// may no longer be called is left out.
func (r *Registry) Specs() []Spec {
	search, searches := r.visible(SearchName)
	now := specs(r.entries(), r.callable)
	r.mu.Lock()
	if r.frozen != nil {
		now = slices.Clone(r.frozen)
		if searches && !named(r.frozen, SearchName) && !named(r.loaded, SearchName) {
			r.loaded = append(r.loaded, search.spec)
		}
	}
	loaded := slices.Clone(r.loaded)
	r.mu.Unlock()
	now = slices.DeleteFunc(now, func(s Spec) bool { return named(loaded, s.Name) })
	return slices.DeleteFunc(append(now, loaded...), func(s Spec) bool {
		_, ok := r.visible(s.Name)
		return !ok
	})
}

// Load opens deferred tools to this registry's owner for good, at the end of the wire order, and returns those
// that were not open before. Names that are unknown, hidden or not deferred are ignored.
func (r *Registry) Load(names ...string) []Tool {
	var opened []Tool
	for _, name := range names {
		e, ok := r.visible(name)
		if !ok || !r.isDeferred(e) {
			continue
		}
		if r.open(e.spec) {
			opened = append(opened, e.tool)
		}
	}
	return opened
}

func (r *Registry) open(s Spec) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if named(r.loaded, s.Name) {
		return false
	}
	r.loaded = append(r.loaded, s)
	return true
}

// isDeferred reports whether the tool is to be loaded first, whether or not it was: it registered so, or it
// came after the freeze.
func (r *Registry) isDeferred(e entry) bool {
	if e.spec.Name == SearchName {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.frozen == nil {
		return e.deferred
	}
	return !named(r.frozen, e.spec.Name)
}

// waits reports whether the tool is deferred and was not loaded.
func (r *Registry) waits(e entry) bool {
	if !r.isDeferred(e) {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return !named(r.loaded, e.spec.Name)
}

func (r *Registry) callable(e entry) bool { return !r.waits(e) }

func specs(from []entry, keep func(entry) bool) []Spec {
	out := make([]Spec, 0, len(from))
	for _, e := range from {
		if keep(e) {
			out = append(out, e.spec)
		}
	}
	return out
}

func named(in []Spec, name string) bool {
	return slices.ContainsFunc(in, func(s Spec) bool { return s.Name == name })
}
