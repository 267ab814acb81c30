package guard_test

import (
	"os"
	"strings"
	"testing"

	"colony/guard"
)

// ordinary is one line of everyday work.
type ordinary struct {
	kind, line string
	readOnly   bool
}

func ordinaryLines(t *testing.T) []ordinary {
	t.Helper()
	data, err := os.ReadFile("testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []ordinary
	for text := range strings.Lines(string(data)) {
		text = strings.TrimSuffix(text, "\n")
		if text == "" || text[0] == '#' {
			continue
		}
		parts := strings.SplitN(text, " ", 3)
		if len(parts) != 3 || parts[1] != "r" && parts[1] != "w" {
			t.Fatalf("%q is not KIND r|w COMMAND", text)
		}
		all = append(all, ordinary{kind: parts[0], readOnly: parts[1] == "r", line: parts[2]})
	}
	return all
}

// The list only grows.
func TestOrdinaryList(t *testing.T) {
	kinds, seen := map[string]int{}, map[string]bool{}
	for _, o := range ordinaryLines(t) {
		kinds[o.kind]++
		if seen[o.line] {
			t.Errorf("%q stands twice", o.line)
		}
		seen[o.line] = true
	}
	for _, kind := range []string{"go", "node", "python", "rust", "java", "core"} {
		if kinds[kind] < 50 {
			t.Errorf("%d lines of %s", kinds[kind], kind)
		}
	}
	if len(seen) < 398 {
		t.Errorf("%d lines", len(seen))
	}
}

// With the sandbox on, no ordinary line is a question.
func TestOrdinaryInTheSandbox(t *testing.T) {
	env := newEnv(t)
	p := policy(t, guard.Parts{Mode: guard.ModeAuto, Sandboxed: true})
	asked := 0
	for _, o := range ordinaryLines(t) {
		if d := p.Decide(env, call("sh", line(env, o.line))); d.Decision != guard.Allow {
			asked++
			t.Errorf("%s %q: %+v", o.kind, o.line, d)
		}
	}
	t.Logf("security: S3 | questions on ordinary work, sandbox on | %d of %d | 0 of 200", asked, len(ordinaryLines(t)))
}

// Without a sandbox few read-only lines are a question, and every other is.
func TestOrdinaryWithoutASandbox(t *testing.T) {
	env := newEnv(t)
	p := policy(t, guard.Parts{Mode: guard.ModeAsk})
	var reading, asked int
	for _, o := range ordinaryLines(t) {
		d := p.Decide(env, call("sh", line(env, o.line)))
		switch {
		case !o.readOnly && d.Decision == guard.Allow:
			t.Errorf("%s %q runs without a question: %+v", o.kind, o.line, d)
		case o.readOnly && d.Decision != guard.Allow:
			asked++
			t.Logf("%s: %s", o.line, d.Reason)
			fallthrough
		case o.readOnly:
			reading++
		}
	}
	t.Logf("security: S3 | questions on read-only work, sandbox off | %d of %d | at most 5%%", asked, reading)
	if asked*20 > reading { // 5%
		t.Errorf("%d of %d read-only lines ask", asked, reading)
	}
}
