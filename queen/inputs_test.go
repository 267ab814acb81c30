package queen_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"colony/event"
	"colony/plan"
	"colony/queen"
	"colony/repo"
)

// changing is a world in which the work of a changes one file.
type changing struct {
	*world
	file string
}

func (c changing) Stage(ctx context.Context, onto, commit string) (repo.Candidate, *repo.Conflict, error) {
	made, conflict, err := c.world.Stage(ctx, onto, commit)
	made.Files = []string{c.file}
	return made, conflict, err
}

const goTest = "package x\n\nfunc TestA(t *testing.T) {\n\tt.Log(1)\n}\n\nfunc TestB(t *testing.T) {\n\tt.Log(1)\n}\n"

// contract 72: what alters what a gate runs, or deletes, skips or empties tests, is listed and needs a reviewer.
func TestGateInputs(t *testing.T) {
	const gone = "\x00"
	cases := []struct {
		file, before, after string
		want                bool
	}{
		{"check.sh", "a", "b", true}, {"scripts/lint", "a", "b", true}, {"data.txt", "a", "b", false}, {"other.sh", "a", "b", false},
		{"sub/run.py", gone, "b", true}, {"Makefile", "a", "b", true}, {"sub/Makefile", "a", gone, true}, {"rules.mk", "a", "b", true},
		{".github/workflows/ci.yml", gone, "x", true}, {".golangci.yml", "a", "b", true}, {"web/.eslintrc.json", "a", "b", true},
		{"tsconfig.base.json", "a", "b", true}, {"pyproject.toml", "a", "b", true}, {".colony/config.yaml", gone, "b", true},
		{"package.json", `{"scripts":{"test":"jest"},"version":"1"}`, `{"scripts":{"test":"jest"},"version":"2"}`, false},
		{"package.json", `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"true"}}`, true}, {"package.json", `{"version":"1"}`, gone, false},
		{"package.json", gone, `{"scripts":{"test":"true"}}`, true}, {"package.json", `{"version":"1"}`, `{`, true},
		{"go.mod", "module x\n\ngo 1.26\n", "module x\n\ngo 1.26\n\nrequire y v1\n", false}, {"go.mod", "module x\n\ngo 1.26\n", "module x\n\ngo 1.25\n", true},
		{"go.mod", "module x\n\ngo 1.26\n", "module x\n\ngo 1.26\n\ntoolchain go1.27\n", true}, {"go.mod", gone, "module x\n\ngo 1.26\n", false},
		{"x_test.go", goTest, gone, true}, {"x_test.go", gone, goTest, false}, {"x_test.go", goTest, goTest + "\nfunc TestC(t *testing.T) {}\n", false},
		{"x_test.go", goTest, strings.Replace(goTest, "t.Log(1)", "t.Skip()", 1), true}, {"x_test.go", goTest, strings.Replace(goTest, "func TestB", "func testB", 1), true},
		{"x_test.go", goTest, "//go:build never\n" + goTest, true}, {"x_test.go", goTest, "package x\n", true}, {"x.go", goTest, "package x\n", false},
		{"test_a.py", "def test_a():\n    assert f(1)\n", "@pytest.mark.skip\ndef test_a():\n    assert f(1)\n", true},
		{"a.spec.ts", "it('a', () => {})\n", "it.skip('a', () => {})\n", true}, {"tests/data.json", "1\n2\n3\n4\n5\n", "1\n", true},
		{"src/lib.rs", "#[test]\nfn a() {}\n", "", false}, {"AppTest.java", "@Test\nvoid a() {}\n", "@Disabled @Test\nvoid a() {}\n", true},
	}
	for _, c := range cases {
		w := newWorld()
		w.files = map[string]string{}
		if c.before != gone {
			w.files[base+" "+c.file] = c.before
		}
		p := w.parts(tasks(task("a")))
		p.Gates = []plan.Gate{{Run: "bash ./check.sh && test -f data.txt; (scripts/lint --all)"}, {Run: "python run.py", Dir: "sub"}}
		p.Repo, p.Reviewer = changing{w, c.file}, ""
		p.File = func(_ context.Context, commit, path string) ([]byte, bool, error) {
			text := c.after
			if commit == base {
				text = c.before
			}
			if path != c.file || text == gone {
				return nil, false, nil
			}
			return []byte(text), true, nil
		}
		if f := run(t, t.Context(), p); (statuses(f) == "a=failed:review") != c.want || c.want && !strings.Contains(f.Tasks[0].Detail, c.file) {
			t.Errorf("%s from %q to %q: %s %s", c.file, c.before, c.after, statuses(f), f.Tasks[0].Detail)
		}

		p.Log, w.log = event.NewMemory("r1", p.Now), nil
		w.branch, w.moves = base, nil
		one := task("a")
		one.Card, one.Files = "worker", []string{c.file}
		p.Planner = queen.Planned(tasks(one), nil)
		if f := run(t, t.Context(), p); statuses(f) != "a=landed" {
			t.Errorf("%s is in the task's files: %s", c.file, statuses(f))
		}
		for e := range p.Log.Read(t.Context(), 0) {
			if d, ok := e.Body.(event.LandingDone); ok && slices.Contains(d.GateInputsChanged, c.file) != c.want {
				t.Errorf("%s: listed are %v", c.file, d.GateInputsChanged)
			}
		}
	}
}

