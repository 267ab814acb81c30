package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"colony/event"
)

// The demo lands three tasks after a gate that failed once, and its bill is that of the replies. Its build cache stays in
// the checkout, so that only the first test builds the standard library.
func TestDemo(t *testing.T) {
	r := fold(t, colonySays(t, "demo", "--fast", "--json"))
	if r.finished.Status != "landed" || r.finished.Exit != 0 || len(r.finished.Tasks) != 3 {
		t.Errorf("the demo ended as %s with exit %d and %d tasks", r.finished.Status, r.finished.Exit, len(r.finished.Tasks))
	}
	for _, task := range r.finished.Tasks {
		if task.Status != "landed" || !task.Verified || len(task.Receipt.Gates) == 0 {
			t.Errorf("task %s: %s, verified %v, %d gates", task.ID, task.Status, task.Verified, len(task.Receipt.Gates))
		}
	}
	if len(r.red) != 1 || r.red["task longest"] != 1 {
		t.Errorf("gates that failed: %v, want one of task longest", r.red)
	}
	if r.sum.Requests == 0 || r.sum != r.finished.Usage || r.finished.Price != event.Free {
		t.Errorf("the bill is %+v at price %s, the replies are %+v", r.finished.Usage, r.finished.Price, r.sum)
	}
	if r.slowest >= 250 {
		t.Errorf("--fast: a reply began after %d ms", r.slowest)
	}
}

// With --keep the repository stays and is named with the command that shows its bill; without --fast the model takes its
// time.
func TestDemoKeeps(t *testing.T) {
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
	if r := fold(t, colonySays(t, "-C", kept[1], "log", "--state-dir", kept[2], "--json")); r.fastest < 200 || len(r.finished.Tasks) != 3 {
		t.Errorf("a reply began after %d ms; %d tasks", r.fastest, len(r.finished.Tasks))
	}
	if bill := string(colonySays(t, "-C", kept[1], "cost", "--state-dir", kept[2])); !strings.Contains(bill, "worker-1") {
		t.Errorf("the bill of the demo: %s", bill)
	}
}

// shown is what the events of a demo say.
type shown struct {
	finished         event.RunFinished
	sum              event.Usage
	red              map[string]int // failed gates by place and task
	fastest, slowest int64          // first bytes, in milliseconds
}

func fold(t *testing.T, out []byte) shown {
	t.Helper()
	r := shown{red: map[string]int{}, fastest: 1 << 40}
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
			r.fastest, r.slowest = min(r.fastest, b.FirstByteMs), max(r.slowest, b.FirstByteMs)
		case event.GateDone:
			if b.Exit != 0 {
				r.red[b.Where+" "+e.Task]++
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
	cache, err := filepath.Abs(filepath.Join("..", "..", ".cache", "test"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "HOME="+cmd.Dir, "XDG_CACHE_HOME="+cache, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("colony %v: %v\n%s\n%s", args, err, &stderr, out[max(0, len(out)-2000):])
	}
	return out
}
