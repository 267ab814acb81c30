package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/plan"
	"colony/strict"
)

func TestParse(t *testing.T) {
	p, faults := plan.Parse("plan.yaml", []byte(`
goal: Add rate limiting
tasks:
  - id: limiter
    title: Token bucket
    prompt: |
      Write package limiter.
    card: worker
    gates: [go test ./limiter/..., {run: make lint, name: lint, dir: web/app, timeout: 90s}, true]
    caps: {usd: 0.50, turns: 40, wall: 10m}
  - id: wire
    prompt: Use it.
    needs: [limiter]
`))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	first, second := p.Tasks[0], p.Tasks[1]
	if p.Goal != "Add rate limiting" || first.Prompt != "Write package limiter.\n" || second.Title != "wire" || second.Needs[0] != "limiter" {
		t.Errorf("got %+v", p)
	}
	if *first.Caps.PicoUSD != 5e11 || *first.Caps.Turns != 40 || *first.Caps.Wall != 10*time.Minute || first.Caps.Tokens != nil {
		t.Errorf("got %+v", first.Caps)
	}
	g := first.Gates[1]
	if first.Gates[0].Title() != "go test ./limiter/..." || g.Title() != "lint" || g.Run != "make lint" || g.Dir != "web/app" || g.Timeout != 90*time.Second || first.Gates[2].Run != "true" {
		t.Errorf("got %+v", first.Gates)
	}
}

// contract 53
func TestAllFaultsComeAtOnce(t *testing.T) {
	_, faults := plan.Parse("plan.yaml", []byte(`gaol: x
why: because
tasks:
  - id: A
    prompt: p
    files: ["**"]
  - id: b
    prompt: "  "
    needs: [c, d, zzz, c]
    review: true
    locks: [e2e]
  - id: b
    prompt: p
    gates: [{run: x, dir: ../x}, {name: y}, {run: x, when: ["*"], env: [A], net: y}, "", {run: x, dir: /x, timeout: 0s}, {run: x, retry: 9}]
  - id: c
    prompt: p
    title: "a\nb"
    caps: {usd: 0, turn: 3, wall: 1}
    needs: [b]
  - title: t
    promt: x
`))
	want := []string{
		`1:1 unknown key "gaol": did you mean goal?`,
		`4:9 an id is`,
		`8:13 prompt is empty`,
		`9:16 unknown task "d": there are A, b, c`,
		`9:19 unknown task "zzz": there are A, b, c`,
		`9:24 c is here twice: keep one`,
		`12:9 task b is here twice: the first is on line 7`,
		`14:27 dir must be inside the repository and relative to it`,
		`14:34 a gate needs a command: write run`,
		`14:54 when is not built yet: delete this key`,
		`14:67 env is not built yet: delete this key`,
		`14:77 net is not built yet: delete this key`,
		`14:86 a gate needs a command: write run`,
		`14:117 timeout must be more than 0`,
		`14:138 retry is from 0 to 5`,
		`17:12 title must be one line`,
		`18:17 usd must be more than 0`,
		`18:20 unknown key "turn": did you mean turns?`,
		`18:35 want a time span such as 10m, got "1"`,
		`19:13 tasks need each other in a cycle: b needs c needs b: drop one of these needs`,
		`20:5 id is missing`,
		`20:5 prompt is missing`,
		`21:5 unknown key "promt": did you mean prompt?`,
	}
	for i := range max(len(want), len(faults)) {
		var got, expect string
		if i < len(faults) {
			got = fmt.Sprintf("%d:%d %s", faults[i].Line, faults[i].Column, faults[i].Text)
		}
		if i < len(want) {
			expect = want[i]
		}
		if expect == "" || !strings.HasPrefix(got, expect) {
			t.Errorf("fault %d is  %s\nwant      %s", i, got, expect)
		}
	}
}

func TestNoPlan(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "tasks is missing",
		"# nothing\n":        "tasks is missing",
		"goal: x\n":          "tasks is missing",
		"tasks: []\n":        "tasks is empty",
		"tasks: [\n":         "syntax: sequence end token ']' not found",
		"tasks: {id: a}\n":   "want a list, got a mapping",
		"tasks: [do it]\n":   `want a mapping, got "do it"`,
		"just do it, please": `want a mapping, got "just do it, please"`,
	} {
		_, faults := plan.Parse("plan.yaml", []byte(text))
		if len(faults) != 1 || faults[0].Text != want {
			t.Errorf("%q: got %v, want %s", text, faults, want)
		}
	}
}

func TestIDs(t *testing.T) {
	for id, ok := range map[string]bool{
		"t1": true, "a.b-c_d": true, "0": true, strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false, "A": false, "a/b": false, "..": false, "a..b": false, "a.lock": false, "a.": false,
		"-a": false, ".a": false, "a b": false, "ä": false, "a~1": false, "a@{0}": false, "@": false, "а": false,
	} {
		_, faults := plan.Parse("p", fmt.Appendf(nil, "tasks: [{id: %q, prompt: x}]", id))
		if (len(faults) == 0) != ok {
			t.Errorf("id %q: got %v, want ok %t", id, faults, ok)
		}
	}
}

