package tools_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"colony/tools"
	"colony/tools/toolstest"
)

func fake(name string) tools.Tool { return toolstest.Named(name) }

// described is a fake whose description tells it from others of its name.
func described(name, text string) tools.Tool {
	return toolstest.Fake{Is: tools.Spec{Name: name, Description: text}}
}

func registry(t testing.TB, names ...string) *tools.Registry {
	t.Helper()
	r := tools.NewRegistry(io.Discard)
	for _, n := range names {
		must(t, r.Register(tools.BuiltIn, fake(n)))
	}
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func child(t testing.TB, r *tools.Registry, allow ...string) *tools.Registry {
	t.Helper()
	c, err := r.Child(allow, nil)
	must(t, err)
	return c
}

func names(specs []tools.Spec) string {
	var out []string
	for _, s := range specs {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func want(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func text(t testing.TB, r *tools.Registry, name string) string {
	t.Helper()
	tool, ok := r.Lookup(name)
	if !ok {
		return ""
	}
	return tool.Spec().Description
}

// contract 1
func TestListIsSortedAndLookupExact(t *testing.T) {
	r := registry(t, "write", "sh", "read")
	want(t, "list", names(r.List()), "read sh write")
	for _, name := range []string{"rea", "Read", "re*", "bash", "read ", "", "reаd"} {
		if _, ok := r.Lookup(name); ok {
			t.Errorf("lookup of %q found something", name)
		}
	}
}

// contract 1
func TestRegistryUnderConcurrentUse(t *testing.T) {
	root := registry(t, "read", "sh", "tool_search")
	c := child(t, root, "*")
	other := registry(t, "find")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := fmt.Sprintf("mcp__%d", i)
			for range 50 {
				must(t, root.RegisterDeferred("mcp", fake(name)))
				c.Load(name)
				c.Specs()
				c.List()
				c.Clone()
				c.Prepare(tools.Call{Name: name, Args: json.RawMessage(`{}`)})
				must(t, c.SetParent(other))
				must(t, c.SetParent(root))
				root.Unregister("mcp", name)
			}
		})
	}
	group.Wait()
	want(t, "list", names(c.List()), "read sh")
}

// contract 3
func TestDuplicateIsATypedError(t *testing.T) {
	var warned bytes.Buffer
	r := tools.NewRegistry(&warned)
	must(t, r.Register("a.yaml", described("x", "first")))
	err := r.Register("a.yaml", described("x", "second"))
	dup := new(tools.DuplicateNameError)
	if !errors.As(err, &dup) {
		t.Fatalf("got %v", err)
	}
	want(t, "text", err.Error(), "tool x of a.yaml is there already: second registration by a.yaml")
	want(t, "winner", text(t, r, "x"), "first")
	want(t, "warnings", warned.String(), "")
}

// contract 4, contract 2
func TestLaterSourceWinsWithOneWarning(t *testing.T) {
	var warned bytes.Buffer
	r := tools.NewRegistry(&warned)
	must(t, r.Register("a.yaml", described("x", "first")))
	must(t, r.Register("b.yaml", described("x", "second")))
	want(t, "winner", text(t, r, "x"), "second")
	want(t, "list", names(r.List()), "x")
	want(t, "warnings", warned.String(), "tool x of a.yaml is replaced by the one of b.yaml\n")
	if !r.Unregister("b.yaml", "x") {
		t.Error("unregister removed nothing")
	}
	want(t, "winner", text(t, r, "x"), "first")
}

// contract 4
func TestBuiltInIsReplacedOnlyByWhoMay(t *testing.T) {
	r := registry(t, "edit")
	c := child(t, r, "*")
	for _, to := range []*tools.Registry{r, c} {
		err := to.Register("mcp:evil", described("edit", "evil"))
		if err == nil || !strings.Contains(err.Error(), "replace") {
			t.Errorf("got %v", err)
		}
		want(t, "winner", text(t, c, "edit"), "Does what the test says.")
	}
	r.AllowReplace("user.yaml")
	must(t, c.Register("user.yaml", described("edit", "mine")))
	want(t, "child", text(t, c, "edit"), "mine")
	want(t, "parent", text(t, r, "edit"), "Does what the test says.")
	must(t, r.Register("user.yaml", described("edit", "mine too")))
	want(t, "parent", text(t, r, "edit"), "mine too")
}

// contract 4: a warning that cannot be given is said
func TestWarningThatCannotBeWritten(t *testing.T) {
	r := tools.NewRegistry(brokenWriter{})
	must(t, r.Register("a", fake("x")))
	if err := r.Register("b", fake("x")); err == nil || !strings.Contains(err.Error(), "warn") {
		t.Errorf("got %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRegisterRefusesWhatNoProviderTakes(t *testing.T) {
	for name, tool := range map[string]tools.Tool{
		"name":        fake("a b"),
		"no name":     fake(""),
		"long":        fake(strings.Repeat("x", 65)),
		"schema":      toolstest.Fake{Is: tools.Spec{Name: "x", Params: json.RawMessage(`[]`)}},
		"no object":   toolstest.Fake{Is: tools.Spec{Name: "x", Params: json.RawMessage(`{"type":"string"}`)}},
		"huge":        described("x", strings.Repeat("x", 65<<10)),
		"description": undescribed{},
		"panic":       panicking{},
	} {
		if err := registry(t).Register("s", tool); err == nil {
			t.Errorf("%s: registered", name)
		}
	}
}

type undescribed struct{ toolstest.Fake }

func (undescribed) Spec() tools.Spec {
	return tools.Spec{Name: "x", Params: json.RawMessage(`{"type":"object"}`)}
}

type panicking struct{ toolstest.Fake }

func (panicking) Spec() tools.Spec { panic("no spec") }

// contract 5
func TestChildReadsItsParentLive(t *testing.T) {
	r := registry(t, "read", "sh")
	c := child(t, r, "read", "mcp__*")
	want(t, "carved", names(c.List()), "read")
	must(t, r.Register("mcp", fake("mcp__a")))
	must(t, r.Register("mcp", fake("other")))
	want(t, "added", names(c.List()), "mcp__a read")
	r.Unregister("mcp", "mcp__a")
	want(t, "removed", names(c.List()), "read")
	must(t, r.Register("mcp", described("mcp__a", "parent's")))
	must(t, c.Register("own", described("mcp__a", "own")))
	want(t, "own wins", text(t, c, "mcp__a"), "own")
	c.Unregister("own", "mcp__a")
	want(t, "revealed", text(t, c, "mcp__a"), "parent's")
}

// contract 5
func TestSetParent(t *testing.T) {
	a, b := registry(t, "read"), registry(t, "find")
	c := child(t, a, "*")
	must(t, c.SetParent(b))
	want(t, "moved", names(c.List()), "find")
	must(t, c.SetParent(nil))
	want(t, "orphan", names(c.List()), "")
	if _, ok := c.Lookup("find"); ok {
		t.Error("an orphan found its parent's tool")
	}
	must(t, c.SetParent(a))
	if err := a.SetParent(child(t, c, "*")); err == nil {
		t.Error("a registry descends from itself")
	}
	want(t, "unchanged", names(a.List()), "read")
}

// contract 7
func TestAllowlist(t *testing.T) {
	r := registry(t, "read", "sh")
	want(t, "empty", names(child(t, r).List()), "")
	for _, name := range []string{"reed", "Read", "read ", "reаd"} {
		_, err := r.Child([]string{name}, nil)
		if err == nil || err.Error() != fmt.Sprintf("tool %q is unknown: did you mean read?", name) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if _, err := r.Child([]string{"*"}, []string{"zzzzzzzz"}); err == nil || err.Error() != `tool "zzzzzzzz" is unknown` {
		t.Errorf("got %v", err)
	}
	for pattern, hits := range map[string]string{"mcp__*": "mcp__a_b mcp__a_c", "*_b": "mcp__a_b", "m*a*c": "mcp__a_c", "x*": "", "*": "mcp__a_b mcp__a_c"} {
		got := child(t, registry(t, "mcp__a_b", "mcp__a_c"), pattern)
		want(t, pattern, names(got.List()), hits)
	}
}

// contract 8, PM03
func TestHatchedChildIsAnIntersection(t *testing.T) {
	r := registry(t, "read", "sh", "find")
	parent := child(t, r, "read", "find")
	c := child(t, parent, "read", "sh")
	want(t, "intersection", names(c.List()), "read")
	if p := c.Prepare(tools.Call{Name: "sh", Args: json.RawMessage(`{}`)}); p.Refused == nil {
		t.Error("sh runs")
	}
	parent.Deny("re*")
	want(t, "denied live", names(c.List()), "")
	if p := c.Prepare(tools.Call{Name: "read", Args: json.RawMessage(`{}`)}); p.Refused == nil {
		t.Error("a denied tool runs")
	}
}

// counting is a tool with state.
type counting struct {
	toolstest.Fake
	clones *int
}

func (c counting) Clone() tools.Tool { *c.clones++; return c }

// contract 9
func TestCloneIsFlatAndIndependent(t *testing.T) {
	r := registry(t, "read", "sh")
	c := child(t, r, "read", "mcp__*")
	clones := 0
	must(t, r.Register("mcp", counting{toolstest.Named("mcp__s"), &clones}))
	must(t, c.Register("own", described("mcp__o", "own")))
	k := c.Clone()
	if clones != 1 {
		t.Errorf("stateful tool cloned %d times", clones)
	}
	want(t, "same view", names(k.List()), "mcp__o mcp__s read")
	must(t, r.Register("mcp", fake("mcp__later")))
	must(t, k.Register("mine", fake("mcp__mine")))
	must(t, k.Register("mine", fake("forbidden")))
	want(t, "clone", names(k.List()), "mcp__mine mcp__o mcp__s read")
	want(t, "original", names(c.List()), "mcp__later mcp__o mcp__s read")
}

// contract 10
func TestUnregisterSaysWhetherItDid(t *testing.T) {
	r := registry(t, "read")
	c := child(t, r, "*")
	if r.Unregister("other", "read") || r.Unregister(tools.BuiltIn, "reed") || c.Unregister(tools.BuiltIn, "read") {
		t.Error("something was removed")
	}
	if !r.Unregister(tools.BuiltIn, "read") || r.Unregister(tools.BuiltIn, "read") {
		t.Error("removal not said")
	}
}

// contract 11
func TestDeferredToolIsLoadedOnceAndForGood(t *testing.T) {
	r := registry(t, "sh", "read", "tool_search")
	must(t, r.RegisterDeferred("mcp", fake("mcp__z")))
	must(t, r.RegisterDeferred("mcp", fake("mcp__a")))
	c, other := child(t, r, "*"), child(t, r, "*")
	want(t, "deferred", names(c.Deferred()), "mcp__a mcp__z")
	c.Freeze()
	want(t, "wire", names(c.Specs()), "read sh tool_search")
	if _, ok := c.Lookup("mcp__z"); ok {
		t.Error("callable before it is loaded")
	}
	p := c.Prepare(tools.Call{Name: "mcp__z"})
	if p.Refused == nil || !slices.Equal(p.Refused.Loaded, []string{"mcp__z"}) || !strings.Contains(p.Refused.Text, "call it again") || !strings.Contains(p.Refused.Text, "Parameters:") {
		t.Errorf("direct call: %+v", p.Refused)
	}
	if got := c.Load("mcp__z", "unknown", "read", "mcp__z"); len(got) != 1 || got[0].Spec().Name != "mcp__z" {
		t.Errorf("loaded %v", got)
	}
	if got := c.Load("mcp__z"); len(got) != 0 {
		t.Errorf("loaded again: %v", got)
	}
	c.Load("mcp__a")
	c.Freeze()
	want(t, "wire", names(c.Specs()), "read sh tool_search mcp__z mcp__a")
	want(t, "deferred", names(c.Deferred()), "")
	want(t, "private", names(other.Deferred()), "mcp__a mcp__z")
	if p := c.Prepare(tools.Call{Name: "mcp__z"}); p.Refused != nil {
		t.Errorf("loaded but refused: %s", p.Refused.Text)
	}
	want(t, "clone", names(c.Clone().Specs()), "read sh tool_search mcp__z mcp__a")
}

// contract 11: whatever registers after hatch is deferred
func TestWhatComesAfterTheFreezeIsDeferred(t *testing.T) {
	r := registry(t, "read", "sh", "tool_search")
	c := child(t, r, "*")
	c.Load("read") // not deferred: ignored
	c.Freeze()
	want(t, "no search without need", names(c.Specs()), "read sh")
	must(t, r.Register("mcp", fake("a_new")))
	want(t, "deferred", names(c.Deferred()), "a_new")
	want(t, "search appears at the end", names(c.Specs()), "read sh tool_search")
	c.Load("a_new")
	want(t, "then what it loaded", names(c.Specs()), "read sh tool_search a_new")
	r.Deny("read")
	want(t, "denied is not shown", names(c.Specs()), "sh tool_search a_new")
	must(t, r.Register("b", described("a_new", "changed")))
	if s := c.Specs(); s[2].Description != "Does what the test says." {
		t.Errorf("a text that was shown changed to %q", s[2].Description)
	}
}

// contract 15: an ant that is to look only is shown what looks, by the spec; it can load the rest, which is judged by its effects.
func TestFrozenReadOnly(t *testing.T) {
	r := registry(t)
	must(t, r.Register(tools.BuiltIn, toolstest.Reader("look", nil)))
	must(t, r.Register(tools.BuiltIn, fake("sh")))
	r.FreezeReadOnly()
	want(t, "shown", names(r.Specs()), "look")
	p := r.Prepare(call("sh", `{}`))
	if p.Refused == nil || !strings.Contains(p.Refused.Text, "sh was not loaded") {
		t.Fatalf("called before it was loaded: %+v", p.Refused)
	}
	r.Load(p.Refused.Loaded...)
	if p := r.Prepare(call("sh", `{}`)); p.Refused != nil || len(r.Specs()) != 2 {
		t.Errorf("loaded: %+v, %v", p.Refused, r.Specs())
	}
}

// contract 12
func TestSearchExistsOnlyWhereSomethingIsDeferred(t *testing.T) {
	r := registry(t, "read", "tool_search")
	must(t, r.RegisterDeferred("mcp", fake("mcp__a")))
	want(t, "nothing deferred is allowed", names(child(t, r, "read", "tool_search").List()), "read")
	want(t, "something is", names(child(t, r, "tool_search", "mcp__*").List()), "mcp__a tool_search")
}

// law 2, contract 6: one predicate decides what is listed, found and run, whatever happens to the registry
func TestLawOutsideTheAllowlistIsNothing(t *testing.T) {
	pool := []string{"read", "sh", "edit", "mcp__a", "mcp__b", "tool_search"}
	rapid.Check(t, func(rt *rapid.T) {
		root := registry(t, pool...)
		allow := rapid.SliceOf(rapid.SampledFrom([]string{"read", "sh", "edit", "mcp__*", "mcp__a", "tool_search", "*"})).Draw(rt, "allow")
		deny := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 2).Draw(rt, "deny")
		c, err := root.Child(allow, deny)
		must(t, err)
		inside := func(name string) bool {
			hit := slices.ContainsFunc(allow, func(p string) bool {
				return p == "*" || p == name || p == "mcp__*" && strings.HasPrefix(name, "mcp__")
			})
			return hit && !slices.Contains(deny, name)
		}
		steps := rapid.SliceOf(rapid.IntRange(0, 4)).Draw(rt, "steps")
		for i, step := range steps {
			name := rapid.SampledFrom(pool).Draw(rt, "name")
			switch step {
			case 0:
				_ = root.RegisterDeferred(fmt.Sprint("mcp", i), fake("mcp__"+fmt.Sprint(i))) // a name may be taken
			case 1:
				root.Unregister(tools.BuiltIn, name)
			case 2:
				c.Load(name)
			case 3:
				c.Freeze()
			case 4:
				_ = c.Register(fmt.Sprint("own", i), fake(name)) // may be refused as a replacement
			}
		}
		shown := slices.Concat(c.List(), c.Specs(), c.Deferred(), c.Clone().List())
		for _, s := range shown {
			if !inside(s.Name) {
				rt.Fatalf("%s is shown", s.Name)
			}
		}
		for _, name := range append(pool, "mcp__0", "mcp__1") {
			if inside(name) {
				continue
			}
			if _, ok := c.Lookup(name); ok {
				rt.Fatalf("%s is found", name)
			}
			p := c.Prepare(tools.Call{Name: name, Args: json.RawMessage(`{}`)})
			if p.Refused == nil || strings.Contains(p.Refused.Text, "Parameters") || len(c.Load(name)) > 0 {
				rt.Fatalf("%s runs or is disclosed", name)
			}
		}
	})
}
