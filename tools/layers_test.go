package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"colony/tools"
	"colony/tools/toolstest"
	"colony/view"
)

// reply is a handler that answers with fixed results, one after the other, the last for ever.
func reply(results ...tools.Result) tools.Handler {
	return func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) {
		r := results[0]
		if len(results) > 1 {
			results = results[1:]
		}
		return r, nil
	}
}

func plain(s string) string { return s }

func prepared(t tools.Tool) tools.Prepared {
	return tools.Prepared{Call: tools.Call{ID: "1", Name: t.Spec().Name}, Tool: t}
}

func TestRefusedNeverReachesTheTool(t *testing.T) {
	no := tools.Refuse(tools.Validation, "no")
	h := tools.Stack(func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) { panic("ran") }, tools.Refused())
	r, err := h(t.Context(), toolstest.NewEnv(t), tools.Prepared{Refused: &no})
	must(t, err)
	want(t, "text", r.Text, "no")
	r, err = tools.Stack(reply(tools.Result{Text: "ran"}), tools.Refused())(t.Context(), nil, tools.Prepared{})
	must(t, err)
	want(t, "text", r.Text, "ran")
}

// contract 20
func TestRetryIsOnceAndForReadOnlyTransient(t *testing.T) {
	failed, fine := tools.Refuse(tools.Transient, "again"), tools.Result{Text: "fine"}
	reader, writer := prepared(toolstest.Reader("r", nil)), prepared(fake("w"))
	known := writer
	known.Effects = tools.Effects{Known: true, ReadOnly: true}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx     context.Context
		call    tools.Prepared
		results []tools.Result
		text    string
	}{
		"read-only":       {t.Context(), reader, []tools.Result{failed, fine}, "fine"},
		"by effects":      {t.Context(), known, []tools.Result{failed, fine}, "fine"},
		"once":            {t.Context(), reader, []tools.Result{failed, failed, fine}, "again"},
		"not a writer":    {t.Context(), writer, []tools.Result{failed, fine}, "again"},
		"not a timeout":   {t.Context(), reader, []tools.Result{tools.Refuse(tools.Timeout, "late"), fine}, "late"},
		"not when ending": {stopped, reader, []tools.Result{failed, fine}, "again"},
	} {
		r, err := tools.Stack(reply(c.results...), tools.Retry())(c.ctx, nil, c.call)
		must(t, err)
		want(t, name, r.Text, c.text)
	}
}

// contract 23
func TestPanicIsAnInternalResult(t *testing.T) {
	h := tools.Stack(func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) { panic("boom") }, tools.Catch())
	r, err := h(t.Context(), nil, prepared(fake("x")))
	must(t, err)
	if r.Fault != tools.Internal || !strings.Contains(r.Text, "boom") || !strings.Contains(r.Text, "x") {
		t.Errorf("got %+v", r)
	}
	r, err = tools.Stack(reply(tools.Result{Text: "fine"}), tools.Catch())(t.Context(), nil, prepared(fake("x")))
	must(t, err)
	want(t, "text", r.Text, "fine")
}

