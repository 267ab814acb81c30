package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"colony/event"
	"colony/model/scripted"
)

// cacheFigures are what a run on two repositories came to, over the wire of Messages. All are parts of a hundred.
type cacheFigures struct {
	ants   float64 // the least that a later ant's tools and system prompt share with the first's of its card
	repos  float64 // the same across two repositories
	served float64 // of what was kept at an ant's request before, how much the next one read from the cache
}

func (f cacheFigures) String() string {
	return fmt.Sprintf("ants of a card share %.2f%% of tools and system, across repositories %.2f%%; %.2f%% served of what was kept", f.ants, f.repos, f.served)
}

const cacheTurns = 8

// measureCache runs the command with four ants on each of two repositories, one of which has instructions of its own.
func measureCache(tb testing.TB, bin string) cacheFigures {
	tb.Helper()
	scenario := scripted.Scenario{Name: "any", Cache: true, Cards: map[string]map[string][]scripted.Turn{"worker": {"*": nil}}}
	for i := range cacheTurns {
		scenario.Cards["worker"]["*"] = append(scenario.Cards["worker"]["*"], scripted.Turn{
			Text: "On.", Calls: []scripted.Call{{Tool: "read", Args: map[string]any{"path": "base.txt", "from": i + 1}}}, Tokens: scripted.Tokens{Reasoning: 5},
		})
	}
	scenario.Cards["worker"]["*"] = append(scenario.Cards["worker"]["*"], scripted.Turn{
		Calls: []scripted.Call{{Tool: "done", Args: map[string]any{"outcome": "no_change", "summary": "nothing to do"}}},
	})
	server, err := scripted.Serve(context.Background(), scripted.Parts{Scenarios: []scripted.Scenario{scenario}, Record: true})
	if err != nil {
		tb.Fatal(err)
	}
	defer server.Close()
	dir := tb.TempDir()
	plan := filepath.Join(dir, "plan.yaml")
	write := func(path, text string) {
		tb.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	write(plan, "tasks:\n- {id: a, prompt: A.}\n- {id: b, prompt: B.}\n- {id: c, prompt: C.}\n- {id: d, prompt: D.}\n")
	write(filepath.Join(dir, "home", ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.test\n")
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb", "ANTHROPIC_API_KEY=x",
		"COLONY_PROVIDERS_ANTHROPIC_BASE_URL=" + server.URL}
	do := func(in string, argv ...string) []byte {
		tb.Helper()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = in, environ
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			tb.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, said.String())
		}
		return out
	}
	var logs [2][]byte
	var first [2]int // of a repository's requests
	for i, advice := range []string{"", "Use tabs.\n"} {
		repo := filepath.Join(dir, fmt.Sprint("repo", i))
		write(filepath.Join(repo, "base.txt"), strings.Repeat("a line of text\n", 40))
		if advice != "" {
			write(filepath.Join(repo, "AGENTS.md"), advice)
		}
		do(repo, "git", "init", "-q", "-b", "main")
		do(repo, "git", "add", "-A")
		do(repo, "git", "commit", "-q", "-m", "base")
		first[i] = len(server.Received())
		logs[i] = do(repo, bin, "run", "-f", plan, "--json", "--model", "anthropic/any", "--no-gate", "--ants", "4")
	}
	all := server.Received()
	f := cacheFigures{ants: 100, served: served(tb, bytes.Join(logs[:], nil))}
	for i, r := range all {
		base := all[0].Body
		if i >= first[1] {
			base = all[first[1]].Body
		}
		f.ants = min(f.ants, shared(tb, base, r.Body))
	}
	f.repos = shared(tb, all[0].Body, all[first[1]].Body)
	return f
}

// shared is how much of the tools and the system prompt of b is the beginning of those of a, in parts of a hundred.
func shared(tb testing.TB, a, b []byte) float64 {
	tb.Helper()
	head := func(body []byte) string {
		var parts struct {
			Tools  json.RawMessage
			System []struct{ Text string }
		}
		if err := json.Unmarshal(body, &parts); err != nil || len(parts.System) == 0 {
			tb.Fatalf("a request without a system prompt: %v", err)
		}
		return string(parts.Tools) + parts.System[0].Text
	}
	x, y := head(a), head(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return 100 * float64(n) / float64(max(len(x), len(y)))
}

// served is how much of what was kept at an ant's request the next one read.
func served(tb testing.TB, log []byte) float64 {
	tb.Helper()
	kept, sums := map[string]int64{}, [2]int64{}
	for line := range bytes.Lines(log) {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			tb.Fatal(err)
		}
		r, ok := e.Body.(event.ModelReplied)
		if !ok {
			continue
		}
		ant := e.Run + e.Ant
		if before, ok := kept[ant]; ok {
			sums[0], sums[1] = sums[0]+min(r.Usage.Cached, before), sums[1]+before
		}
		kept[ant] = r.Usage.Cached + r.Usage.CacheWrite
	}
	if sums[1] == 0 {
		tb.Fatal("nothing was kept")
	}
	return 100 * float64(sums[0]) / float64(sums[1])
}

// law 12, over the wire: what ants of a card have in common is the same bytes, and the provider's cache serves it.
func TestAntsShareTheirPrefix(t *testing.T) {
	f := measureCache(t, "colony")
	t.Log(f)
	if f.ants < 99 || f.repos < 95 || f.served < 99 {
		t.Errorf("too little: %s", f)
	}
}
