//go:build !failpoints

package failpoint

// Built reports whether points may do anything in this program.
const Built = false

// Hit does nothing and answers nil.
func Hit(string) error { return nil }
