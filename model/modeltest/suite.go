// Package modeltest is the one suite that every provider passes. It runs against a server that follows a
// scenario, and so knows what the model said.
package modeltest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"colony/model"
	"colony/tools"
)

//go:embed suite.yaml
var scenario []byte

// Run runs the suite.
func Run(t *testing.T, dial Dial) { run(t, dial, false) }

// RunPlain runs the suite for a wire that has no ids of calls, counts nothing but input and output, and knows no refusal.
func RunPlain(t *testing.T, dial Dial) { run(t, dial, true) }

func run(t *testing.T, dial Dial, plain bool) {
	t.Run("replies", func(t *testing.T) { replies(t, dial, plain) })
	t.Run("refusals", func(t *testing.T) { refusals(t, dial) })
	t.Run("broken", func(t *testing.T) { brokenReplies(t, dial) })
	t.Run("unfinished", func(t *testing.T) { unfinished(t, dial) })
	t.Run("estimated", func(t *testing.T) { estimates(t, dial) })
	t.Run("deltas", func(t *testing.T) { deltas(t, dial) })
	t.Run("conversation", func(t *testing.T) { conversation(t, dial) })
	t.Run("cancel", func(t *testing.T) { cancel(t, dial) })
	t.Run("wrong model", func(t *testing.T) { wrongModel(t, dial) })
}

const long, short = 30 * time.Second, 200 * time.Millisecond

func ask(task string) model.Request {
	return model.Request{
		ID: "r-" + task, Attempt: 1, Model: "suite", OutputLimit: 1000,
		Messages: []model.Message{
			{Role: model.System, Text: "Card: worker\nDo the task."},
			{Role: model.User, Text: "Task " + task + ": a case of the suite"},
		},
		Tools: []tools.Spec{
			{Name: "read", Description: "Reads.", Params: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "mcp__git.hub__list", Description: "Lists.", Params: json.RawMessage(`{"type":"object"}`)},
		},
	}
}

func complete(t *testing.T, p model.Provider, task string) (model.Reply, error) {
	t.Helper()
	return p.Complete(t.Context(), ask(task), func(model.Delta) {})
}

func call(id, name, args string) tools.Call {
	return tools.Call{ID: id, Name: name, Args: json.RawMessage(args)}
}

func replies(t *testing.T, dial Dial, plain bool) {
	p := dial.start(t, long, long)
	cases := []struct {
		task, text string
		calls      []tools.Call
		finish     model.Finish
		usage      model.Usage
	}{
		{"text", "Grüße, world: a text long enough to come in several pieces.", nil, model.FinishStop, model.Usage{Fresh: 10, Output: 20}},
		{"usage", "LG02", nil, model.FinishStop, model.Usage{Fresh: 200, Cached: 800, Output: 500, Reasoning: 300}},
		{"written", "x", nil, model.FinishStop, model.Usage{Fresh: 50, Cached: 20, CacheWrite: 30, Output: 1}},
		{"parallel", "Two.", []tools.Call{call("call_0_0", "read", `{"from":3,"path":"a.go"}`), call("call_0_1", "read", `{"path":"ü b.go"}`)}, model.FinishCalls, model.Usage{Fresh: 10, Output: 20}},
		{"one", "", []tools.Call{call("call_0_0", "read", `{}`)}, model.FinishCalls, model.Usage{Fresh: 10, Output: 20}},
		{"not-json", "", []tools.Call{call("call_0_0", "read", `{"path": oops`)}, model.FinishCalls, model.Usage{Fresh: 10, Output: 20}},
		{"half", "Then", []tools.Call{call("call_0_0", "read", `{"path":"a.go"}`)}, model.FinishLength, model.Usage{Fresh: 10, Output: 20}},
		{"filtered", "No.", nil, model.FinishRefusal, model.Usage{Fresh: 10, Output: 20}},
		{"slow", "Late.", nil, model.FinishStop, model.Usage{Fresh: 10, Output: 20}},
	}
	for _, c := range cases {
		if plain {
			c.usage = model.Usage{Fresh: c.usage.Input(), Output: c.usage.Output}
			for i := range c.calls {
				c.calls[i].ID = fmt.Sprintf("call_%d", i)
			}
			if c.finish == model.FinishRefusal {
				c.finish = model.FinishStop
			}
		}
		t.Run(c.task, func(t *testing.T) {
			req := ask(c.task)
			req.Grown, req.Attempt = true, 5
			got, err := p.Complete(t.Context(), req, func(model.Delta) {})
			if err != nil {
				t.Fatal(err)
			}
			if got.Message.Role != model.Assistant || got.Message.Text != c.text || got.Finish != c.finish {
				t.Errorf("got %+v, finish %s", got.Message, got.Finish)
			}
			if got.Usage != c.usage || got.Estimated {
				t.Errorf("usage %+v, estimated %v", got.Usage, got.Estimated)
			}
			sameCalls(t, got.Message.Calls, c.calls)
			if got.FirstByte <= 0 || got.Elapsed < got.FirstByte {
				t.Errorf("first byte %v, all %v", got.FirstByte, got.Elapsed)
			}
			if c.task == "slow" && got.FirstByte < short {
				t.Errorf("first byte after %v", got.FirstByte)
			}
		})
	}
}