// Files and locks that two tasks share keep them apart; a third goes on beside them.
func TestScopesKeepTasksApart(t *testing.T) {
	w := newWorld()
	beside := make(chan string, 3)
	w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
		beside <- o.Task
		if o.Task == "a" {
			for len(beside) < 2 { // c came, b did not
				w.types(t)
			}
		}
		return w.work(o), nil
	}
	a, b, c := task("a"), task("b"), task("c")
	a.Files, b.Files, c.Locks = []string{"x/**"}, []string{"x/y.go"}, []string{"port"}
	if f := run(t, t.Context(), w.parts(tasks(a, b, c), "test")); f.Exit != 0 {
		t.Errorf("%s", statuses(f))
	}
	if first, second := <-beside, <-beside; first == "b" || second == "b" {
		t.Errorf("%s and %s began", first, second)
	}
	for _, o := range w.orders {
		if o.Task == "b" && (o.Base == base || !slices.Equal(o.Files, b.Files)) {
			t.Errorf("%+v", o)
		}
	}
}

// The resolver comes after the author's returns are used up, once, knows both tasks, and is no one's ant before.
func TestTheResolverComesLast(t *testing.T) {
	w := newWorld()
	w.conflict["b"] = 3
	a, b := task("a"), task("b", "a")
	a.Prompt, b.Prompt = "Do a.", "Do b."
	f := run(t, t.Context(), w.parts(tasks(a, b), "test"))
	if statuses(f) != "a=landed b=landed" || f.Tasks[1].Attempts != 4 || !slices.Equal(f.Tasks[1].Ants, []string{"worker-2", "resolver-1"}) {
		t.Errorf("%s %+v", statuses(f), f.Tasks[1])
	}
	o := w.orders[len(w.orders)-1]
	if o.Card != "resolver" || o.Attempt != 1 || o.Told != "" || !strings.Contains(o.Prompt, "- shared") || !strings.Contains(o.Prompt, "Do b.") || !strings.HasSuffix(o.Base, "b.3") {
		t.Errorf("%+v", o)
	}

	w = newWorld()
	w.conflict["b"] = 4
	f = run(t, t.Context(), w.parts(tasks(a, b), "test"))
	if statuses(f) != "a=landed b=failed:conflict" || f.Tasks[1].Detail != "it does not join what landed in shared" || w.kept["refs/colony/r1/kept/b"] == "" {
		t.Errorf("%s %+v", statuses(f), f.Tasks[1])
	}
}

// An attempt that colony lost is made again, so often, by the same ant on the same base; what an ant lost is not.
func TestLostAttempts(t *testing.T) {
	for lost, want := range map[int]string{1: "a=landed", 2: "a=failed:internal"} {
		w := newWorld()
		w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
			if o.Attempt <= lost && o.Attempt == 1 {
				panic("a bug")
			}
			if o.Attempt <= lost {
				return queen.Outcome{Reason: queen.Internal, Detail: "no worktree"}, nil
			}
			return w.work(o), nil
		}
		f := run(t, t.Context(), w.parts(tasks(task("a")), "test"))
		if statuses(f) != want || len(w.orders) != 2 || w.orders[1].Ant != "worker-1" || w.orders[1].Base != base || w.orders[1].Kind != "nudge" {
			t.Errorf("%d lost: %s, %+v", lost, statuses(f), w.orders)
		}
		if !strings.Contains(w.types(t), "warned") {
			t.Error("nobody was told")
		}
	}
}
