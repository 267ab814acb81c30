package plan_test

import (
	"strings"
	"testing"

	"colony/plan"

	"pgregory.net/rapid"
)

const commented = `# The whole of it.

# Why we do this.
goal: Add rate limiting # short
# Tasks, in order.
tasks:
  # First the bucket.
  - id: limiter # stays
    # What it is.
    title: Token bucket
    prompt: |
      Write package limiter.
      # not a comment
    # Only there.
    files: [limiter/**]
    gates:
      - go test ./limiter/... # quick
      - go vet ./limiter/...

  # Then its use.
  - {id: wire, title: Use it, prompt: Use it., needs: [limiter]} # one line
  # Later.
  - id: docs
    prompt: Write it down.
    needs: [wire]
# The end.
`

// What a person wrote about a task stays with it, whatever of the task changes.
func TestUpdateKeepsComments(t *testing.T) {
	p, faults := plan.Parse("p", []byte(commented))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := string(plan.Update([]byte(commented), p)); got != commented {
		t.Errorf("the same plan became\n%s", got)
	}
	p.Tasks[0].Title, p.Tasks[0].Card = "Leaky bucket", "coder"
	p.Tasks[0].Gates = p.Tasks[0].Gates[:1]
	p.Tasks[1].Locks = []string{"db"}
	p.Tasks[2] = plan.Task{ID: "bench", Title: "bench", Prompt: "Measure it.", Needs: []string{"wire"}}
	const want = `# The whole of it.

# Why we do this.
goal: Add rate limiting # short
# Tasks, in order.
tasks:
  # First the bucket.
  - id: limiter # stays
    # What it is.
    title: Leaky bucket
    prompt: |
      Write package limiter.
      # not a comment
    # Only there.
    files: [limiter/**]
    # quick
    gates:
      - go test ./limiter/...
    card: coder

  # Then its use.
  # one line
  - id: wire
    title: Use it
    prompt: Use it.
    needs: [limiter]
    locks: [db]
  - id: bench
    prompt: Measure it.
    needs: [wire]
# The end.
`
	if got := string(plan.Update([]byte(commented), p)); got != want {
		t.Errorf("got\n%s", got)
	}
}

// A file whose lines are no block keeps its comments, on top.
func TestUpdateOfAFileInOneLine(t *testing.T) {
	data := []byte("# mine\n{goal: g, tasks: [{id: a, prompt: p}]} # yours\n")
	p, _ := plan.Parse("p", data)
	p.Goal = "other"
	got := string(plan.Update(data, p))
	if !strings.HasPrefix(got, "# mine\n# yours\ngoal: other\n") {
		t.Error(got)
	}
}

// Whatever changes, the file reads back to the new plan, and the comments before tasks that stay are there once.
func TestAnUpdatedPlanReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := anyPlan(t)
		var b strings.Builder
		for line := range strings.Lines(string(plan.Write(old))) {
			if id, ok := strings.CutPrefix(line, "  - id: "); ok {
				b.WriteString("  # before " + id)
			}
			b.WriteString(line)
		}
		p := plan.Plan{Goal: old.Goal, Why: old.Why}
		if rapid.Bool().Draw(t, "new goal") {
			p.Goal = texts(true).Draw(t, "goal")
		}
		var before []string
		for _, task := range old.Tasks {
			switch rapid.SampledFrom([]string{"stays", "changes", "goes"}).Draw(t, "fate") {
			case "changes":
				changed := anyTask(t, task.ID)
				task.Title, task.Gates, task.Caps, task.Files = changed.Title, changed.Gates, changed.Caps, changed.Files
			case "goes":
				continue
			}
			task.Needs = before
			before = []string{task.ID}
			p.Tasks = append(p.Tasks, task)
		}
		p.Tasks = append(p.Tasks, anyTask(t, "new"))
		out := plan.Update([]byte(b.String()), p)
		back, faults := plan.Parse("p", out)
		if len(faults) > 0 || asJSON(t, back) != asJSON(t, p) {
			t.Fatalf("%v\nfrom %s\nto %s\ngot\n%s", faults, b.String(), plan.Write(p), out)
		}
		for _, task := range p.Tasks[:len(p.Tasks)-1] {
			if n := strings.Count(string(out), "# before "+task.ID+"\n"); n != 1 {
				t.Fatalf("the comment of %s is there %d times\n%s", task.ID, n, out)
			}
		}
	})
}
