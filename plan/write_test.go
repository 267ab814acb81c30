package plan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/plan"
)

// texts are what people and models write, and what YAML could read as something else.
func texts(lines bool) *rapid.Generator[string] {
	alphabet := []rune("abzAZ09 -_./:#'\"\\&*!|>%@`{}[],?~=<ä→𝄞")
	if lines {
		alphabet = append(alphabet, '\n', '\n', ' ')
	}
	return rapid.OneOf(rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 30, -1),
		rapid.SampledFrom([]string{"true", "null", "~", "1", "1.5", "0x1f", "2026-01-01", "- a", "a: b", "a #b", "? x", "none", "Yes", "<<", "go test ./...", "|"}))
}

func filled(lines bool) *rapid.Generator[string] {
	return texts(lines).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
}

func caps(t *rapid.T) plan.Caps {
	var c plan.Caps
	for i, into := range []**int64{&c.PicoUSD, &c.Tokens, &c.Turns, &c.Calls} {
		if rapid.Bool().Draw(t, "cap") {
			n := rapid.Int64Range(1, []int64{9e18, 1e15, 1e15, 1e15}[i]).Draw(t, "n")
			*into = &n
		}
	}
	if rapid.Bool().Draw(t, "wall") {
		d := time.Duration(rapid.Int64Range(1, 1e15).Draw(t, "span"))
		if rapid.Bool().Draw(t, "round") {
			d = d.Truncate(time.Minute) + time.Minute
		}
		c.Wall = &d
	}
	return c
}

func gates() *rapid.Generator[plan.Gate] {
	return rapid.Custom(func(t *rapid.T) plan.Gate {
		return plan.Gate{Run: filled(true).Draw(t, "run"), Name: texts(false).Draw(t, "name"),
			Dir: rapid.SampledFrom([]string{"", "web", "a b/c", "#x"}).Draw(t, "dir"), Timeout: time.Duration(rapid.Int64Range(0, 1e14).Draw(t, "timeout"))}
	})
}

func anyTask(t *rapid.T, id string) plan.Task {
	return plan.Task{ID: id, Title: filled(false).Draw(t, "title"), Prompt: filled(true).Draw(t, "prompt"), Card: texts(false).Draw(t, "card"),
		Locks: rapid.SliceOfN(filled(false), 0, 2).Draw(t, "locks"), Gates: rapid.SliceOfN(gates(), 0, 2).Draw(t, "gates"),
		Files: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a/**", "*.go", "x y", "[a-z].txt", "{a,b}.go", "# .md"}), 0, 3, rapid.ID).Draw(t, "files"),
		Caps:  caps(t), Review: rapid.Bool().Draw(t, "review")}
}

func anyPlan(t *rapid.T) plan.Plan {
	p := plan.Plan{Goal: texts(true).Draw(t, "goal"), Why: texts(true).Draw(t, "why")}
	for i := range rapid.IntRange(1, 5).Draw(t, "tasks") {
		one := anyTask(t, "t"+string(rune('a'+i)))
		if i > 0 {
			one.Needs = []string{"t" + string(rune('a'+i-1))}
		}
		p.Tasks = append(p.Tasks, one)
	}
	return p
}

// What was written reads back to the same plan.
func TestAWrittenPlanReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlan(t)
		text := plan.Write(p)
		got, faults := plan.Parse("p", text)
		if len(faults) > 0 {
			t.Fatalf("%v\n%s", faults, text)
		}
		if want, have := asJSON(t, p), asJSON(t, got); want != have {
			t.Fatalf("wrote %s\nread  %s\n%s", want, have, text)
		}
	})
}

// asJSON is the plan without the difference between an empty list and none.
func asJSON(t *rapid.T, p plan.Plan) string {
	data, err := json.Marshal(struct {
		Goal, Why string
		Tasks     []plan.Task
	}{p.Goal, p.Why, p.Tasks})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), ":[]", ":null")
}

func TestWrite(t *testing.T) {
	usd, wall := int64(5e11), 10*time.Minute
	got := string(plan.Write(plan.Plan{Goal: "Add it", Why: "two places", Tasks: []plan.Task{
		{ID: "a", Title: "a", Prompt: "Write it.\n\nAnd test it.\n", Files: []string{"a/**"}, Gates: []plan.Gate{{Run: "go test ./..."}, {Run: "make", Dir: "web"}}, Caps: plan.Caps{PicoUSD: &usd, Wall: &wall}},
		{ID: "b", Title: "Use it: now", Prompt: "Use it.", Needs: []string{"a"}, Locks: []string{"db"}, Review: true},
	}}))
	want := `goal: Add it
why: two places
tasks:
  - id: a
    prompt: |
      Write it.

      And test it.
    files: ["a/**"]
    gates:
      - go test ./...
      - {run: make, dir: web}
    caps: {usd: 0.5, wall: 10m}
  - id: b
    title: "Use it: now"
    prompt: "Use it."
    needs: [a]
    locks: [db]
    review: true
`
	want = strings.Replace(want, `"Use it."`, "Use it.", 1)
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestOne(t *testing.T) {
	long := strings.Repeat("wört ", 40)
	for goal, title := range map[string]string{"Fix it": "Fix it", "  Fix it \nnow": "Fix it", long: strings.TrimSpace(string([]rune(long)[:71])) + "…"} {
		p := plan.One(goal)
		if len(p.Tasks) != 1 || p.Tasks[0].Title != title || p.Tasks[0].Prompt != goal || p.Goal != goal {
			t.Errorf("got %+v", p)
		}
	}
}

func TestDraw(t *testing.T) {
	p, faults := plan.Parse("p", []byte(`
tasks:
  - {id: join, title: 'Join "both" <b>', prompt: x, needs: [a, b], review: true}
  - {id: a, prompt: x, files: [a/**]}
  - {id: b, title: Write b, prompt: x, card: worker, locks: [db]}
  - {id: c, prompt: x, needs: [a]}
`))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	tree := `├─ a (files a/**)
│  └─ c (needs a)
└─ b: Write b (worker; locks db)
   └─ join: Join "both" <b> (needs a, b; reviewed)
`
	if got := p.Tree(); got != tree {
		t.Errorf("got\n%s", got)
	}
	mermaid := `flowchart TD
  t0["join: Join #quot;both#quot; #lt;b#gt;"]
  t1["a"]
  t2["b: Write b"]
  t3["c"]
  t1 --> t0
  t2 --> t0
  t1 --> t3
`
	if got := p.Mermaid(); got != mermaid {
		t.Errorf("got\n%s", got)
	}
}
