package guard_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"colony/guard"
)

// want is one line of shell with the rules it meets and what must come of it.
type want struct {
	ID, Setup        string // shell that makes the tree it is about
	Line, Want       string
	Allow, Ask, Deny []string
}

func lines(t *testing.T) []want {
	t.Helper()
	f, err := os.Open("testdata/lines.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []want
	for in := bufio.NewScanner(f); in.Scan(); {
		var w want
		if err := json.Unmarshal(in.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	if len(all) < 100 {
		t.Fatalf("only %d lines", len(all))
	}
	return all
}

// Policy alone, no sandbox: hostile lines never run without a question, harmless ones always do.
func TestLines(t *testing.T) {
	env := newEnv(t)
	hostile, ran := 0, 0
	for _, w := range lines(t) {
		p := policy(t, guard.Parts{Rules: rules(t, w.Allow, w.Ask, w.Deny)})
		d := p.Decide(env, call("sh", line(env, w.Line)))
		if w.Want != guard.Allow {
			hostile++
			if d.Decision == guard.Allow {
				ran++
			}
		}
		if d.Decision != w.Want && !(w.Want == "not_allow" && d.Decision != guard.Allow) {
			t.Errorf("%s %q: %+v, want %s", w.ID, w.Line, d, w.Want)
		}
		if d.Decision != guard.Allow && (d.Reason == "" || d.Segment == "") {
			t.Errorf("%s %q: no reason or segment: %+v", w.ID, w.Line, d)
		}
	}
	t.Logf("security: S1 | policy alone: hostile lines that would run | %d of %d | 0", ran, hostile)
}
