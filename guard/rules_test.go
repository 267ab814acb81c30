package guard_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"colony/guard"
	"colony/tools"
)

// contract 29: content on a command.
func TestCommandRules(t *testing.T) {
	env := newEnv(t)
	for _, c := range []struct {
		rule, line string
		match      bool
	}{
		{"sh", "make all", true},
		{"sh(make all)", "make all", true},
		{"sh(make all)", "make   'all'", true},
		{"sh(make 'all')", "make all", true},
		{"sh(make all)", "make all x", false},
		{"sh(go test -run 'A|B')", `go test -run "A|B"`, true},
		{"sh(make:*)", "make", true},
		{"sh(make:*)", "make all", true},
		{"sh(make:*)", "makefoo", false},
		{"sh(go test:*)", "go test ./...", true},
		{"sh(go test:*)", "go testx", false},
		{"sh(go test:*)", "timeout 60 go test ./...", true},
		{"sh(go test:*)", "CGO_ENABLED=0 go test ./...", true},
		{"sh(go test:*)", "LD_PRELOAD=./x.so go test ./...", false},
		{"sh(go test:*)", "go test -exec ./r.sh", false},
		{"sh(go test -exec ./r.sh)", "go test -exec ./r.sh", true},
		{"sh(go test:*)", "go test $PKG", false},
		{"sh(go test:*)", "go test ./... | tail -5", true},
		{"sh(go test:*)", "cd sub && go test ./...", true},
		{"sh(go test:*)", "cd sub && git status && go test ./...", false},
		{"sh(go test:*)", "go test ./... && make", false},
		{"sh(go test:*)", "go test ./... > out", false},
		{"sh(go test:*)", "'go test' x", false},
		{"sh(go test:*)", "./go test", false},
		{"sh(npm run *)", "npm run a/b c", true},
		{"sh(npm * x)", "npm run a b x", true},
		{"sh(npm * x)", "npm run", false},
		{"sh(*)", "for f in a; do make; done", false},
		{"sh(*)", "make all", true},
		{"sh", "for f in a; do make; done", true},
		{"sh", "git log &&& make", false},
		{"bash(make all)", "make all", false},
		{"s*(make all)", "make all", true},
	} {
		p := policy(t, guard.Parts{Rules: rules(t, []string{c.rule}, nil, nil)})
		d := p.Decide(env, call("sh", line(env, c.line)))
		if (d.Decision == guard.Allow) != c.match || c.match && (d.Stage != "allow" || d.Rule != c.rule) {
			t.Errorf("allow %s on %q: %+v, want a match: %v", c.rule, c.line, d, c.match)
		}
	}
}

// contract 29: content on a path or URL.
func TestPathRules(t *testing.T) {
	env := newEnv(t)
	url := func(s string) tools.Effects {
		return tools.Effects{Known: true, ReadOnly: true, Hosts: []string{"a.org"}, Subjects: []string{s}}
	}
	for _, c := range []struct {
		rule  string
		e     tools.Effects
		match bool
	}{
		{"x(src/a.go)", writes(env, "src/a.go"), true},
		{"x(src/a.go)", writes(env, "src/a.goo"), false},
		{"x(src/*)", writes(env, "src/a.go"), true},
		{"x(src/*)", writes(env, "src/sub/a.go"), false},
		{"x(src/**)", writes(env, "src/sub/a.go"), true},
		{"x(**/a.go)", writes(env, "src/sub/a.go"), true},
		{"x(src:*)", writes(env, "srcfoo/a.go"), true},
		{"x(src/*)", tools.Effects{Known: true, Writes: []string{env.Root + "/src/a", env.Root + "/b"}}, false},
		{"x(https://a.org/:*)", url("https://a.org/x/y"), true},
		{"x(https://a.org/*)", url("https://a.org/x/y"), false},
		{"x(src/**)", tools.Effects{Subjects: []string{"src/a"}}, false},
	} {
		p := policy(t, guard.Parts{Rules: rules(t, []string{c.rule}, nil, nil)})
		if d := p.Decide(env, call("x", c.e)); (d.Decision == guard.Allow) != c.match {
			t.Errorf("%s on %+v: %+v, want a match: %v", c.rule, c.e, d, c.match)
		}
	}
}

