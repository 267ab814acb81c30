package hooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/guard/hooks"
)

// script is an Exec that answers by the command: "CODE|STDOUT|STDERR", or hang.
func script(ran *[]string) hooks.Exec {
	return func(ctx context.Context, h hooks.Entry, stdin []byte, stdout, stderr io.Writer) (int, error) {
		*ran = append(*ran, h.Run)
		if h.Run == "hang" {
			<-ctx.Done()
			return 137, ctx.Err()
		}
		parts := strings.SplitN(h.Run+"||", "|", 4)
		fmt.Fprint(stdout, parts[1])
		fmt.Fprint(stderr, parts[2])
		var code int
		_, err := fmt.Sscan(parts[0], &code)
		return code, err
	}
}

func hook(run string) hooks.Entry { return hooks.Entry{Hook: hooks.Hook{Run: run}} }

// The exit codes and the JSON of the contract.
func TestWhatAHookSays(t *testing.T) {
	for _, c := range []struct {
		run  string
		want hooks.Verdict
	}{
		{"0", hooks.Verdict{}},
		{"0|all is well|or not", hooks.Verdict{}},
		{"2||not on main\n", hooks.Verdict{Decision: hooks.Deny, Reason: "not on main"}},
		{"2", hooks.Verdict{Decision: hooks.Deny, Reason: "the hook `2` blocks it and does not say why"}},
		{`2|{"decision":"approve"}|no`, hooks.Verdict{Decision: hooks.Deny, Reason: "no"}},
		{"1||broken\nsecond", hooks.Verdict{Warnings: []string{"the hook `1||broken\nsecond` ended with 1: broken"}}},
		{"127", hooks.Verdict{Warnings: []string{"the hook `127` ended with 127"}}},
		{`0|{"decision":"block","reason":"r"}`, hooks.Verdict{Decision: hooks.Deny, Reason: "r"}},
		{`0|{"decision":"approve","reason":"r"}`, hooks.Verdict{Decision: hooks.Allow, Reason: "r"}},
		{`0| {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r"}}`, hooks.Verdict{Decision: hooks.Ask, Reason: "r"}},
		{`0|{"continue":false,"stopReason":"r"}`, hooks.Verdict{Decision: hooks.Deny, Reason: "r"}},
		{`0|{"continue":true,"suppressOutput":true}`, hooks.Verdict{}},
	} {
		var ran []string
		got, err := hooks.Set{hooks.PreToolUse: {hook(c.run)}}.Run(t.Context(), hooks.Input{Event: hooks.PreToolUse, Tool: "sh"}, script(&ran))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.run, got, err, c.want)
		}
	}
	var ran []string
	for _, bad := range []string{`0|{"decision":`, `0|{"decision":"maybe"}`, `0|{"decision":7}`} {
		got, err := hooks.Set{hooks.PreToolUse: {hook(bad)}}.Run(t.Context(), hooks.Input{Event: hooks.PreToolUse}, script(&ran))
		if err != nil || got.Decision != "" || len(got.Warnings) != 1 {
			t.Errorf("%s: %+v, %v", bad, got, err)
		}
	}
}

