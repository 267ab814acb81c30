package guard_test

import (
	"testing"

	"colony/guard"
)

// contract 78: without a sandbox a line that starts colony to decide for a person is denied, however it is wrapped and whatever
// allows it; in one there is nothing that it could change.
func TestNoLineDecidesForAPerson(t *testing.T) {
	env := newEnv(t)
	open := policy(t, guard.Parts{Rules: rules(t, []string{"sh"}, nil, nil)})
	boxed := policy(t, guard.Parts{Mode: guard.ModeAuto, Sandboxed: true})
	for text, want := range map[string]string{
		"colony trust": guard.Deny, "colony -C sub trust --json": guard.Deny, "./bin/colony answer worker-1.1 allow": guard.Deny,
		"env -u COLONY_ANT colony land": guard.Deny, "COLONY_ANT= colony resume": guard.Deny, "ls && timeout 5 nice colony gc": guard.Deny,
		"colony status": guard.Allow, "colony version": guard.Allow, "echo colony trust": guard.Allow, "colonize trust": guard.Allow,
	} {
		d := open.Decide(env, call("sh", line(env, text)))
		if d.Decision != want || want == guard.Deny && d.Rule != "own-verbs" {
			t.Errorf("%q: %+v, want %s", text, d, want)
		}
		if d := boxed.Decide(env, call("sh", line(env, text))); d.Decision != guard.Allow {
			t.Errorf("in a sandbox %q: %+v", text, d)
		}
	}
}