// contract 28, 30: a rule that denies or asks sees every command, with and without its wrappers.
func TestDenyRules(t *testing.T) {
	env := newEnv(t)
	for _, c := range []struct{ rule, line, decision string }{
		{"sh(rm -rf:*)", "ls && rm -rf x", "deny"},
		{"sh(rm -rf:*)", `r"m" -rf x`, "deny"},
		{"sh(rm -rf:*)", "f() { rm -rf x; }; f", "deny"},
		{"sh(rm -rf:*)", "bash -c 'rm -rf x'", "deny"},
		{"sh(rm -rf:*)", "find . -exec rm -rf {} +", "deny"},
		{"sh(rm -rf:*)", "echo x | xargs rm -rf", "deny"},
		{"sh(rm -rf:*)", "/bin/rm -rf x", "deny"},
		{"sh(rm -rf:*)", "rm $FLAGS x", "ask"},
		{"sh(rm -rf:*)", "$RM -rf x", "ask"},
		{"sh(rm -rf:*)", `eval "$x"`, "ask"},
		{"sh(rm -rf:*)", "sudo --weird rm -rf x", "ask"},
		{"sh(rm -rf:*)", "make &&& x", "ask"},
		{"sh(rm -rf:*)", "make $TARGET", "allow"},
		{"sh(sudo:*)", "timeout 5 /usr/bin/sudo ls", "deny"},
		{"sh(git push:*)", "git -C sub --no-pager push x", "deny"},
		{"sh(> out*)", "make > out.txt", "deny"},
		{"sh", "make", "deny"},
	} {
		p := policy(t, guard.Parts{Mode: guard.ModeAuto, Sandboxed: true, Rules: rules(t, []string{"sh"}, nil, []string{c.rule})})
		d := p.Decide(env, call("sh", line(env, c.line)))
		if d.Decision != c.decision || c.decision != guard.Allow && (d.Stage != "deny" || d.Rule != c.rule) {
			t.Errorf("deny %s on %q: %+v, want %s", c.rule, c.line, d, c.decision)
		}
	}
}

// An ant's git is read-only: colony commits. A rule of the user's may still say otherwise.
func TestGit(t *testing.T) {
	env := newEnv(t)
	for _, c := range []struct {
		line, allow, decision, rule string
	}{
		{"git commit -am x", "", "deny", "git"},
		{"make && git -C sub stash", "", "deny", "git"},
		{"git push origin x", "", "deny", "git"},
		{"git push origin x", "sh(git push:*)", "allow", "sh(git push:*)"},
		{"git log --oneline", "", "allow", "auto"},
		{"git -C /main branch evil", "sh", "deny", "path-jail"},
	} {
		p := policy(t, guard.Parts{Mode: guard.ModeAuto, Sandboxed: true})
		if c.allow != "" {
			p = policy(t, guard.Parts{Mode: guard.ModeAuto, Sandboxed: true, Rules: rules(t, []string{c.allow}, nil, nil)})
		}
		if d := p.Decide(env, call("sh", line(env, c.line))); d.Decision != c.decision || d.Rule != c.rule {
			t.Errorf("%q: %+v, want %s by %s", c.line, d, c.decision, c.rule)
		}
	}
	env.Cwd = func() string { return env.Root + "/sub" }
	if d := policy(t, guard.Parts{}).Decide(env, call("sh", line(env, "git status"))); d.Decision != guard.Ask {
		t.Errorf("git in a directory that may hold a repository of its own: %+v", d)
	}
}

