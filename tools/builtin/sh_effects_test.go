package builtin_test

import (
	"os"
	"slices"
	"testing"

	"colony/tools"
)

// What the guard needs of a line: other readings of its commands, the line as written also where it does not
// parse, and every path also where one cannot be resolved.
func TestShEffects(t *testing.T) {
	w := newWorld(t)
	w.must(os.Symlink("loop", w.path("loop")))
	effects := func(command string) tools.Effects {
		e, err := tool("sh").Effects(w.env, raw(t, args{"command": command}))
		w.must(err)
		if !slices.Equal(e.Subjects, []string{command}) {
			t.Errorf("%q: subjects %q", command, e.Subjects)
		}
		return e
	}
	if e := effects("timeout 5 sudo rm x"); len(e.Commands) != 1 || !slices.Contains(e.Commands[0].Also, "sudo rm x") {
		t.Errorf("wrapped: %+v", e)
	}
	if e := effects("a &&& b"); e.Known || e.Commands != nil || e.Why == "" {
		t.Errorf("unparsable: %+v", e)
	}
	if e := effects("touch loop/x .git/x"); e.Known || !slices.Equal(e.Writes, []string{w.path("loop/x"), w.path(".git/x")}) {
		t.Errorf("a link to itself: %+v", e)
	}
}
