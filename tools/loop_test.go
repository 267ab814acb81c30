package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"colony/tools"
	"colony/tools/toolstest"
)

// guarded is one ant's loop guard round tools whose next result the test sets.
type guarded struct {
	t    *testing.T
	next tools.Result
	ran  bool
	h    tools.Handler
	reg  *tools.Registry
	env  *tools.Env
}

func guard(t *testing.T) *guarded {
	g := &guarded{t: t, reg: registry(t), env: toolstest.NewEnv(t)}
	must(t, g.reg.Register(tools.BuiltIn, toolstest.Reader("look", nil)))
	must(t, g.reg.Register(tools.BuiltIn, fake("sh")))
	must(t, g.reg.Register(tools.BuiltIn, toolstest.Fake{Is: tools.Spec{Name: "odd"},
		Touch: func(*tools.Env, json.RawMessage) (tools.Effects, error) { panic("effects") }}))
	g.h = tools.Stack(func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) {
		g.ran = true
		return g.next, nil
	}, tools.LoopGuard(), tools.Refused())
	return g
}

// do is what came of a call: ran, warned, refused.
func (g *guarded) do(name, args string, result tools.Result) string {
	g.t.Helper()
	g.next, g.ran = result, false
	r, err := g.h(g.t.Context(), g.env, g.reg.Prepare(call(name, args)))
	must(g.t, err)
	switch {
	case r.Fault == tools.LoopBlocked && !g.ran:
		return "refused"
	case strings.Contains(r.Text, "while nothing changed"):
		return "warned"
	}
	return "ran"
}

// step is what one call of a story gives.
type step struct {
	tool, args string
	result     tools.Result
	want       string
}

func said(text string) tools.Result { return tools.Result{Text: text} }

func wrote(path, hash string) tools.Result {
	return tools.Result{Text: "edited", Seen: []tools.Seen{{Path: path, Hash: hash, Wrote: true}}}
}

// exited is a command whose text says how long it took.
func exited(took time.Duration) tools.Result {
	code := 1
	return tools.Result{Text: "exit code 1 after " + took.String(), Exit: &code, Duration: took}
}

func repeat(n int, f func(i int) []step) (out []step) {
	for i := range n {
		out = append(out, f(i)...)
	}
	return out
}

// fate is what an unchanging call should come to at its i-th time, from 0.
func fate(i int) string {
	switch {
	case i < 2:
		return "ran"
	case i < 4:
		return "warned"
	}
	return "refused"
}