// contract 18
func TestInvokeMakesResultsOfWhatTheModelCanActOn(t *testing.T) {
	broken := errors.New("disk on fire")
	ended, end := context.WithCancel(t.Context())
	defer end()
	for name, c := range map[string]struct {
		err   error
		ctx   context.Context
		fault tools.Fault
		colon bool
	}{
		"fine":      {nil, t.Context(), "", false},
		"argument":  {fmt.Errorf("read: %w", &tools.ArgError{Field: "path", Reason: "bad"}), t.Context(), tools.Validation, false},
		"deadline":  {fmt.Errorf("run: %w", context.DeadlineExceeded), t.Context(), tools.Timeout, false},
		"colony":    {broken, t.Context(), "", true},
		"cancelled": {context.Canceled, ended, tools.Cancelled, false},
	} {
		tool := toolstest.Reader("x", func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
			if c.ctx == ended {
				end()
			}
			return tools.Result{Text: "ran"}, c.err
		})
		r, err := tools.Invoke(c.ctx, toolstest.NewEnv(t), prepared(tool))
		if r.Fault != c.fault || errors.Is(err, broken) != c.colon || !c.colon && err != nil {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
	r, err := tools.Invoke(ended, toolstest.NewEnv(t), prepared(fake("x")))
	must(t, err)
	want(t, "not started", string(r.Fault), "cancelled")
}

// contract 45, AV02
func TestCapSpillsWithThreeQuartersOfTheHead(t *testing.T) {
	env := toolstest.NewEnv(t)
	long := strings.Repeat("é", 3<<19) + "END" // 3 MiB of two-byte runes
	for name, limit := range map[string]int{"default": 0, "odd": 1001} {
		tool := toolstest.Fake{Is: tools.Spec{Name: "x", ResultCap: limit}}
		r, err := tools.Stack(reply(tools.Result{Text: long}), tools.Cap(plain))(t.Context(), env, prepared(tool))
		must(t, err)
		budget := max(limit, 0)
		if limit == 0 {
			budget = tools.DefaultResultCap
		}
		head, rest, _ := strings.Cut(r.Text, "\n\n[")
		notice, tail, _ := strings.Cut(rest, "]\n\n")
		if over := budget*3/4 - len(head); over < 0 || over > 1 {
			t.Errorf("%s: head of %d bytes", name, len(head))
		}
		if over := budget - budget*3/4 - len(tail); over < 0 || over > 1 || !strings.HasSuffix(tail, "END") {
			t.Errorf("%s: tail of %d bytes", name, len(tail))
		}
		if !utf8.ValidString(r.Text) || r.Bytes != int64(len(long)) || r.Spilled == nil {
			t.Fatalf("%s: bytes %d, spilled %v", name, r.Bytes, r.Spilled)
		}
		want(t, name, notice, fmt.Sprintf("%d of %d bytes left out here; the whole text is in %s: read the part you need", len(long)-len(head)-len(tail), len(long), env.Blobs.Path(*r.Spilled)))
		whole, err := env.Blobs.Get(r.Spilled.SHA256)
		must(t, err)
		if string(whole) != long {
			t.Errorf("%s: another text was kept", name)
		}
	}
}

// contract 45, contract 19
func TestCapLeavesWhatFitsAndStatesWhatIsBlank(t *testing.T) {
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
	for name, c := range map[string]struct {
		limit    int
		in, want string
	}{
		"fits":    {5, "12345", "12345"},
		"no cap":  {tools.NoCap, strings.Repeat("x", 40<<10), strings.Repeat("x", 40<<10)},
		"blank":   {0, " \n", "(no output)"},
		"secret":  {0, "password hunter2", "password [secret]"},
		"invalid": {0, "a\xffb", "a\uFFFDb"},
	} {
		tool := toolstest.Fake{Is: tools.Spec{Name: "x", ResultCap: c.limit}}
		r, err := tools.Stack(reply(tools.Result{Text: c.in, Fault: tools.Timeout}), tools.Cap(hide))(t.Context(), toolstest.NewEnv(t), prepared(tool))
		must(t, err)
		if r.Text != c.want || r.Spilled != nil || r.Fault != tools.Timeout {
			t.Errorf("%s: got %.60q, %v", name, r.Text, r.Spilled)
		}
	}
}

// contract 45: without a store the text is cut and says so
func TestCapTextWithoutAStore(t *testing.T) {
	got, ref, err := tools.CapText("0123456789", 4, nil)
	must(t, err)
	if ref != nil || got != "012\n\n[6 of 10 bytes left out here; the rest was not kept]\n\n9" {
		t.Errorf("got %q, %v", got, ref)
	}
}

func TestCapSaysWhenTheStoreFails(t *testing.T) {
	env, dir := toolstest.NewEnv(t), t.TempDir()
	blobs, err := tools.NewBlobs(dir)
	must(t, err)
	env.Blobs = blobs
	must(t, os.RemoveAll(dir))
	h := tools.Stack(reply(tools.Result{Text: strings.Repeat("x", 1<<20)}), tools.Cap(plain))
	if _, err := h(t.Context(), env, prepared(fake("x"))); err == nil || !strings.Contains(err.Error(), "keep blob") {
		t.Errorf("got %v", err)
	}
	broken := func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) {
		return tools.Result{}, errors.New("no")
	}
	if _, err := tools.Stack(broken, tools.Cap(plain))(t.Context(), env, prepared(fake("x"))); err == nil {
		t.Error("an error was lost")
	}
}

// law: head and tail are of the text, on rune boundaries, and never longer than the budget
func TestCapTextKeepsRunes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 200, 400).Draw(rt, "text")
		limit := rapid.IntRange(1, 100).Draw(rt, "limit")
		got, _, err := tools.CapText(text, limit, nil)
		must(t, err)
		if len(text) <= limit {
			if got != text {
				rt.Fatalf("a text that fits was cut: %q", got)
			}
			return
		}
		at := strings.Index(got, fmt.Sprintf(" of %d bytes left out here; the rest was not kept]\n\n", len(text)))
		if at < 0 || !utf8.ValidString(got) {
			rt.Fatalf("got %q", got)
		}
		start := strings.LastIndex(got[:at], "\n\n[")
		head, tail := got[:start], got[at+len(fmt.Sprintf(" of %d bytes left out here; the rest was not kept]\n\n", len(text))):]
		if len(head)+len(tail) > limit || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			rt.Fatalf("head %q, tail %q of %q", head, tail, text)
		}
	})
}

func TestSecretsLeaveViewsToo(t *testing.T) {
	views := view.List{
		view.Diff{Unified: "+S"}, view.Matches{Items: []view.Match{{Text: "S"}}, Total: 1}, view.Exit{Command: "S"},
		view.Problems{Items: []view.Problem{{Text: "S"}}}, view.Page{URL: "S", Title: "S", Text: "S"}, view.JSON{Text: `"S"`},
	}
	h := tools.Stack(reply(tools.Result{Text: "x", Views: views}), tools.Cap(func(s string) string { return strings.ReplaceAll(s, "S", "*") }))
	r, err := h(t.Context(), toolstest.NewEnv(t), prepared(fake("x")))
	must(t, err)
	out, err := json.Marshal(r.Views)
	must(t, err)
	if len(r.Views) != len(views) || strings.Contains(string(out), `S"`) || strings.Contains(string(out), "+S") {
		t.Errorf("got %s", out)
	}
	if views[1].(view.Matches).Items[0].Text != "S" {
		t.Error("the tool's own view was changed")
	}
}

// contract 19, contract 22
func TestMessageIsNeverBlank(t *testing.T) {
	for _, c := range []struct {
		in    tools.Result
		text  string
		isErr bool
	}{
		{tools.Result{Text: "fine"}, "fine", false},
		{tools.Result{}, "(no output)", false},
		{tools.Refuse(tools.Timeout, "\n"), "(no output)", true},
		{tools.Refuse(tools.Missing, "no file"), "no file", true},
	} {
		text, isErr := c.in.Message()
		if text != c.text || isErr != c.isErr {
			t.Errorf("%+v: got %q, %v", c.in, text, isErr)
		}
	}
}
