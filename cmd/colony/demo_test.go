package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"colony/event"
)

// The demo lands five tasks of the queen's plan: four ants at once, a gate that failed once, a conflict that landed later,
// a review that sent back once; its bill is that of the replies. It ends with 0 only where the model's server counted the
// same.
func TestDemo(t *testing.T) {
	t.Parallel()
	r := fold(t, colonySays(t, "demo", "--fast", "--json"))
	if r.finished.Status != "landed" || r.finished.Exit != 0 || len(r.finished.Tasks) != 5 {
		t.Errorf("the demo ended as %s with exit %d and %d tasks", r.finished.Status, r.finished.Exit, len(r.finished.Tasks))
	}
	for _, task := range r.finished.Tasks {
		if task.Status != "landed" || !task.Verified || len(task.Receipt.Gates) != 2 {
			t.Errorf("task %s: %s, verified %v, %d gates", task.ID, task.Status, task.Verified, len(task.Receipt.Gates))
		}
	}
	if len(r.red) != 1 || r.red["task longest"] != 1 {
		t.Errorf("gates that failed: %v, want one of task longest", r.red)
	}
	if r.width != 4 || r.planned != 5 {
		t.Errorf("%d ants worked at once on a plan of %d tasks, want 4 and 5", r.width, r.planned)
	}
	if got := strings.Join(r.verdicts, " "); got != "send_back approve" {
		t.Errorf("the verdicts are %q", got)
	}
	if c := slices.Compact(r.conflicts); len(c) != 1 || !r.mended || (c[0] != "title" && c[0] != "slug") {
		t.Errorf("conflicts of %v, landed later: %v", r.conflicts, r.mended)
	}
	if r.sum.Requests == 0 || r.sum != r.finished.Usage || r.finished.Price != event.Known {
		t.Errorf("the bill is %+v at price %s, the replies are %+v", r.finished.Usage, r.finished.Price, r.sum)
	}
	if want := event.PicoUSD(1_250_000*r.sum.Input + 10_000_000*r.sum.Output); r.finished.USD == nil || *r.finished.USD != want || r.sum.Cached > 0 {
		t.Errorf("the bill is %v of %+v, want %v", r.finished.USD, r.sum, want)
	}
	if r.fastest >= 200 { // what the quickest takes where it is not fast
		t.Errorf("--fast: the quickest reply began after %d ms", r.fastest)
	}
}

// The demo is the real product: with the worker's card among the user's it lands as it does without, and with a worker
// that cannot edit nothing lands. The server's count is the ledger's both times.
func TestDemoNeedsItsTools(t *testing.T) {
	t.Parallel()
	card, err := os.ReadFile(filepath.Join("..", "..", "cards", "builtin", "worker.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tools        string
		exit, landed int
	}{{"tools: [read, find, edit, ", 0, 5}, {"tools: [read, find, ", 3, 0}} {
		dir := t.TempDir()
		mine := filepath.Join(dir, "config", "cards", "worker.yaml")
		if err := os.MkdirAll(filepath.Dir(mine), 0o700); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(card), "tools: [read, find, edit, ", c.tools, 1)
		if !strings.Contains(text, c.tools) {
			t.Fatal("the worker's card has other tools than this test knows")
		}
		if err := os.WriteFile(mine, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"HOME": dir, "XDG_CACHE_HOME": testCache(t)}
		var out, stderr bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: &stderr, json: true, slept: slept, environ: func() []string { return nil }, getenv: func(name string) string { return env[name] }}
		if err := a.demoIn(t.Context(), dir, true, false); err != nil || a.exit != c.exit {
			t.Fatalf("%s: ended with %d, %v\n%s", c.tools, a.exit, err, &stderr)
		}
		r, landed := fold(t, out.Bytes()), 0
		for _, task := range r.finished.Tasks {
			if task.Status == "landed" {
				landed++
			}
		}
		if r.planned != 5 || len(r.finished.Tasks) != 5 || landed != c.landed {
			t.Errorf("%s: %d of %d tasks landed, %d planned", c.tools, landed, len(r.finished.Tasks), r.planned)
		}
	}
}

// With --keep the repository stays and is named with the command that shows its bill; without --fast the model takes its
// time.
func TestDemoKeeps(t *testing.T) {
	t.Parallel()
	text := string(colonySays(t, "demo", "--keep", "-q"))
	kept := regexp.MustCompile(`kept: cd (\S+) && .*--state-dir (\S+)`).FindStringSubmatch(text)
	if kept == nil {
		t.Fatalf("nothing says where it is kept: %s", text)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(filepath.Dir(kept[1])); err != nil {
			t.Error(err)
		}
	})
	if r := fold(t, colonySays(t, "-C", kept[1], "log", "--state-dir", kept[2], "--json")); r.fastest < 200 || len(r.finished.Tasks) != 5 {
		t.Errorf("a reply began after %d ms; %d tasks", r.fastest, len(r.finished.Tasks))
	}
	if bill := string(colonySays(t, "-C", kept[1], "cost", "--state-dir", kept[2])); !strings.Contains(bill, "worker-1") {
		t.Errorf("the bill of the demo: %s", bill)
	}
}

// shown is what the events of a demo say.
type shown struct {
	finished       event.RunFinished
	sum            event.Usage
	red            map[string]int // failed gates by place and task
	fastest        int64          // first byte, in milliseconds
	width, planned int            // ants of tasks at once; tasks of the plan
	verdicts       []string
	conflicts      []string // tasks
	mended         bool     // the last task in conflict landed later
}

func fold(t *testing.T, out []byte) shown {
	t.Helper()
	r := shown{red: map[string]int{}, fastest: 1 << 40}
	working := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		switch b := e.Body.(type) {
		case event.ModelReplied:
			r.sum = r.sum.Add(b.Usage)
			r.fastest = min(r.fastest, b.FirstByteMs)
		case event.GateDone:
			if b.Exit != 0 {
				r.red[b.Where+" "+e.Task]++
			}
		case event.AntHatched:
			if e.Task != "" {
				working[e.Ant] = true
				r.width = max(r.width, len(working))
			}
		case event.AntEnded:
			delete(working, e.Ant)
		case event.PlanMade:
			r.planned = len(b.Tasks)
		case event.ReviewDone:
			r.verdicts = append(r.verdicts, b.Verdict)
		case event.LandingDone:
			switch {
			case b.Outcome == "conflict":
				r.conflicts = append(r.conflicts, e.Task)
			case b.Outcome == "landed" && len(r.conflicts) > 0 && e.Task == r.conflicts[len(r.conflicts)-1]:
				r.mended = true
			}
		case event.RunFinished:
			r.finished = b
		}
	}
	return r
}

// colonySays is the standard output of a command without a home, keys or a server, which must end well and say nothing on
// the standard error.
func colonySays(t *testing.T, args ...string) []byte {
	t.Helper()
	binary, err := exec.LookPath("colony") // testscript put it on the path
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "HOME="+cmd.Dir, "XDG_CACHE_HOME="+testCache(t), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("colony %v: %v\n%s\n%s", args, err, &stderr, out[max(0, len(out)-2000):])
	}
	return out
}

// testCache stays in the checkout, so that only the first test builds the standard library.
func testCache(t *testing.T) string {
	t.Helper()
	cache, err := filepath.Abs(filepath.Join("..", "..", ".cache", "test"))
	if err != nil {
		t.Fatal(err)
	}
	return cache
}
