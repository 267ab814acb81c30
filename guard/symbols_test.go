package guard_test

import (
	"testing"

	"colony/guard"
)

// A rename by symbols edits files: what rules say of edit holds for it too, and not for what only looks.
func TestRulesOfEditHoldForARename(t *testing.T) {
	env := newEnv(t)
	p := policy(t, guard.Parts{Rules: rules(t, nil, nil, []string{"edit(docs/**)"}), Mode: guard.ModeAuto, Sandboxed: true})
	if d := p.Decide(env, call("symbols", writes(env, "docs/a.go"))); d.Decision != guard.Deny {
		t.Errorf("got %+v", d)
	}
	if d := p.Decide(env, call("symbols", writes(env, "a.go"))); d.Decision == guard.Deny {
		t.Errorf("got %+v", d)
	}
	if d := p.Decide(env, call("symbols", writes(env, ".git/config"))); d.Decision != guard.Deny || d.Stage != "floor" {
		t.Errorf("got %+v", d)
	}
}
