package tools

// suggest is the right name of a tool that an ant called by another, from what this registry shows; empty
// where nothing fits.
func (r *Registry) suggest(name string) string { return "" }