func sameCalls(t *testing.T, got, want []tools.Call) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d calls, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].ID != want[i].ID || got[i].Name != want[i].Name || string(got[i].Args) != string(want[i].Args) {
			t.Errorf("call %d: got %s %s %s, want %s %s %s", i, got[i].ID, got[i].Name, got[i].Args, want[i].ID, want[i].Name, want[i].Args)
		}
	}
}

func refusals(t *testing.T, dial Dial) {
	p := dial.start(t, long, long)
	cases := []struct {
		task   string
		kind   model.Kind
		status int
		wait   time.Duration
	}{
		{"limited", model.RateLimited, 429, 7 * time.Second},
		{"limited-oddly", model.RateLimited, 429, 0},
		{"quota", model.Quota, 429, 0},
		{"unauthorized", model.Auth, 401, 0},
		{"no-model", model.NoModel, 404, 0},
		{"unverified", model.Unverified, 400, 0},
		{"too-long", model.ContextTooLong, 400, 0},
		{"bad", model.BadRequest, 400, 0},
		{"server", model.Transport, 500, 0},
		{"busy", model.Overloaded, 503, 3 * time.Second},
		{"overloaded", model.Overloaded, 529, 0},
		{"moved", model.BadRequest, 307, 0},
	}
	for _, c := range cases {
		t.Run(c.task, func(t *testing.T) {
			_, err := complete(t, p, c.task)
			e := modelError(t, err)
			if e.Kind != c.kind || e.Status != c.status || e.RetryAfter != c.wait || e.Sent {
				t.Errorf("got %+v", e)
			}
			if e.Text == "" || strings.ContainsAny(e.Text, "\n\r\x1b") || len(e.Text) > 1000 {
				t.Errorf("text %q", e.Text)
			}
			if got, err := complete(t, p, c.task); err != nil || got.Message.Text != "Fine now." {
				t.Errorf("the next attempt: %v", err)
			}
		})
	}
}

func modelError(t *testing.T, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, which is no *model.Error", err)
	}
	return e
}

