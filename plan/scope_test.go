package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"colony/plan"

	"pgregory.net/rapid"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		files, path string
		want        bool
	}{
		{"", "any/thing", true}, {"a.go", "a.go", true}, {"a.go", "b/a.go", false}, {"limiter/**", "limiter/x/y.go", true},
		{"limiter", "limiter/y.go", true}, {"limiter/", "limiter/y.go", true}, {"limiter", "limiter2/y.go", false},
		{"./a/*.go", "a/b.go", true}, {"a/*.go", "a/b/c.go", false}, {"**/x_test.go", "x_test.go", true},
		{"{a,b}/*.go", "b/c.go", true}, {"a b.go", "a b.go", true}, {"**", ".github/workflows/ci.yml", true},
	} {
		var one plan.Task
		if c.files != "" {
			one.Files = []string{c.files}
		}
		if one.Covers(c.path) != c.want || (c.files != "" && one.Names(c.path) != c.want) {
			t.Errorf("%q covers %q: want %v", c.files, c.path, c.want)
		}
	}
	if (plan.Task{}).Names("a") {
		t.Error("a task without files names one")
	}
}

func TestMeets(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a.go", "b.go", false}, {"a.go", "a.go", true}, {"a/**", "b/**", false}, {"a/**", "a/b.go", true}, {"a", "a/b.go", true},
		{"**/*.go", "a/b/c.go", true}, {"**/*.go", "a/b.md", false}, {"a.d/", "a.d/x.go", true}, {"*.go", "*.md", false}, {"a*.go", "*b.go", true},
		{"api_*.go", "db_*.go", false}, {"{a,b}/x", "c/x", true}, {"x/{a,b}", "c/x", false}, {"a/*/c", "a/b/d", false}, {"a/*", "a/b/c", false}, {"a/*", "a/b", true}, {".github", ".github/x.yml", true},
		{`a\*`, "b", true}, {"a/../b", "b/c", true}, {"**", "z", true}, {"a/[xy].go", "a/x.go", true}, {"a/[xy].go", "a/z.go", false},
	} {
		a, b := plan.Task{Files: []string{c.a}}, plan.Task{Files: []string{c.b}}
		if a.Meets(b) != c.want || b.Meets(a) != c.want {
			t.Errorf("%q meets %q: want %v", c.a, c.b, c.want)
		}
	}
	if (plan.Task{}).Meets(plan.Task{Files: []string{"**"}}) {
		t.Error("a task without files meets another")
	}
	if !(plan.Task{Locks: []string{"x", "e2e"}}).Meets(plan.Task{Locks: []string{"e2e"}}) || (plan.Task{Locks: []string{"x"}}).Meets(plan.Task{Locks: []string{"y"}}) {
		t.Error("locks")
	}
}

// Two patterns that cover one path always meet.
func TestWhatIsInBothMeets(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "ab", "*", "a*", "*b", "?", "**", "{a,b}", "[ab]", "a?", `\a`})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "ba"})
	pattern := func(rt *rapid.T, g *rapid.Generator[string]) string {
		return strings.Join(rapid.SliceOfN(g, 1, 3).Draw(rt, "parts"), "/")
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := plan.Task{Files: []string{pattern(rt, part)}}, plan.Task{Files: []string{pattern(rt, part)}}
		for range 8 {
			if p := pattern(rt, name); a.Covers(p) && b.Covers(p) && (!a.Meets(b) || !b.Meets(a)) {
				rt.Fatalf("%q and %q both cover %q and do not meet", a.Files, b.Files, p)
			}
		}
	})
}

func TestFilesLocksAndReviewAreRead(t *testing.T) {
	p, faults := plan.Parse("p.yaml", []byte("tasks:\n- {id: a, prompt: x, files: [a/**], locks: [e2e], review: true}\n"))
	if one := p.Tasks[0]; len(faults) > 0 || fmt.Sprint(one.Files, one.Locks, one.Review) != "[a/**] [e2e] true" {
		t.Errorf("%+v %v", one, faults)
	}
	_, faults = plan.Parse("p.yaml", []byte("tasks:\n- {id: a, prompt: x, files: [/etc, ../x, 'a[', ''], locks: ['']}\n"))
	if len(faults) != 5 {
		t.Errorf("%v", faults)
	}
}