func TestCheckNamesUnknownCards(t *testing.T) {
	p, _ := plan.Parse("p", []byte("tasks:\n- {id: a, prompt: x, card: wroker}\n- {id: b, prompt: x}\n- {id: c, prompt: x, card: painter}\n"))
	got := p.Check([]string{"scout", "worker"})
	if len(got) != 2 || got[0].Text != `unknown card "wroker": did you mean worker?` || got[0].Line != 2 || got[1].Text != `unknown card "painter": there are scout, worker` {
		t.Errorf("got %v", got)
	}
	if faults := (plan.Plan{Tasks: []plan.Task{{Card: "x"}}}).Check(nil); len(faults) != 1 {
		t.Errorf("got %v", faults)
	}
}

func TestGateJSON(t *testing.T) {
	var g plan.Gate
	if err := json.Unmarshal([]byte(`"make test"`), &g); err != nil || g.Run != "make test" {
		t.Errorf("got %+v %v", g, err)
	}
}

// write is the plan as YAML.
func write(needs [][]int) []byte {
	var b strings.Builder
	b.WriteString("tasks:\n")
	for i, list := range needs {
		ids := make([]string, len(list))
		for j, n := range list {
			ids[j] = fmt.Sprintf("t%d", n)
		}
		fmt.Fprintf(&b, "- {id: t%d, prompt: x, needs: [%s]}\n", i, strings.Join(ids, ", "))
	}
	return []byte(b.String())
}

// law 4: no task comes before what it needs
func TestOrderRespectsNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "tasks")
		place := rapid.Permutation(seq(n)).Draw(t, "place")
		needs := make([][]int, n)
		for i := range n {
			for j := range n {
				if place[j] < place[i] && rapid.Bool().Draw(t, "edge") {
					needs[i] = append(needs[i], j)
				}
			}
		}
		p, faults := plan.Parse("p", write(needs))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		order := p.Order()
		if len(order) != n {
			t.Fatalf("%d of %d tasks in order", len(order), n)
		}
		for i := range needs {
			for _, j := range needs[i] {
				if slices.Index(order, fmt.Sprintf("t%d", j)) > slices.Index(order, fmt.Sprintf("t%d", i)) {
					t.Fatalf("t%d stands before its need t%d in %v", i, j, order)
				}
			}
		}
	})
}

func TestCyclesAreAlwaysNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "tasks")
		needs := make([][]int, n)
		for i := range n {
			needs[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 3, rapid.ID).Draw(t, "needs")
		}
		_, faults := plan.Parse("p", write(needs))
		if cyclic(needs) != (len(faults) > 0) {
			t.Fatalf("needs %v: got %v", needs, faults)
		}
		for _, f := range faults {
			ring := rings(t, f)
			for i := range ring[1:] {
				if !slices.Contains(needs[ring[i]], ring[i+1]) {
					t.Fatalf("needs %v: %s names a need that is none", needs, f.Text)
				}
			}
		}
	})
}

// rings reads the tasks out of a fault that names a cycle.
func rings(t *rapid.T, f strict.Fault) []int {
	text, ok := strings.CutPrefix(f.Text, "tasks need each other in a cycle: ")
	text, _, tail := strings.Cut(text, ":")
	if !ok || !tail {
		t.Fatalf("fault %s", f.Text)
	}
	var ring []int
	for _, name := range strings.Split(text, " needs ") {
		var n int
		if _, err := fmt.Sscanf(name, "t%d", &n); err != nil {
			t.Fatalf("fault %s: %v", f.Text, err)
		}
		ring = append(ring, n)
	}
	if len(ring) < 2 || ring[0] != ring[len(ring)-1] {
		t.Fatalf("no ring: %s", f.Text)
	}
	return ring
}

// cyclic takes away tasks without open needs until nothing changes.
func cyclic(needs [][]int) bool {
	gone := map[int]bool{}
	for changed := true; changed; {
		changed = false
		for i := range needs {
			if !gone[i] && !slices.ContainsFunc(needs[i], func(j int) bool { return !gone[j] }) {
				gone[i], changed = true, true
			}
		}
	}
	return len(gone) < len(needs)
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// FuzzParse holds that no input panics, and that a plan without faults is ordered whole.
func FuzzParse(f *testing.F) {
	f.Add([]byte("tasks: [{id: a, prompt: x, needs: [a]}]"))
	f.Add([]byte("goal: x\ntasks:\n- id: a\n  prompt: |\n    x\n  gates: [{run: a, dir: b}]\n  caps: {usd: 1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, faults := plan.Parse("p", data)
		if len(faults) > 0 {
			return
		}
		if order := p.Order(); len(order) != len(p.Tasks) || len(order) == 0 {
			t.Errorf("%d of %d tasks in order", len(order), len(p.Tasks))
		}
		p.Check([]string{"worker"})
	})
}
