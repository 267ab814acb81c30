package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"colony/event"
	"colony/model/scripted"

	"github.com/rogpeppe/go-internal/txtar"
)

// victim is a run that is killed.
type victim struct {
	dir, bin string
	id       int // of its runs: one that died before it had a plan begins anew
	early    int
	first    int // the hit of a point at which its first life ends
	server   *scripted.Server
	planned  time.Time
	said     []byte
	story    []string
	heedless bool
	gentle   time.Duration // between a SIGTERM and the SIGKILL after it; 0 where there is none
	when     string        // in the line from which its time counts; empty where it counts from the start or the resume
}

func newVictim(t *testing.T, archive *txtar.Archive, bin string) *victim {
	t.Helper()
	dir, err := os.MkdirTemp("", "colony-kill-")
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{dir: dir, bin: bin}
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	scenario, err := scripted.Parse("scenario.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	v.heedless = scenario.Heedless
	if v.server, err = scripted.Serve(context.Background(), scripted.Parts{Scenarios: []scripted.Scenario{scenario}}); err != nil {
		t.Fatal(err)
	}
	v.git(t, "init", "-q", "-b", "main")
	v.git(t, "add", "-A")
	v.git(t, "commit", "-q", "-m", "base")
	return v
}

func (v *victim) gone(t *testing.T) {
	t.Helper()
	if err := v.server.Close(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(v.dir); err != nil {
		t.Error(err)
	}
}

func (v *victim) keep(t *testing.T) string {
	if err := v.server.Close(); err != nil {
		t.Error(err)
	}
	return v.dir
}

func (v *victim) env() []string {
	return []string{"HOME=" + filepath.Join(v.dir, "home"), "PATH=" + os.Getenv("PATH"), "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1", "OPENAI_BASE_URL=" + v.server.URL,
		"OPENAI_API_KEY=none", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@x", "COLONY_LIMITS_STOP=200ms"}
}

func (v *victim) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = filepath.Join(v.dir, "repo"), v.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (v *victim) name() string { return fmt.Sprintf("r-%d", v.id) }

func (v *victim) run() []string {
	what := []string{"run", "-f", filepath.Join(v.dir, "plan.yaml")}
	if _, err := os.Stat(what[2]); err != nil {
		what = []string{"run", "Do it all."}
	}
	return append(what, "--model", "openai/any", "--gate", "true", "--run-id", v.name(), "--json", "--ants", "4")
}

// colony runs the command and kills it after a time, from when there is a plan, or at a point; its exit code is -1 then.
func (v *victim) colony(t *testing.T, after time.Duration, point string, args ...string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, v.bin, args...)
	cmd.Dir, cmd.Env = filepath.Join(v.dir, "repo"), v.env()
	if point != "" {
		cmd.Env = append(cmd.Env, "COLONY_FAILPOINT="+point)
	}
	var out bytes.Buffer
	cmd.Stderr = &out
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 16<<20)
	var kept bytes.Buffer
	for lines.Scan() {
		kept.Write(append(lines.Bytes(), '\n'))
		if v.begun(lines.Bytes()) {
			v.planned = time.Now()
			if after > 0 {
				if v.gentle > 0 {
					timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(syscall.SIGTERM) }) // it may be over
					defer timer.Stop()
				}
				timer := time.AfterFunc(after+v.gentle, func() { _ = cmd.Process.Signal(syscall.SIGKILL) }) // it may be over
				defer timer.Stop()
			}
		}
	}
	_ = cmd.Wait() // the code is returned
	if ctx.Err() != nil {
		t.Fatalf("colony %s hangs: %s", args[0], out.Bytes())
	}
	v.said = append(kept.Bytes(), out.Bytes()...)
	return cmd.ProcessState.ExitCode()
}

func (v *victim) begun(line []byte) bool {
	if v.when != "" {
		return bytes.Contains(line, []byte(v.when))
	}
	return bytes.Contains(line, []byte(`"type":"run.started"`)) || bytes.Contains(line, []byte(`"type":"run.resumed"`))
}

// killed runs and resumes until the run is over. It is killed three times at most.
func (v *victim) killed(t *testing.T, r *rand.Rand, took time.Duration, hits int) {
	t.Helper()
	args := v.run()
	for life := 0; ; life++ {
		after, point := time.Duration(0), ""
		switch {
		case life >= 3 || life > 0 && r.IntN(2) == 0:
		case hits > 0 && v.bin != filepath.Join(built, "colony"):
			point = fmt.Sprintf("*:%d", 1+r.IntN(hits))
			if life == 0 {
				point = fmt.Sprintf("*:%d", v.first)
			}
		default:
			after = time.Duration(r.Int64N(int64(took))) + time.Millisecond
		}
		code := v.colony(t, after, point, args...)
		v.story = append(v.story, fmt.Sprintf("%s (after %s, at %q) ended with %d", args[0], after, point, code))
		switch {
		case code == 0:
			return
		case code == -1 || code == 143:
			args = []string{"resume", v.name(), "--json"}
		case code == 2 && (bytes.Contains(v.said, []byte("no_run")) || bytes.Contains(v.said, []byte("died before it began"))):
			v.early++
			v.id++
			args = v.run()
		case code == 2 && bytes.Contains(v.said, []byte("has ended well")):
			return
		default:
			t.Errorf("ended with %d: %s", code, v.said)
			return
		}
	}
}

// tokens are those of input, read from and written to the cache, of output and of reasoning.
type tokens [5]int64

func (t tokens) plus(u tokens) tokens {
	for i := range t {
		t[i] += u[i]
	}
	return t
}

// served is how many whole replies the server gave, and their tokens.
func (v *victim) served() (replies int64, counted tokens) {
	for _, row := range v.server.Counts().Rows {
		replies += row.Replies
		counted = counted.plus(tokens{row.Input, row.Cached, row.CacheWrite, row.Output, row.Reasoning})
	}
	return replies, counted
}

func (v *victim) events(t *testing.T) (all []event.Event) {
	t.Helper()
	if code := v.colony(t, 0, "", "log", v.name(), "--json"); code != 0 {
		t.Fatalf("log ended with %d: %s", code, v.said)
	}
	lines := bufio.NewScanner(bytes.NewReader(v.said))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		all = append(all, e)
	}
	return all
}

// traced is how many points of failpoint a whole run hits.
func traced(t *testing.T, archive *txtar.Archive, bin string) int {
	t.Helper()
	v := newVictim(t, archive, bin)
	defer v.gone(t)
	trace := filepath.Join(v.dir, "trace")
	cmd := exec.Command(bin, v.run()...)
	cmd.Dir, cmd.Env = filepath.Join(v.dir, "repo"), append(v.env(), "COLONY_FAILPOINT_TRACE="+trace)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hits, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(hits, []byte("\n"))
}