// One that hangs is ended; before a tool runs it makes a question, after that it only warns.
func TestAHookHasItsTime(t *testing.T) {
	for moment, want := range map[string]string{hooks.PreToolUse: hooks.Ask, hooks.PostToolUse: "", hooks.RunFinished: ""} {
		var ran []string
		h := hooks.Entry{Hook: hooks.Hook{Run: "hang", Timeout: time.Millisecond}}
		got, err := hooks.Set{moment: {h}}.Run(t.Context(), hooks.Input{Event: moment}, script(&ran))
		if err != nil || got.Decision != want || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "did not end within 1ms") {
			t.Errorf("%s: %+v, %v", moment, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var ran []string
	if _, err := (hooks.Set{hooks.PreToolUse: {hook("hang")}}).Run(ctx, hooks.Input{Event: hooks.PreToolUse}, script(&ran)); err == nil {
		t.Error("cancelled, and no error")
	}
}

func TestAHookIsForTheToolsItNames(t *testing.T) {
	for _, c := range []struct {
		matcher, tool string
		want          bool
	}{{"", "sh", true}, {"*", "sh", true}, {"sh", "sh", true}, {"sh", "shell", false}, {"edit|write", "write", true}, {"mcp__.*", "mcp__a__b", true}, {"sh", "", true}} {
		var ran []string
		h := hooks.Entry{Hook: hooks.Hook{Run: "0", Matcher: c.matcher}}
		if _, err := (hooks.Set{"m": {h}}).Run(t.Context(), hooks.Input{Event: "m", Tool: c.tool}, script(&ran)); err != nil || (len(ran) == 1) != c.want {
			t.Errorf("%q for %q: ran %v, %v", c.matcher, c.tool, ran, err)
		}
	}
}

// Law: the strictest word counts, nothing runs after a deny, and what a project's hook allows counts for nothing.
func TestTheStrictestCounts(t *testing.T) {
	words := []string{"", hooks.Allow, hooks.Ask, hooks.Deny}
	rapid.Check(t, func(t *rapid.T) {
		var set []hooks.Entry
		want, runs := 0, 0
		for range rapid.IntRange(0, 5).Draw(t, "hooks") {
			word, project := rapid.IntRange(0, 3).Draw(t, "word"), rapid.Bool().Draw(t, "project")
			h := hook(`0|{"decision":"` + words[word] + `"}`)
			h.Project = project
			set = append(set, h)
			if want == 3 {
				continue
			}
			runs++
			if !(project && word == 1) {
				want = max(want, word)
			}
		}
		var ran []string
		got, err := hooks.Set{"m": set}.Run(context.Background(), hooks.Input{Event: "m"}, script(&ran))
		if err != nil || got.Decision != words[want] || len(ran) != runs {
			t.Fatalf("%+v, %v after %d, want %q after %d", got, err, len(ran), words[want], runs)
		}
	})
}

func TestWhatAHookReads(t *testing.T) {
	exit := 1
	in := hooks.Input{Event: hooks.PostToolUse, Session: "r-1", Cwd: "/w", Task: "t", Ant: "worker-1", Tool: "sh", Args: json.RawMessage(`{"command":"ls"}`), Call: "c1",
		Response: &hooks.Response{Text: "out", Fault: "", Exit: &exit}}
	var read []byte
	exec := func(_ context.Context, _ hooks.Entry, stdin []byte, _, _ io.Writer) (int, error) {
		read = slices.Clone(stdin)
		return 0, nil
	}
	if _, err := (hooks.Set{hooks.PostToolUse: {hook("x")}}).Run(t.Context(), in, exec); err != nil {
		t.Fatal(err)
	}
	want := `{"hook_event_name":"PostToolUse","session_id":"r-1","cwd":"/w","task":"t","ant":"worker-1","tool_name":"sh","tool_input":{"command":"ls"},"tool_use_id":"c1","tool_response":{"text":"out","fault":"","exit":1}}` + "\n"
	if string(read) != want {
		t.Errorf("%s\nwant\n%s", read, want)
	}
}

func TestWhatIsNoHook(t *testing.T) {
	for _, c := range []struct {
		h    hooks.Hook
		path string
	}{{hooks.Hook{Run: " "}, ""}, {hooks.Hook{Run: "x", Matcher: "("}, "matcher"}, {hooks.Hook{Run: "x", Timeout: time.Hour}, "timeout"}, {hooks.Hook{Run: "x", Sandbox: "workspace"}, "sandbox"}} {
		var faults []string
		c.h.Check(func(path, text string) { faults = append(faults, path) })
		if !slices.Equal(faults, []string{c.path}) {
			t.Errorf("%+v: faults at %q", c.h, faults)
		}
	}
}

// FuzzVerdict holds that whatever a hook writes, there is an answer, and nothing but a clear word decides.
func FuzzVerdict(f *testing.F) {
	f.Add(0, `{"decision":"block"}`, "no")
	f.Add(2, "", "why")
	f.Fuzz(func(t *testing.T, code int, stdout, stderr string) {
		exec := func(_ context.Context, _ hooks.Entry, _ []byte, out, said io.Writer) (int, error) {
			_, err := io.WriteString(out, stdout)
			fmt.Fprint(said, stderr)
			return code, err
		}
		v, err := hooks.Set{"m": {hook("x")}}.Run(t.Context(), hooks.Input{Event: "m"}, exec)
		if err != nil || v.Decision == hooks.Deny && v.Reason == "" || code == 2 && v.Decision != hooks.Deny || code != 0 && code != 2 && v.Decision != "" {
			t.Fatalf("%d %q %q: %+v, %v", code, stdout, stderr, v, err)
		}
	})
}
