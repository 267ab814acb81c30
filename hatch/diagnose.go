package hatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"colony/lsp"
	"colony/view"
)

// diagnosticsGate is the gate that is no command: no file may have an error, as language servers see it, that the run's base has
// not.
const diagnosticsGate = "diagnostics"

// baseline is what language servers say of the commit that the run, or a take-over, begins from: they are asked once.
type baseline struct {
	mu     sync.Mutex // guards what follows
	at     string     // the commit; empty before the first time
	errors map[wrongness]int
}

// wrongness is an error wherever it stands in its file.
type wrongness struct{ path, text string }

// diagnose runs the gate on a tree and writes the errors that are new there.
func (c *Colony) diagnose(ctx context.Context, dir string, out io.Writer) (code int, err error) {
	before, err := c.before(ctx)
	if err != nil {
		return c.undiagnosed(ctx, err, out)
	}
	now, err := c.checked(ctx, dir)
	if err != nil {
		return c.undiagnosed(ctx, err, out)
	}
	if len(now.Servers) == 0 {
		fmt.Fprintln(out, "diagnostics: no language server is there that reads a file of this repository; colony doctor says how to install one")
		return 1, nil
	}
	brought := newErrors(before, now.Errors)
	for _, p := range brought {
		fmt.Fprintf(out, "%s:%d:%d: error: %s\n", view.Line(p.Path), p.Line, p.Column, view.Line(p.Text))
	}
	word := "errors"
	if len(brought) == 1 {
		word = "error"
	}
	fmt.Fprintf(out, "diagnostics (%s): %d new %s, %d that the base has\n", strings.Join(now.Servers, ", "), len(brought), word, len(now.Errors)-len(brought))
	if now.Left > 0 {
		fmt.Fprintf(out, "diagnostics: %d further files were not looked at\n", now.Left)
	}
	if len(brought) > 0 {
		return 1, nil
	}
	return 0, nil
}

// undiagnosed is a gate that could not be judged: it did not pass.
func (c *Colony) undiagnosed(ctx context.Context, err error, out io.Writer) (int, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	fmt.Fprintf(out, "diagnostics: not judged: %v\n", err)
	return 1, nil
}

// newErrors are the errors that were not there before, or not so often.
func newErrors(before map[wrongness]int, all []view.Problem) (brought []view.Problem) {
	seen := map[wrongness]int{}
	for _, p := range all {
		w := wrongness{p.Path, p.Text}
		if seen[w]++; seen[w] > before[w] {
			brought = append(brought, p)
		}
	}
	return brought
}

// before are the errors of the run's base.
func (c *Colony) before(ctx context.Context) (map[wrongness]int, error) {
	c.errorsAt.mu.Lock()
	defer c.errorsAt.mu.Unlock()
	if c.errorsAt.at == c.base {
		return c.errorsAt.errors, nil
	}
	tree, err := c.repo.Checkout(ctx, c.base)
	if err != nil {
		return nil, err
	}
	found, err := c.checked(ctx, tree.Dir)
	if err := errors.Join(err, tree.Remove()); err != nil {
		return nil, err
	}
	c.errorsAt.at, c.errorsAt.errors = c.base, map[wrongness]int{}
	for _, p := range found.Errors {
		c.errorsAt.errors[wrongness{p.Path, p.Text}]++
	}
	return c.errorsAt.errors, nil
}

// checked asks servers of their own about a tree: what is asked about ants' edits has read what ants wrote, and a server may
// run some of what it reads.
func (c *Colony) checked(ctx context.Context, dir string) (lsp.Checked, error) {
	cache := "gate-servers"
	if inside(dir, filepath.Dir(c.repo.Place("x"))) {
		cache = "servers"
	}
	servers, err := c.languages(cache)
	if err != nil {
		return lsp.Checked{}, err
	}
	defer servers.Close()
	return servers.Check(ctx, dir)
}
