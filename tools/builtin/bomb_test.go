package builtin_test

import (
	"strings"
	"testing"

	"colony/tools"
)

// A replacement that would not fit in memory is refused before it is made: what it takes is not let go again.
func TestEditRefusesGrowthBeforeItIsMade(t *testing.T) {
	w := newWorld(t)
	w.call("write", args{"path": "a.txt", "content": strings.Repeat("a", 4<<20)})
	r := w.call("edit", args{"path": "a.txt", "old": "a", "new": strings.Repeat("b", 1<<20), "replace_all": true})
	if r.Fault != tools.Validation || !strings.Contains(r.Text, "too big") {
		t.Errorf("%s: %s", r.Fault, r.Text)
	}
	many := make([]args, 201)
	for i := range many {
		many[i] = args{"old": "a", "new": "b"}
	}
	if p := prepared(t, "edit", args{"path": "a.txt", "edits": many}); p.Refused == nil {
		t.Error("201 edits in one call were taken")
	}
}

// A glob whose alternatives multiply is refused: matching it takes for ever and cannot be stopped.
func TestFindRefusesManyAlternatives(t *testing.T) {
	w := newWorld(t)
	w.call("write", args{"path": strings.Repeat("a", 40) + "b", "content": "x"})
	for _, glob := range []string{
		strings.Repeat("{a,a}", 40) + "c", strings.Repeat("{a,{a,a}}", 20) + "c", strings.Repeat("{", 9) + strings.Repeat("a,a}", 9) + "c",
	} {
		if r := w.call("find", args{"pattern": glob}); r.Fault != tools.Validation {
			t.Errorf("%s: %s: %s", glob, r.Fault, r.Text)
		}
	}
	if r := w.call("find", args{"pattern": `*.{go,md,txt,yaml}\{`}); r.Fault != "" {
		t.Errorf("%s: %s", r.Fault, r.Text)
	}
}

func prepared(t *testing.T, name string, a args) tools.Prepared {
	t.Helper()
	r := tools.NewRegistry(t.Output())
	if err := r.Register(tools.BuiltIn, tool(name)); err != nil {
		t.Fatal(err)
	}
	return r.Prepare(tools.Call{ID: "1", Name: name, Args: raw(&world{T: t}, a)})
}