// contract 46, LP01, LP02
func TestLoopGuard(t *testing.T) {
	shuffled := []string{`{"a":1,"b":"x"}`, `{ "b":"x", "a":1 }`}
	for name, story := range map[string][]step{
		"same reading": repeat(8, func(i int) []step { return []step{{"look", shuffled[i%2], said("same"), fate(i)}} }),
		"same command": repeat(8, func(i int) []step { return []step{{"sh", `{"c":"ls"}`, said("same"), fate(i)}} }),
		"same failure": repeat(8, func(i int) []step { return []step{{"sh", `{"c":"x"}`, tools.Refuse(tools.Timeout, "late"), fate(i)}} }),
		"same writing": repeat(8, func(i int) []step { return []step{{"sh", `{"c":"w"}`, wrote("/a", "1"), fate(i)}} }),
		"same exit": repeat(8, func(i int) []step {
			return []step{{"sh", `{"c":"false"}`, exited(time.Duration(i+1) * 7 * time.Millisecond), fate(i)}}
		}),
		"odd tool": repeat(8, func(i int) []step { return []step{{"odd", `{}`, said("same"), fate(i)}} }),
		"unknown tool": repeat(8, func(i int) []step {
			return []step{{"nothing", `{}`, said(""), []string{"ran", "ran", "warned", "warned", "refused"}[min(i, 4)]}}
		}),
		"nonce": repeat(8, func(i int) []step {
			return []step{{"look", fmt.Sprintf(`{"q":"x","nonce":"a%db"}`, i*7919), said("same"), fate(i)}}
		}),
		"nonce failing": repeat(8, func(i int) []step {
			return []step{{"sh", fmt.Sprintf(`{"c":"x # %d"}`, i), tools.Refuse(tools.Missing, "none"), fate(i)}}
		}),
		"polling": repeat(20, func(i int) []step { return []step{{"look", `{}`, said(fmt.Sprint("at ", i)), "ran"}} }),
		"commands that say nothing": repeat(8, func(i int) []step {
			return []step{{"sh", fmt.Sprintf(`{"c":"mkdir d%d"}`, i), said("(no output)"), "ran"}}
		}),
		"test after edit": repeat(8, func(i int) []step {
			return []step{{"look", fmt.Sprintf(`{"e":%d}`, i), wrote("/a", fmt.Sprint(i)), "ran"}, {"look", `{"t":"test"}`, said("FAIL"), "ran"}}
		}),
		"test after a changing command": repeat(8, func(i int) []step {
			return []step{{"sh", fmt.Sprintf(`{"c":"sed %d"}`, i), said("(no output)"), "ran"}, {"sh", `{"c":"go test"}`, said("FAIL"), "ran"}}
		}),
		"two readings in turn": repeat(6, func(i int) []step {
			return []step{{"look", `{"p":"a"}`, said("A"), fate(i)}, {"look", `{"p":"b"}`, said("B"), fate(i)}}
		}),
		"success ends a row of failures": append(repeat(4, func(i int) []step {
			return []step{{"sh", fmt.Sprintf(`{"c":"t %d"}`, i), tools.Refuse(tools.Timeout, "late"), fate(i)}}
		}), step{"look", `{}`, wrote("/a", "1"), "ran"}, step{"sh", `{"c":"t 9"}`, said("ok"), "ran"}, step{"sh", `{"c":"t 10"}`, tools.Refuse(tools.Timeout, "late"), "ran"}),
	} {
		g := guard(t)
		for i, s := range story {
			if got := g.do(s.tool, s.args, s.result); got != s.want {
				t.Errorf("%s: call %d %s was %s, want %s", name, i, s.args, got, s.want)
				break
			}
		}
	}
}

// contract 46: going to and fro between two states is a loop, though each call changes something
func TestPingPongIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		there, back tools.Result
		fates       string
	}{
		"edits":    {wrote("/a", "1"), wrote("/a", "2"), "nnnnnrrrrfnfrfrf"},
		"commands": {said("on"), said("off"), "nnnnnrrrrfffffff"},
	} {
		g := guard(t)
		fates := ""
		for range 8 {
			fates += g.do("sh", `{"c":"there"}`, c.there)[2:3] + g.do("sh", `{"c":"back"}`, c.back)[2:3]
		}
		if fates != c.fates { // n ran, r warned, f refused
			t.Errorf("%s: %s, want %s", name, fates, c.fates)
		}
	}
}

func TestLoopGuardPassesErrorsAndCancels(t *testing.T) {
	broken := errors.New("broken")
	h := tools.Stack(func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) { return tools.Result{}, broken }, tools.LoopGuard())
	if _, err := h(t.Context(), toolstest.NewEnv(t), prepared(fake("x"))); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	g := guard(t)
	for range 9 {
		want(t, "cancelled", g.do("sh", `{}`, tools.Refuse(tools.Cancelled, "stopped")), "ran")
	}
}

// contract 46: reading what was read before is the same, whether it is shown or named, until the ant no longer has it.
func TestReadingAgainIsTheSame(t *testing.T) {
	g := guard(t)
	shown := tools.Result{Text: "1\ta\n", Seen: []tools.Seen{{Path: "/f", Hash: "1", From: 1, To: 1}}}
	named := tools.Result{Text: "unchanged", Seen: shown.Seen}
	for range 2 {
		for i, r := range []tools.Result{shown, named, named, named, named} {
			want(t, fmt.Sprint(i), g.do("look", `{"p":"f"}`, r), fate(i))
		}
		g.env.Files.Clear()
	}
	g = guard(t)
	for i := range 9 { // the file grows
		want(t, fmt.Sprint(i), g.do("look", `{"p":"f"}`, tools.Result{Text: "1\ta\n", Seen: []tools.Seen{{Path: "/f", Hash: fmt.Sprint(i), From: 1, To: 1}}}), "ran")
	}
}