// brokenReplies are billed by their provider perhaps, so they carry a usage that is marked as a guess.
func brokenReplies(t *testing.T, dial Dial) {
	p := dial.start(t, short, short)
	cases := []struct {
		task    string
		arrived string // of the text
	}{
		{"cut", "This reply is cut in its"},
		{"cut-call", ""},
		{"early", "This reply is cut in its"},
		{"early-call", ""},
		{"stall", "This reply is cut in its"},
		{"silent", ""},
		{"reset", ""},
		{"garbage", ""},
	}
	for _, c := range cases {
		t.Run(c.task, func(t *testing.T) {
			begun := time.Now()
			got, err := complete(t, p, c.task)
			if e := modelError(t, err); e.Kind != model.Transport || e.Status != 0 || !e.Sent || e.Text == "" {
				t.Errorf("got %+v", e)
			}
			if !strings.HasPrefix(got.Message.Text, c.arrived) || len(got.Message.Calls) != 0 {
				t.Errorf("arrived: %+v", got.Message)
			}
			if !got.Estimated || got.Usage.Fresh == 0 || (c.arrived != "" && got.Usage.Output == 0) {
				t.Errorf("usage %+v, estimated %v", got.Usage, got.Estimated)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if got, err := complete(t, p, c.task); err != nil || got.Message.Text == "" && len(got.Message.Calls) == 0 {
				t.Errorf("the next attempt: %v", err)
			}
		})
	}
}

// unfinished are replies that ended as whole ones do and are none: no call of theirs counts, and what they used does.
func unfinished(t *testing.T, dial Dial) {
	p := dial.start(t, long, long)
	for _, c := range []struct {
		task    string
		attempt int
		kind    model.Kind
		text    string
	}{
		{"half", 1, model.Cut, "cut at 1000 tokens"},
		{"cut-args", 1, model.Transport, "arguments of a call were cut"},
		{"cut-args", 9, model.Transport, "arguments of a call were cut"},
		{"not-json", 1, model.Transport, "no JSON"},
		{"not-json", 4, model.Transport, "no JSON"},
	} {
		req := ask(c.task)
		req.Attempt = c.attempt
		got, err := p.Complete(t.Context(), req, func(model.Delta) {})
		if e := modelError(t, err); e.Kind != c.kind || !e.Sent || !strings.Contains(e.Text, c.text) {
			t.Errorf("%s: got %+v", c.task, e)
		}
		if want := (model.Usage{Fresh: 10, Output: 20}); got.Usage != want || got.Estimated || len(got.Message.Calls) > 0 || got.Finish != "" {
			t.Errorf("%s: got %+v", c.task, got)
		}
	}
}

func estimates(t *testing.T, dial Dial) {
	p := dial.start(t, long, long)
	for _, task := range []string{"no-usage", "zero-usage"} {
		got, err := complete(t, p, task)
		if err != nil || !got.Estimated || got.Usage.Fresh == 0 || got.Usage.Output == 0 {
			t.Errorf("%s: %+v, estimated %v, %v", task, got.Usage, got.Estimated, err)
		}
	}
}

func deltas(t *testing.T, dial Dial) {
	p := dial.start(t, long, long)
	var shown strings.Builder
	pieces := 0
	got, err := p.Complete(t.Context(), ask("text"), func(d model.Delta) { pieces++; shown.WriteString(d.Text) })
	if err != nil || pieces < 2 || shown.String() != got.Message.Text {
		t.Errorf("%d pieces, %q, %v", pieces, shown.String(), err)
	}
}

// conversation goes through three turns: the server refuses a call without its answer, and says the next
// turn only where it finds its own replies again. A tool's name comes back as the registry spells it.
func conversation(t *testing.T, dial Dial) {
	p := dial.start(t, long, long)
	req := ask("turns")
	for turn, want := range []string{"First.", "Second.", "Third."} {
		got, err := p.Complete(t.Context(), req, func(model.Delta) {})
		if err != nil || got.Message.Text != want {
			t.Fatalf("turn %d: %q, %v", turn, got.Message.Text, err)
		}
		req.Messages = append(req.Messages, got.Message)
		for i, c := range got.Message.Calls {
			if c.Name != "mcp__git.hub__list" && c.Name != "read" {
				t.Errorf("call of %q", c.Name)
			}
			req.Messages = append(req.Messages, model.Message{Role: model.Tool, CallID: c.ID, Text: "result", IsError: i == 1})
		}
	}
	if len(req.Messages) != 2+3+3 {
		t.Errorf("%d messages", len(req.Messages))
	}
	req.Messages = append(req.Messages[:3], req.Messages[4:]...)
	_, err := p.Complete(t.Context(), req, func(model.Delta) {})
	if e := modelError(t, err); e.Kind != model.BadRequest {
		t.Errorf("an unanswered call: %v", e)
	}
}

func cancel(t *testing.T, dial Dial) {
	p := dial.start(t, long, long)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	got, err := p.Complete(ctx, ask("stall"), func(model.Delta) { stop() })
	if e := modelError(t, err); e.Kind != model.Aborted || !errors.Is(err, context.Canceled) || !e.Sent || !got.Estimated {
		t.Errorf("got %+v, estimated %v", e, got.Estimated)
	}
}

func wrongModel(t *testing.T, dial Dial) {
	p := dial.start(t, long, long)
	req := ask("text")
	req.Model = "nobody"
	_, err := p.Complete(t.Context(), req, func(model.Delta) {})
	if e := modelError(t, err); e.Kind != model.NoModel {
		t.Errorf("got %+v", e)
	}
}
