package ant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"colony/ant"
	"colony/event"
	"colony/model"
	"colony/tools"
)

// bulk answers with as many bytes as it is asked for.
type bulk struct{ echo }

func (bulk) Spec() tools.Spec {
	return tools.Spec{Name: "bulk", Description: "Say much.", Params: json.RawMessage(`{"type":"object","properties":{"bytes":{"type":"integer"}}}`)}
}

func (bulk) Run(_ context.Context, _ *tools.Env, args json.RawMessage) (tools.Result, error) {
	var a struct{ Bytes int }
	if err := json.Unmarshal(args, &a); err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Text: strings.Repeat("0123456789", a.Bytes/10)}, nil
}

func bulks(turn, n, bytes int) model.Message {
	m := model.Message{Role: model.Assistant}
	for i := range n {
		m.Calls = append(m.Calls, tools.Call{ID: fmt.Sprintf("c%d.%d", turn, i), Name: "bulk", Args: fmt.Appendf(nil, `{"bytes":%d}`, bytes)})
	}
	return m
}

// narrow is a nest whose model takes so many tokens, and whose summaries say what summing says.
func narrow(t *testing.T, window int, summing string, replies ...model.Message) (*nest, *[]model.Request) {
	t.Helper()
	n := hatched(t, replies...)
	if err := n.env.Tools.Register("built-in", bulk{}); err != nil {
		t.Fatal(err)
	}
	asked := &[]model.Request{}
	w := ant.Window{Tokens: func() int { return window }, Learn: func(n int) { window = n }, Summing: []model.Request{{Model: "small"}}}
	w.Sum = func(int) model.Provider {
		return providerFunc(func(req model.Request) (model.Reply, error) {
			*asked = append(*asked, req)
			if summing == "" {
				return model.Reply{}, &model.Error{Kind: model.NoModel, Text: "no such model"}
			}
			message := model.Message{Role: model.Assistant, Text: summing}
			content, err := json.Marshal(message)
			if err != nil {
				return model.Reply{}, err
			}
			_, err = n.log.Append(t.Context(), event.Event{Run: "r", Ant: "a", Body: event.ModelReplied{Request: req.ID, Outcome: "ok", Content: content}})
			return model.Reply{Message: message}, err
		})
	}
	var err error
	n.ant, err = ant.New(ant.Parts{
		Run: "r", Task: "t", Ant: "a", System: ant.System("worker", "Work.", nil), Model: n.model, Name: "m", OutputLimit: 1000,
		Env: n.env, Log: n.log, Width: 4, Nudges: 1, Layers: []tools.Layer{tools.Refused()}, Calls: func(int) error { return nil },
		Foresee: func(context.Context, *tools.Env, []tools.Prepared) error { return nil }, Window: w,
		Low: func() (string, error) { return "", nil }, Memory: ant.NewMemory("/w"), Heard: func(context.Context) []event.AntTold { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, asked
}

type providerFunc func(model.Request) (model.Reply, error)

func (f providerFunc) Complete(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
	return f(req)
}

func (n *nest) compactions(t *testing.T) (all []event.AntCompacted) {
	t.Helper()
	for e, err := range n.log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := e.Body.(event.AntCompacted); ok {
			all = append(all, c)
		}
	}
	return all
}

func end(id string) model.Message { return call(id, `{"ends":true,"text":"bye"}`) }

// No request is larger than the window, by the estimate of three bytes a token; and what is rebuilt from any prefix of
// the log is what was held then.
func TestNoRequestIsLargerThanTheWindow(t *testing.T) {
	cases := map[string]struct {
		window  int
		summary string
		replies []model.Message
		wants   func(all []event.AntCompacted) bool
	}{
		"a batch of large results": {128_000, "", []model.Message{bulks(0, 10, 200_000), end("x")}, func(all []event.AntCompacted) bool {
			return len(all) == 1 && all[0].Last > 0 && all[0].Summary == ""
		}},
		"one huge result": {32_000, "", []model.Message{bulks(0, 1, 3_000_000), end("x")}, func(all []event.AntCompacted) bool {
			return len(all) == 1 && all[0].Last > 0
		}},
		"old results": {32_000, "", []model.Message{bulks(0, 1, 40_000), bulks(1, 1, 40_000), bulks(2, 1, 40_000), end("x")}, func(all []event.AntCompacted) bool {
			return len(all) > 0 && !slices.ContainsFunc(all, func(c event.AntCompacted) bool { return c.Summary != "" || c.Last > 0 })
		}},
		"much said": {32_000, "Half is done; a.go:3 is next.", chatter(60), func(all []event.AntCompacted) bool {
			return slices.ContainsFunc(all, func(c event.AntCompacted) bool { return c.Summary == "Half is done; a.go:3 is next." })
		}},
		"much said, and nobody who sums up": {32_000, "", chatter(60), func(all []event.AntCompacted) bool {
			return slices.ContainsFunc(all, func(c event.AntCompacted) bool { return strings.Contains(c.Summary, "No summary could be made") })
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n, asked := narrow(t, c.window, c.summary, c.replies...)
			if ending := n.live(t); ending.Reason != ant.Done {
				t.Fatalf("got %+v", ending)
			}
			for i, req := range append(n.model.asked, *asked...) {
				if tokens := (req.Bytes()+2)/3 + req.OutputLimit; tokens > c.window {
					t.Errorf("request %d has about %d tokens", i, tokens)
				}
			}
			all := n.compactions(t)
			if !c.wants(all) {
				t.Errorf("compacted: %+v", all)
			}
			for _, one := range all {
				if one.After >= one.Before {
					t.Errorf("%d tokens became %d", one.Before, one.After)
				}
			}
			last := n.model.asked[len(n.model.asked)-1]
			if !strings.HasPrefix(last.Messages[1].Text, "Task t: try") {
				t.Errorf("the task is gone: %q", last.Messages[1].Text)
			}
			rebuiltIsHeld(t, n)
		})
	}
}

// chatter is n replies with a long text each.
func chatter(n int) (all []model.Message) {
	for i := range n {
		m := call(fmt.Sprint("c", i), `{"text":"x"}`)
		m.Text = strings.Repeat(fmt.Sprintf("I think about part %d. ", i), 100)
		all = append(all, m)
	}
	return append(all, end("x"))
}

// rebuiltIsHeld compares the conversation of the log with the one that the last request held.
func rebuiltIsHeld(t *testing.T, n *nest) {
	t.Helper()
	rebuilt, asked := ant.NewMemory("/w"), 0
	for e, err := range n.log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.Body.(event.ModelReplied); ok && !strings.HasSuffix(r.Request, ".summary") {
			if got, want := rebuilt.Messages(), n.model.asked[asked].Messages[1:]; !reflect.DeepEqual(got, want) {
				t.Fatalf("request %d: rebuilt %d messages, held %d", asked, len(got), len(want))
			}
			asked++
		}
		if err := rebuilt.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if asked != len(n.model.asked) {
		t.Errorf("%d of %d requests were compared", asked, len(n.model.asked))
	}
}

// A task that is larger than the window ends the ant before anything is sent, with the reason and its work kept.
func TestATaskThatDoesNotFitEndsTheAnt(t *testing.T) {
	n, _ := narrow(t, 8000, "x", end("x"))
	if err := n.ant.Tell(t.Context(), "task", "Task t: "+strings.Repeat("much ", 10_000)); err != nil {
		t.Fatal(err)
	}
	ending, err := n.ant.Work(t.Context())
	if err != nil || ending.Reason != ant.Model || ending.Cause.Kind != model.ContextTooLong || len(n.model.asked) != 0 {
		t.Errorf("got %+v, %v after %d requests", ending, err, len(n.model.asked))
	}
}

// A refusal that says how much the model takes is learned from: the conversation is made smaller and sent again.
func TestTheWindowIsLearnedFromARefusal(t *testing.T) {
	for _, text := range []string{"This model's maximum context length is 20000 tokens", "prompt is too long: 31337 tokens > 20000 maximum", "too long, whatever"} {
		n, _ := narrow(t, 0, "", bulks(0, 1, 90_000), end("x"))
		inner, refused := n.model, 0
		n.ant = relearn(t, n, providerFunc(func(req model.Request) (model.Reply, error) {
			if (req.Bytes()+2)/3+req.OutputLimit > 20_000 {
				refused++
				return model.Reply{}, &model.Error{Kind: model.ContextTooLong, Status: 400, Text: text}
			}
			return inner.Complete(t.Context(), req, nil)
		}))
		if ending := n.live(t); ending.Reason != ant.Done || refused == 0 || refused > 3 {
			t.Errorf("%s: got %+v after %d refusals", text, ending, refused)
		}
	}
}

func relearn(t *testing.T, n *nest, p model.Provider) *ant.Ant {
	t.Helper()
	window := 0
	a, err := ant.New(ant.Parts{
		Run: "r", Task: "t", Ant: "a", System: "Card: worker", Model: p, Name: "m", OutputLimit: 1000,
		Env: n.env, Log: n.log, Width: 4, Nudges: 1, Layers: []tools.Layer{tools.Refused()}, Calls: func(int) error { return nil },
		Foresee: func(context.Context, *tools.Env, []tools.Prepared) error { return nil },
		Window:  ant.Window{Tokens: func() int { return window }, Learn: func(n int) { window = n }},
		Low:     func() (string, error) { return "", nil }, Memory: ant.NewMemory("/w"), Heard: func(context.Context) []event.AntTold { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// contract 37: what was read before the conversation was made smaller has to be read again before it is written.
func TestCompactionForgetsWhatWasRead(t *testing.T) {
	n, _ := narrow(t, 32_000, "", bulks(0, 1, 40_000), bulks(1, 1, 60_000), end("x"))
	n.env.Files.Apply(tools.Seen{Path: "/w/a", Hash: "h", From: 1, To: 2})
	if ending := n.live(t); ending.Reason != ant.Done || len(n.compactions(t)) == 0 {
		t.Fatalf("got %+v", ending)
	}
	if _, ok := n.env.Files.Known("/w/a"); ok {
		t.Error("the file still counts as read")
	}
}
