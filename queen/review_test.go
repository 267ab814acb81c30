package queen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"colony/event"
	"colony/queen"
	"colony/tools"
)

func sentBack(text string) queen.Outcome {
	return queen.Outcome{Reason: queen.Done, Verdict: queen.SendBack, Findings: []event.Finding{{File: "f.go", Line: 3, Severity: 1, Text: text, Status: "open"}}}
}

// contract 80: the reviewer is told the task and the receipt and nothing of the author's; work that is sent back comes to
// the author with the findings, and to the same reviewer with the old ones.
func TestReview(t *testing.T) {
	w := newWorld()
	w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
		out := w.work(o)
		out.Detail, out.Gates = "I am proud", []event.GateReceipt{{Command: "test"}}
		return out, nil
	}
	w.judge = func(o queen.Order) queen.Outcome {
		if o.Attempt == 1 {
			return sentBack("nil is not handled")
		}
		return queen.Outcome{Reason: queen.Done, Verdict: queen.Approve}
	}
	one := task("a")
	one.Prompt, one.Review = "Do it.", true
	var words []string
	p := w.parts(tasks(one, task("b", "a")), "test")
	p.Reword = func(_ context.Context, commit, body string) (string, error) {
		words = append(words, body)
		return commit, nil
	}
	f := run(t, t.Context(), p)
	if statuses(f) != "a=landed b=landed" || f.Tasks[0].Attempts != 2 || !slices.Equal(f.Tasks[0].Ants, []string{"worker-1", "reviewer-1"}) {
		t.Errorf("%s %+v", statuses(f), f.Tasks[0])
	}
	if !slices.Equal(words, []string{"I am proud", "I am proud"}) {
		t.Errorf("messages of landings: %q", words)
	}
	review, again, second := w.orders[1], w.orders[2], w.orders[3]
	if review.Card != "reviewer" || review.Kind != "review" || review.Base != "a.1" || review.Review.From != base || review.Review.Round != 1 ||
		review.Review.Since != "" || len(review.Review.Receipt) != 1 || review.Prompt != "Do it." || len(review.Gates) > 0 {
		t.Errorf("%+v, %+v", review, review.Review)
	}
	if again.Ant != "worker-1" || again.Kind != "review" || again.Base != "a.1" || !strings.Contains(again.Told, "f.go:3 (severity 1) nil is not handled") {
		t.Errorf("%+v", again)
	}
	if r := second.Review; second.Ant != "reviewer-1" || second.Attempt != 2 || second.Base != "a.2" || r.Round != 2 || r.Since != "a.1" || len(r.Old) != 1 {
		t.Errorf("%+v, %+v", second, r)
	}
	for _, o := range w.orders {
		if o.Review != nil && strings.Contains(fmt.Sprintf("%+v %+v", o, *o.Review), "proud") {
			t.Errorf("the reviewer is told the author's account: %+v", o)
		}
	}
}

// What a review comes to: at most so many returns, a reviewer without a verdict, one that is not there, an author who
// sees nothing to change.
func TestHowAReviewEnds(t *testing.T) {
	never := func(queen.Order) queen.Outcome { return sentBack("no") }
	cases := []struct {
		name   string
		set    func(w *world, p *queen.Parts)
		want   string
		detail string
		orders int
	}{
		{"sent back too often", func(w *world, _ *queen.Parts) { w.judge = never }, "a=failed:review", "sent back by the reviewer in round 3: f.go:3 no", 6},
		{"no round", func(w *world, p *queen.Parts) { w.judge, p.Rounds = never, 0 }, "a=failed:review", "round 1", 2},
		{"no verdict", func(w *world, _ *queen.Parts) {
			w.judge = func(queen.Order) queen.Outcome {
				return queen.Outcome{Reason: queen.NoProgress, Detail: "it read nothing"}
			}
		}, "a=failed:review", "the reviewer gave no verdict: it read nothing", 2},
		{"its own cap", func(w *world, _ *queen.Parts) {
			w.judge = func(queen.Order) queen.Outcome { return queen.Outcome{Reason: queen.USD, Scope: "ant"} }
		}, "a=failed:review", "no verdict", 2},
		{"the run's cap", func(w *world, _ *queen.Parts) {
			w.judge = func(queen.Order) queen.Outcome {
				return queen.Outcome{Reason: queen.USD, Scope: "run", Detail: "spent"}
			}
		}, "a=failed:caps", "spent", 2},
		{"no card", func(_ *world, p *queen.Parts) { p.Reviewer = "" }, "a=failed:review", "there is no such card", 1},
		{"nothing to change", func(w *world, _ *queen.Parts) {
			w.judge = never
			w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
				if o.Kind == "review" {
					return queen.Outcome{Reason: queen.NoChange, Detail: "it is fine"}, nil
				}
				return w.work(o), nil
			}
		}, "a=failed:review", "it is fine", 3},
		{"a lost reviewer is hatched again", func(w *world, _ *queen.Parts) {
			w.judge = func(o queen.Order) queen.Outcome {
				if o.Attempt == 1 {
					return queen.Outcome{Reason: queen.Internal, Detail: "git"}
				}
				return queen.Outcome{Reason: queen.Done, Verdict: queen.Approve}
			}
		}, "a=landed", "", 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			p := w.parts(tasks(task("a")), "test")
			p.Review = true
			c.set(w, &p)
			f := run(t, t.Context(), p)
			if a := f.Tasks[0]; statuses(f) != c.want || !strings.Contains(a.Detail, c.detail) || len(w.orders) != c.orders || a.Status == "failed" && w.kept["refs/colony/r1/kept/a"] == "" {
				t.Errorf("%s, %q, %d orders, kept %v", statuses(f), a.Detail, len(w.orders), w.kept)
			}
		})
	}
}

func TestReviewTool(t *testing.T) {
	tool := queen.ReviewTool()
	for args, want := range map[string]string{
		`{"verdict":"approve"}`: "",
		`{"verdict":"approve","findings":[{"file":"a","line":1,"severity":2,"text":"x"}]}`:                   "",
		`{"verdict":"send_back","findings":[{"file":"a","line":1,"severity":1,"text":"x","confidence":90}]}`: "",
		`{"verdict":"send_back","findings":[{"file":"a","line":1,"severity":2,"text":"x"}]}`:                 "findings",
		`{"verdict":"send_back"}`: "findings",
		`{"verdict":"approve","findings":[{"file":"a","line":1,"severity":0,"text":"x"}]}`: "verdict",
	} {
		_, err := tool.Effects(&tools.Env{}, json.RawMessage(args))
		got := ""
		if wrong, ok := err.(*tools.ArgError); ok {
			got = wrong.Field
		}
		if got != want {
			t.Errorf("%s: %v", args, err)
		}
	}
	r, err := tool.Run(t.Context(), nil, nil)
	if err != nil || !r.Ends {
		t.Errorf("%+v, %v", r, err)
	}
}
