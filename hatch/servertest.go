package hatch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"colony/guard/sandbox"
	"colony/guard/secrets"
	"colony/mcp"
	"colony/tools"
)

// TestServer starts a server as an ant's would be, with the checkout for its root that it may only read, lists its tools and calls
// one.
func (h *House) TestServer(ctx context.Context, getenv func(string) string, version, name string, trial mcp.Trial) (out mcp.Report, err error) {
	found, ok := h.server(name)
	if !ok {
		return out, cmp.Or(h.trustedOrProblem(), noServer(name))
	}
	set, err := readSettings(h.Settings)
	if err != nil {
		return out, err
	}
	if err := os.MkdirAll(h.State, 0o700); err != nil {
		return out, err
	}
	dir, err := os.MkdirTemp(h.State, "mcp-test-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, end, err := h.triedParts(ctx, getenv, found, set, dir)
	if err != nil {
		return out, err
	}
	defer end()
	known := secrets.New(append(slices.Clone(h.private), found.Secrets(getenv)...)...)
	var notes notes
	p.Version, p.Told = version, func(n mcp.Note) { notes.add(known.Redact(n.Text)) }
	s, err := mcp.New(p)
	if err != nil {
		return out, err
	}
	defer s.Close()
	env := &tools.Env{Root: h.Root, Ant: "you", Tools: tools.NewRegistry(io.Discard), Now: p.Now, Ask: Nobody, Progress: func(string) {}}
	if env.Blobs, err = tools.NewBlobs(filepath.Join(dir, "blobs")); err != nil {
		return out, err
	}
	if out, err = s.Try(ctx, env, trial); err != nil {
		return out, &Problem{Exit: 3, Code: "bad_server", Message: "the MCP server " + name + " was not started: " + known.Redact(mcp.Visible(err.Error())), Next: "mend its entry: colony mcp list"}
	}
	out.What = found.What() // with the names of variables, not their values
	if out.Result != nil {
		out.Result.Text = known.Redact(out.Result.Text)
	}
	out.Notes = append(out.Notes, notes.all()...)
	return out, nil
}

// notes are what a server's trial says. They are safe for concurrent use.
type notes struct {
	mu    sync.Mutex // guards texts
	texts []string
}

func (n *notes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.texts)
}

// triedParts are the parts of a server that is tried in a directory of its own, and what ends its sandbox.
func (h *House) triedParts(ctx context.Context, getenv func(string) string, found server, set settings, dir string) (mcp.Parts, func(), error) {
	entry, err := found.Expand(found.given(set.mcp.Env, getenv))
	if err != nil {
		return mcp.Parts{}, nil, badServer(found.Name, err)
	}
	found.Entry = entry
	p := mcp.Parts{
		Entry: entry, Root: h.Root, Pins: h.pins(found), Health: &mcp.Health{}, Now: time.Now, Limits: set.mcp.limits(),
		Enter: func(context.Context) (func(), error) { return func() {}, nil },
	}
	if entry.URL != "" {
		p.Client, err = found.client(set.sandbox.Net)
		return p, func() {}, err
	}
	box, err := sandbox.New(ctx, sandbox.Parts{Level: set.sandbox.Level, Home: getenv("HOME"), State: h.State, Config: h.Config})
	if err != nil {
		return p, nil, sandboxProblem(err)
	}
	in, err := h.triedIn(box, set, getenv, dir)
	if err != nil {
		box.Close()
		return p, nil, err
	}
	p.Start = func(_ context.Context, argv, env []string, stderr io.Writer) (io.ReadWriteCloser, error) {
		return in.speak(argv, env, stderr)
	}
	return p, box.Close, nil
}

// triedIn is the box of a server that is tried, with a tree and a scratch in the directory.
func (h *House) triedIn(box *sandbox.Sandbox, set settings, getenv func(string) string, dir string) (confined, error) {
	tree, scratch := filepath.Join(dir, "tree"), filepath.Join(dir, "scratch")
	if err := errors.Join(os.Mkdir(tree, 0o700), os.Mkdir(scratch, 0o700)); err != nil {
		return confined{}, err
	}
	in, err := newConfined(box, filepath.Join(cmp.Or(h.Cache, filepath.Join(h.home(), "cache")), "ants"), nil, nowhere, getenv)
	if err != nil {
		return confined{}, err
	}
	reach, err := set.sandbox.out(set.sandbox.Level)
	return in.to(reach, getenv, untold).in(tree, scratch).beginning(cmp.Or(h.Root, h.Dir)), err
}
