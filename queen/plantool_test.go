package queen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"colony/plan"
	"colony/queen"
	"colony/strict"
	"colony/tools"
	"colony/tools/toolstest"
)

func TestPlanTool(t *testing.T) {
	toolstest.Run(t, toolstest.Suite{
		Tool: queen.PlanTool(queen.PlanOf),
		Good: []string{`{"tasks":[{"id":"a","prompt":"Do it."}]}`},
		Bad:  []string{`{}`, `{"tasks":[],"task":1}`, `{"tasks":[{"id":1}]}`},
	})
}

// called is what a call of plan comes to, through a registry as an ant's goes, and the plan that was read.
func called(t *testing.T, args string) (r tools.Result, got plan.Plan) {
	t.Helper()
	registry := tools.NewRegistry(&strings.Builder{})
	if err := registry.Register(tools.BuiltIn, queen.PlanTool(func(args json.RawMessage) (plan.Plan, strict.Faults) {
		p, faults := queen.PlanOf(args)
		got = p
		return p, faults
	})); err != nil {
		t.Fatal(err)
	}
	p := registry.Prepare(tools.Call{ID: "1", Name: "plan", Args: json.RawMessage(args)})
	if p.Refused != nil {
		t.Fatal(p.Refused.Text)
	}
	r, err := p.Tool.Run(context.Background(), toolstest.NewEnv(t), p.Call.Args)
	if err != nil {
		t.Fatal(err)
	}
	return r, got
}

func TestAPlanIsReadWhole(t *testing.T) {
	r, p := called(t, `{"goal":"G","why":"w","tasks":[{"id":"a","title":"A: <b> \"q\" \ud834\udd1e","prompt":"one\ntwo # three\n","files":["a/**"],"gates":["go test ./...",{"run":"make","dir":"web","timeout":"90s"}],"caps":{"usd":0.5,"turns":40,"wall":"10m"},"locks":["db"],"review":true},{"id":"b","prompt":"y","needs":"a"}]}`)
	if r.Fault != "" || !r.Ends {
		t.Fatalf("got %+v", r)
	}
	a, b := p.Tasks[0], p.Tasks[1]
	if p.Goal != "G" || p.Why != "w" || a.Title != "A: <b> \"q\" 𝄞" || a.Prompt != "one\ntwo # three\n" || a.Files[0] != "a/**" || a.Gates[1].Dir != "web" || *a.Caps.PicoUSD != 5e11 || !a.Review || b.Needs[0] != "a" {
		t.Errorf("got %+v", p)
	}
}

func TestAllFaultsOfAPlanComeAtOnce(t *testing.T) {
	r, _ := called(t, `{"tasks":[{"id":"A","prompt":"x"},{"id":"b","promt":"x","needs":["c","zz"]},{"id":"c","prompt":"x","needs":["b"],"gates":[{"dir":"../x"}],"files":["[a"]},{"id":"c","prompt":"\u001b[2J"}]}`)
	if r.Fault != tools.Validation || r.Ends {
		t.Fatalf("got %+v", r)
	}
	if !strings.Contains(r.Text, "U+001B") {
		t.Errorf("a character that is no text is not named: %s", r.Text)
	}
	r, _ = called(t, `{"tasks":[{"id":"A","prompt":"x"},{"id":"b","promt":"x","needs":["c","zz"]},{"id":"c","prompt":"x","needs":["b"],"gates":[{"dir":"../x"}],"files":["[a"]},{"id":"c","prompt":"y"}]}`)
	for _, want := range []string{"Faults: 9.", "an id is", "prompt is missing", `unknown key "promt": did you mean prompt?`, `unknown task "zz"`, "cycle: b needs c needs b", "a gate needs a command", "task c is here twice"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is missing in\n%s", want, r.Text)
		}
	}
	if strings.Contains(r.Text, "\x1b") {
		t.Error("an escape is in the text")
	}
}

func TestManyTasksNeedAReason(t *testing.T) {
	many := func(n int, why string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"t%d","prompt":"x"}`, i))
		}
		return `{"why":"` + why + `","tasks":[` + strings.Join(all, ",") + `]}`
	}
	for _, c := range []struct {
		n   int
		why string
		ok  bool
	}{{8, "", true}, {9, "", false}, {9, "  ", false}, {9, "nine packages", true}} {
		r, _ := called(t, many(c.n, c.why))
		if (r.Fault == "") != c.ok {
			t.Errorf("%d tasks because %q: %s", c.n, c.why, r.Text)
		}
	}
}

// FuzzPlanOf holds that no arguments panic, and that what a plan call reads is what its YAML reads back to.
func FuzzPlanOf(f *testing.F) {
	f.Add([]byte(`{"tasks":[{"id":"a","prompt":"x\u2028\u0085"}]}`))
	f.Add([]byte(`{"tasks":[{"id":"a","prompt":"- a: |\n  b"}],"goal":"0x1"}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		p, faults := queen.PlanOf(args)
		if len(faults) > 0 {
			return
		}
		again, faults := plan.Parse("p", plan.Write(p))
		if len(faults) > 0 || !slices.Equal(again.Order(), p.Order()) {
			t.Errorf("%v in\n%s", faults, plan.Write(p))
		}
	})
}
