package ant_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
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

// again is an ant that goes on from a log.
func again(t interface{ Fatal(...any) }, log *event.Memory, replies ...model.Message) *nest {
	n := hatchedWith(t, log, rebuild(t, log, 1<<30), replies...)
	return n
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// JR05, JR06, case of a crash between an effect and its result: what is known is said, what is not is said too.
func TestACallThatWasCutOffIsAnswered(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	planned := []event.FileHash{{Path: path, SHA256: hash("new")}}
	before := []event.FileHash{{Path: path, SHA256: hash("old")}}
	looks := event.Effects{Known: true, ReadOnly: true}
	for name, c := range map[string]struct {
		begun *event.ToolStarted
		now   string // of the file; empty: there is none
		rule  string
		fault string
		says  string
	}{
		"never began":              {nil, "old", "not_happened", "cancelled", "did not happen"},
		"only looks":               {&event.ToolStarted{Effects: looks}, "old", "not_happened", "cancelled", "changes nothing"},
		"a command":                {&event.ToolStarted{}, "old", "unclear", "cancelled", "Look at what is there"},
		"an edit that happened":    {&event.ToolStarted{Before: before, Planned: planned}, "new", "happened", "", "it happened"},
		"an edit that did not":     {&event.ToolStarted{Before: before, Planned: planned}, "old", "not_happened", "cancelled", "did not happen"},
		"an edit and another one":  {&event.ToolStarted{Before: before, Planned: planned}, "else", "unclear", "cancelled", "unknown"},
		"an edit, the file went":   {&event.ToolStarted{Before: before, Planned: planned}, "", "unclear", "cancelled", "unknown"},
		"a new file that happened": {&event.ToolStarted{Planned: planned}, "new", "happened", "", "it happened"},
		"a new file that did not":  {&event.ToolStarted{Planned: planned}, "", "not_happened", "cancelled", "did not happen"},
	} {
		_ = os.Remove(path) // it need not be there
		if c.now != "" {
			if err := os.WriteFile(path, []byte(c.now), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		log := event.NewMemory("r", time.Now)
		tell(t, log, event.AntTold{Kind: "task", Text: "Task t: try"}, event.ModelRequested{Request: "a.1", Attempt: 1},
			replied(t, "a.1", call("1", `{}`)))
		if c.begun != nil {
			c.begun.Call, c.begun.Tool = "1", "echo"
			tell(t, log, *c.begun)
		}
		n := again(t, log, call("2", `{"ends":true}`))
		if err := n.ant.Resume(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		var done event.ToolDone
		for e := range log.Read(t.Context(), 0) {
			if d, ok := e.Body.(event.ToolDone); ok {
				done = d
			}
		}
		if done.Rule != c.rule || done.Fault != c.fault || !done.Recovered || !strings.HasPrefix(done.Text, "interrupted") || !strings.Contains(done.Text, c.says) {
			t.Errorf("%s: %+v", name, done)
		}
		if known, ok := n.env.Files.Known(path); ok != (c.rule == "happened") || ok && known != hash("new") {
			t.Errorf("%s: the file is known as %q", name, known)
		}
		if ending, err := n.ant.Work(t.Context()); err != nil || ending.Reason != ant.Done {
			t.Errorf("%s: %+v, %v", name, ending, err)
		}
		if asked := n.model.asked[0]; asked.ID != "a.2" || !strings.Contains(asked.Messages[len(asked.Messages)-1].Text, "goes on") {
			t.Errorf("%s: asked %+v", name, asked)
		}
	}
}

// Background commands end with colony, and are named once.
func TestLostCommandsAreNamed(t *testing.T) {
	log := event.NewMemory("r", time.Now)
	tell(t, log, event.AntTold{Kind: "task", Text: "Task t: try"}, replied(t, "a.1", call("1", `{}`)),
		event.ToolStarted{Call: "1", Tool: "sh", Args: json.RawMessage(`{"command":"serve --port 1","background":true}`)},
		event.ToolDone{Call: "1", Tool: "sh", Text: "started job-1"})
	for _, named := range []bool{true, false} {
		n := again(t, log, call("2", `{"ends":true}`))
		if err := n.ant.Resume(t.Context(), "Your worktree is new."); err != nil {
			t.Fatal(err)
		}
		held := rebuild(t, log, 1<<30).Messages()
		last := held[len(held)-1].Text
		if strings.Contains(last, "serve --port 1") != named || !strings.Contains(last, "Your worktree is new.") {
			t.Errorf("told %q", last)
		}
		tell(t, log, event.AntEnded{Reason: "cancelled"})
	}
}

// Law 1, 3 and 5: cut anywhere, an ant goes on from its log: every call has one result, in the order of the calls, what it
// holds is what is rebuilt, and an ant that had ended ends at once, without a request.
func TestACutAnywhereGoesOn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		first := hatched(rt, append(replies(rt), call("end", `{"ends":true}`))...)
		if err := first.ant.Tell(context.Background(), "task", "Task t: try"); err != nil {
			rt.Fatal(err)
		}
		if _, err := first.ant.Work(context.Background()); err != nil {
			rt.Fatal(err)
		}
		var all []event.Event
		for e := range first.log.Read(context.Background(), 0) {
			all = append(all, e)
		}
		at := rapid.IntRange(1, len(all)).Draw(rt, "cut")
		log := event.NewMemory("r", time.Now)
		for _, e := range all[:at] {
			if _, err := log.Append(context.Background(), event.Event{Run: e.Run, Task: e.Task, Ant: e.Ant, Body: e.Body}); err != nil {
				rt.Fatal(err)
			}
		}
		_, over := rebuild(rt, log, 1<<30).Ended()
		n := again(rt, log, append(replies(rt), call("end", `{"ends":true}`))...)
		if err := n.ant.Resume(context.Background(), ""); err != nil {
			rt.Fatal(err)
		}
		if _, err := n.ant.Work(context.Background()); err != nil {
			rt.Fatal(err)
		}
		if over != (len(n.model.asked) == 0) {
			rt.Fatalf("it had ended: %v, and asked %d times", over, len(n.model.asked))
		}
		for _, r := range n.model.asked {
			paired(rt, r.Messages)
		}
		if over {
			return
		}
		held := n.model.asked[len(n.model.asked)-1].Messages[1:]
		if got := rebuild(rt, log, 1<<30).Messages(); len(got) < len(held) || !reflect.DeepEqual(got[:len(held)], held) {
			rt.Fatalf("rebuilt %+v\nheld    %+v", got, held)
		}
	})
}

// paired wants one result for each call, in call order, directly after its reply.
func paired(rt *rapid.T, messages []model.Message) {
	var open []tools.Call
	for i, m := range messages {
		if m.Role == model.Tool {
			if len(open) == 0 || open[0].ID != m.CallID {
				rt.Fatalf("message %d answers %q out of turn", i, m.CallID)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			rt.Fatalf("before message %d %d calls have no answer", i, len(open))
		}
		open = m.Calls
	}
	if len(open) > 0 {
		rt.Fatal("calls without an answer at the end")
	}
}

func tell(t *testing.T, log *event.Memory, bodies ...event.Body) {
	t.Helper()
	for _, b := range bodies {
		if _, err := log.Append(t.Context(), event.Event{Run: "r", Task: "t", Ant: "a", Body: b}); err != nil {
			t.Fatal(err)
		}
	}
}

func replied(t *testing.T, request string, m model.Message) event.ModelReplied {
	t.Helper()
	content, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return event.ModelReplied{Request: request, Attempt: 1, Outcome: "ok", Content: content}
}