func TestRuleErrors(t *testing.T) {
	have := []string{"sh", "read", "edit", "find"}
	for _, c := range []struct{ text, nearest string }{
		{"bash(make)", "sh"}, {"raed", "read"}, {"Read", "read"}, {"sh(", ""}, {"sh()", ""}, {"sh(x", ""}, {"(x)", ""},
		{"", ""}, {"sh (x)", ""}, {"sh(:*)", ""}, {"sh(a*b:*)", ""}, {"zebra", ""}, {"reаd", "read"}, {"q*", ""},
	} {
		_, err := guard.ParseRule(c.text, have)
		bad := new(guard.RuleError)
		if !errors.As(err, &bad) || bad.Rule != c.text || (c.nearest != "" && bad.Nearest != c.nearest) && c.text != "reаd" {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	for _, text := range []string{"sh", "sh(a(b))", "mcp__GitHub__createIssue", "mcp__github__*", "r*", "edit(src/**)"} {
		if r, err := guard.ParseRule(text, have); err != nil || r.Text != text {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	if _, err := guard.ParseRules([]string{"raed"}, nil, []string{"sh("}, have); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two faults at once: %v", err)
	}
}

// contract 28: whatever is allowed or asked elsewhere, and whatever the tier, a deny denies.
func TestDenyBeatsAll(t *testing.T) {
	env := newEnv(t)
	text := rapid.SampledFrom([]string{"sh", "sh(make:*)", "sh(make all)", "sh(make *)", "sh(ls:*)"})
	rapid.Check(t, func(rt *rapid.T) {
		tier := func(label string) guard.Rules {
			r, err := guard.ParseRules(rapid.SliceOf(text).Draw(rt, label+"allow"), rapid.SliceOf(text).Draw(rt, label+"ask"), nil, nil)
			if err != nil {
				rt.Fatal(err)
			}
			return r
		}
		deny, err := guard.ParseRules(nil, nil, []string{"sh(make:*)"}, nil)
		if err != nil {
			rt.Fatal(err)
		}
		all := tier("a").Unite(deny).Unite(tier("b"))
		mode := rapid.SampledFrom([]guard.Mode{guard.ModePlan, guard.ModeAsk, guard.ModeAutoEdit, guard.ModeAuto}).Draw(rt, "mode")
		p, err := guard.New(guard.Parts{Mode: mode, Sandboxed: true, Rules: all})
		if err != nil {
			rt.Fatal(err)
		}
		if d := p.Decide(env, call("sh", line(env, "ls; make all"))); d.Decision != guard.Deny || d.Rule != "sh(make:*)" {
			rt.Fatalf("%+v", d)
		}
	})
}

// FuzzRules: any text is a rule or a *RuleError, and matching never crashes; an exact rule matches itself.
func FuzzRules(f *testing.F) {
	for _, s := range []string{"sh(go test:*)", "edit(src/**)", "sh(a*b)", "x((", "sh(:*)"} {
		f.Add(s, "go test ./...")
	}
	env := &tools.Env{Root: "/nowhere/wt", Cwd: func() string { return "/nowhere/wt" }}
	f.Fuzz(func(t *testing.T, text, subject string) {
		r, err := guard.ParseRule(text, nil)
		if err != nil {
			if bad := new(guard.RuleError); !errors.As(err, &bad) {
				t.Fatalf("%T", err)
			}
			return
		}
		for _, rules := range []guard.Rules{{Allow: []guard.Rule{r}}, {Ask: []guard.Rule{r}}, {Deny: []guard.Rule{r}}} {
			p, err := guard.New(guard.Parts{Mode: guard.ModeAsk, Rules: rules})
			if err != nil {
				t.Fatal(err)
			}
			p.Decide(env, call(r.Tool, line(env, subject)))
			path := tools.Effects{Known: true, Hosts: []string{"a.org"}, Subjects: []string{r.Content}}
			d := p.Decide(env, call(r.Tool, path))
			if exact := !strings.Contains(text, "*"); exact && d.Rule != r.Text {
				t.Fatalf("%q does not match itself: %+v", text, d)
			}
		}
	})
}

// contract 30: a line that does not parse covers nothing, and a rule that denies exactly it still does.
func TestUnparsedLine(t *testing.T) {
	env := newEnv(t)
	text := "echo 'unclosed"
	for rule, want := range map[string]string{"sh(" + text + ")": guard.Deny, "sh(rm:*)": guard.Ask} {
		if d := policy(t, guard.Parts{Rules: rules(t, nil, nil, []string{rule})}).Decide(env, call("sh", line(env, text))); d.Decision != want || d.Rule != rule {
			t.Errorf("%s: %+v", rule, d)
		}
	}
	if d := policy(t, guard.Parts{Rules: rules(t, []string{"sh", "sh(echo:*)"}, nil, nil)}).Decide(env, call("sh", line(env, text))); d.Decision == guard.Allow {
		t.Errorf("it is covered: %+v", d)
	}
}
