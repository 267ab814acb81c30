package ant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"colony/ant"
	"colony/event"
	"colony/model"
	"colony/tools"

	"pgregory.net/rapid"
)

// script is a model that answers with its replies in order, and remembers what it was asked. Replies are recorded as
// the ledger's meter records them.
type script struct {
	log     event.Log
	replies []model.Message
	asked   []model.Request
	err     error
}

func (s *script) Complete(ctx context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
	s.asked = append(s.asked, req)
	if len(s.replies) == 0 {
		return model.Reply{}, s.err
	}
	message := s.replies[0]
	s.replies = s.replies[1:]
	content, err := json.Marshal(message)
	if err != nil {
		return model.Reply{}, err
	}
	_, err = s.log.Append(ctx, event.Event{Run: "r", Ant: "a", Body: event.ModelReplied{Request: req.ID, Outcome: "ok", Content: content}})
	return model.Reply{Message: message}, err
}

// echo answers with its argument; the arguments choose what else the result carries.
type echo struct{ tools.Base }

type echoArgs struct {
	Text, Cwd, Fault string
	Ends             bool
}

func (echo) Spec() tools.Spec {
	return tools.Spec{Name: "echo", Description: "Say it again.", Params: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"cwd":{"type":"string"},"fault":{"type":"string"},"ends":{"type":"boolean"},"outcome":{"type":"string"},"summary":{"type":"string"},"missing":{"type":"string"}}}`)}
}

func (echo) IsConcurrencySafe(args json.RawMessage) bool {
	return !strings.Contains(string(args), "cwd")
}

func (echo) Effects(*tools.Env, json.RawMessage) (tools.Effects, error) {
	return tools.Effects{Known: true, ReadOnly: true}, nil
}

func (echo) Run(_ context.Context, _ *tools.Env, args json.RawMessage) (tools.Result, error) {
	var a echoArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Text: "echo " + a.Text, Cwd: a.Cwd, Fault: tools.Fault(a.Fault), Ends: a.Ends}, nil
}

type nest struct {
	log     *event.Memory
	calls   func(int) error
	foresee func()
	model   *script
	env     *tools.Env
	ant     *ant.Ant
}

func hatched(t interface{ Fatal(...any) }, replies ...model.Message) *nest {
	return hatchedWith(t, event.NewMemory("r", time.Now), ant.NewMemory("/w"), replies...)
}

func hatchedWith(t interface{ Fatal(...any) }, log *event.Memory, memory *ant.Memory, replies ...model.Message) *nest {
	s := &script{log: log, replies: replies, err: &model.Error{Kind: model.Transport, Text: "gone"}}
	registry := tools.NewRegistry(nil)
	if err := registry.Register("built-in", echo{}); err != nil {
		t.Fatal(err)
	}
	n := &nest{log: log, model: s, calls: func(int) error { return nil }, foresee: func() {}}
	n.env = &tools.Env{Root: "/w", Ant: "a", Tools: registry, Files: tools.NewFileState(), Now: time.Now}
	var err error
	n.ant, err = ant.New(ant.Parts{
		Run: "r", Task: "t", Ant: "a", System: ant.System("worker", "Work.", nil), Model: s, Name: "m", OutputLimit: 100,
		Env: n.env, Log: log, Width: 4, Nudges: 1, Layers: []tools.Layer{tools.Refused()}, Calls: func(c int) error { return n.calls(c) },
		Foresee: func(context.Context, *tools.Env, []tools.Prepared) error { n.foresee(); return nil },
		Low:     func() (string, error) { return "", nil }, Memory: memory, Heard: func(context.Context) []event.AntTold { return nil },
		Window: ant.Window{Tokens: func() int { return 0 }, Learn: func(int) {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func call(id, args string) model.Message {
	return model.Message{Role: model.Assistant, Calls: []tools.Call{{ID: id, Name: "echo", Args: json.RawMessage(args)}}}
}

func (n *nest) live(t *testing.T) ant.Ending {
	t.Helper()
	if err := n.ant.Tell(t.Context(), "task", "Task t: try"); err != nil {
		t.Fatal(err)
	}
	ending, err := n.ant.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ending
}

func TestAnAntEndsForOneOfTheClosedReasons(t *testing.T) {
	text := model.Message{Role: model.Assistant, Text: "done, all tests pass"}
	for name, c := range map[string]struct {
		replies []model.Message
		want    ant.Reason
	}{
		"done":        {[]model.Message{call("1", `{"ends":true}`)}, ant.Done},
		"no change":   {[]model.Message{call("1", `{"ends":true,"outcome":"no_change"}`)}, ant.NoChange},
		"blocked":     {[]model.Message{call("1", `{"ends":true,"outcome":"blocked","missing":"x"}`)}, ant.Blocked},
		"text alone":  {[]model.Message{text, text}, ant.NoProgress},
		"text, nudge": {[]model.Message{text, call("1", `{"ends":true}`)}, ant.Done},
		"model gone":  {nil, ant.Model},
		"faulty end":  {[]model.Message{call("1", `{"ends":true,"fault":"missing"}`)}, ant.Model},
	} {
		if got := hatched(t, c.replies...).live(t); got.Reason != c.want {
			t.Errorf("%s: ended %s, want %s", name, got.Reason, c.want)
		}
	}
}

// A reply without a word, as of a model that only thought, is an assistant's also when it is read from the log.
func TestAnEmptyReplyKeepsItsRole(t *testing.T) {
	m := ant.NewMemory("/w")
	if err := m.Apply(event.Event{Body: event.ModelReplied{Outcome: "ok", Content: json.RawMessage("null")}}); err != nil {
		t.Fatal(err)
	}
	if got := m.Messages(); len(got) != 1 || got[0].Role != model.Assistant {
		t.Errorf("got %+v", got)
	}
}

func TestACapOfCallsEndsTheAntAndAnswersTheCalls(t *testing.T) { // contract 56
	n := hatched(t, call("1", `{"text":"x"}`))
	n.calls = func(int) error { return &model.CapError{Scope: "ant", Cap: "calls", Text: "full"} }
	if got := n.live(t); got.Reason != ant.Calls || got.Scope != "ant" {
		t.Errorf("ended %+v", got)
	}
	m := rebuild(t, n.log, 1<<30)
	if last := m.Messages()[len(m.Messages())-1]; last.Role != model.Tool || last.CallID != "1" {
		t.Errorf("the call has no answer: %+v", last)
	}
}

func TestACancelledAntKeepsOneAnswerForEachCall(t *testing.T) { // contract 25
	n := hatched(t, model.Message{Role: model.Assistant, Calls: []tools.Call{
		{ID: "1", Name: "echo", Args: json.RawMessage(`{"cwd":"/w"}`)}, {ID: "2", Name: "echo", Args: json.RawMessage(`{"cwd":"/w"}`)},
	}})
	ctx, cancel := context.WithCancelCause(t.Context())
	n.foresee = func() { cancel(errors.New("enough")) }
	ending, err := n.ant.Work(ctx)
	if err != nil || ending.Reason != ant.Cancelled {
		t.Fatalf("ended %+v, %v", ending, err)
	}
	if open := rebuild(t, n.log, 1<<30).Open(); len(open) != 0 {
		t.Errorf("calls without an answer: %v", open)
	}
}

// rebuild folds the first events of a log into a memory.
func rebuild(t interface{ Fatal(...any) }, log *event.Memory, upTo event.Seq) *ant.Memory {
	m := ant.NewMemory("/w")
	for e, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq > upTo {
			break
		}
		if err := m.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// Law 3: the rebuilt conversation is the held one, for every prefix of the log. What the ant holds shows in what it
// asks: each request is what a rebuild from the events before it gives.
func TestLaw3RebuiltIsHeld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := hatched(rt, replies(rt)...)
		if err := n.ant.Tell(context.Background(), "task", "Task t: try"); err != nil {
			rt.Fatal(err)
		}
		if _, err := n.ant.Work(context.Background()); err != nil {
			rt.Fatal(err)
		}
		requests := n.model.asked
		for e, err := range n.log.Read(context.Background(), 0) {
			if err != nil {
				rt.Fatal(err)
			}
			if _, replied := e.Body.(event.ModelReplied); !replied {
				continue
			}
			held := requests[0].Messages[1:]
			requests = requests[1:]
			if got := rebuild(rt, n.log, e.Seq-1).Messages(); !reflect.DeepEqual(got, held) {
				rt.Fatalf("before event %d:\nrebuilt %+v\nheld    %+v", e.Seq, got, held)
			}
		}
	})
}

func replies(rt *rapid.T) []model.Message {
	id := 0
	one := rapid.Custom(func(rt *rapid.T) model.Message {
		m := model.Message{Role: model.Assistant, Text: rapid.StringN(0, 20, 60).Draw(rt, "text")}
		for range rapid.IntRange(0, 5).Draw(rt, "calls") {
			id++
			args := rapid.SampledFrom([]string{
				`{"text":"<a> & \u00e9"}`, `{ "text" : "b" }`, `{"cwd":"/w"}`, `{"fault":"missing"}`, `{"nonsense":1}`, `not json`, `{"text":1}`,
			}).Draw(rt, "args")
			name := rapid.SampledFrom([]string{"echo", "echo", "gone"}).Draw(rt, "name")
			m.Calls = append(m.Calls, tools.Call{ID: fmt.Sprint("c", id), Name: name, Args: json.RawMessage(args)})
		}
		return m
	})
	return rapid.SliceOfN(one, 1, 8).Draw(rt, "replies")
}

// Law 12: the prefix of two ants of one card is the same up to the task, and between two requests prompts only grow.
func TestLaw12PromptsShareTheirPrefixAndOnlyGrow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		one, two := hatched(rt, replies(rt)...), hatched(rt, replies(rt)...)
		for i, n := range []*nest{one, two} {
			if err := n.ant.Tell(context.Background(), "task", fmt.Sprintf("Task t%d: try", i)); err != nil {
				rt.Fatal(err)
			}
			if _, err := n.ant.Work(context.Background()); err != nil {
				rt.Fatal(err)
			}
			for j := 1; j < len(n.model.asked); j++ {
				before, after := n.model.asked[j-1], n.model.asked[j]
				if len(after.Messages) < len(before.Messages) || !reflect.DeepEqual(after.Messages[:len(before.Messages)], before.Messages) {
					rt.Fatalf("request %d does not grow from the one before", j)
				}
				if !reflect.DeepEqual(after.Tools, before.Tools) {
					rt.Fatalf("the tools of request %d changed", j)
				}
			}
		}
		a, b := one.model.asked[0], two.model.asked[0]
		if !reflect.DeepEqual(a.Messages[0], b.Messages[0]) || !reflect.DeepEqual(a.Tools, b.Tools) {
			rt.Fatal("two ants of one card do not share their prefix")
		}
	})
}

func TestTheSystemPromptNamesItsCardFirst(t *testing.T) {
	system := ant.System("worker", "Work.", []ant.Instructions{{Path: "AGENTS.md", Text: "Use tabs."}})
	if first, _, _ := strings.Cut(system, "\n"); first != "Card: worker" {
		t.Errorf("first line %q", first)
	}
	if !strings.Contains(system, "AGENTS.md") || !strings.HasSuffix(system, "Use tabs.\n") {
		t.Errorf("the instructions are missing: %q", system)
	}
}
