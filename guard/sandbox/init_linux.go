package sandbox

// A helper does its work before the packages that colony is made of are initialised, since they take longer than the
// rest of a small job: jobs start often, and a helper needs none of them. The linker initialises a package as soon as
// those that it imports are, so this package imports little.
func init() { Helper() }
