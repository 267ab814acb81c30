package guard_test

import (
	"os"
	"regexp"
	"testing"

	"colony/guard"
	"colony/tools"
)

// The examples of docs/permissions.md are true. contract 29, 30.
func TestDocumentedRules(t *testing.T) {
	page, err := os.ReadFile("../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\w+): `([^`]+)` \\| (\\w+): `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 13 {
		t.Fatalf("only %d rows were read", len(rows))
	}
	env := newEnv(t)
	effects := func(tool, about string) tools.Effects {
		switch tool {
		case "sh":
			return line(env, about)
		case "write", "edit":
			return writes(env, about)
		}
		return tools.Effects{Known: true, Subjects: []string{about}}
	}
	for _, r := range rows {
		p := policy(t, guard.Parts{Rules: rules(t, nil, nil, []string{r[1]})})
		if d := p.Decide(env, call(r[2], effects(r[2], r[3]))); d.Decision != guard.Deny || d.Rule != r[1] {
			t.Errorf("%s is not about %s %s: %+v", r[1], r[2], r[3], d)
		}
		if d := p.Decide(env, call(r[4], effects(r[4], r[5]))); d.Stage == "deny" {
			t.Errorf("%s is about %s %s: %+v", r[1], r[4], r[5], d)
		}
	}
}
