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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"colony/event"
	"colony/model/scripted"

	"github.com/rogpeppe/go-internal/txtar"
)

// JR01, contract 68, law 5.
//
// TestKillAnywhere kills the built command at random moments of a run, and of the resumes after it, until the run ends:
// the final tree is that of a run that nobody killed, every task landed once, no effect ran twice, no provider refused the
// rebuilt conversation, and every reply that was received whole is on the bill or marked lost.
//
// COLONY_KILL is how many points each scenario is killed at. With it, half of them are at the named points of failpoint,
// spread evenly over those that a whole run hits.
func TestKillAnywhere(t *testing.T) {
	points, seed := 3, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("COLONY_KILL")); err == nil {
		points, seed = n, uint64(time.Now().UnixNano())
	}
	files, err := filepath.Glob("testdata/kill/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenario", err)
	}
	pointed := ""
	if os.Getenv("COLONY_KILL") != "" {
		pointed = withPoints(t)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			whole := newVictim(t, archive, filepath.Join(built, "colony"))
			if code := whole.colony(t, 0, "", whole.run()...); code != 0 {
				t.Fatalf("the run that nobody kills ended with %d: %s", code, whole.said)
			}
			took := time.Since(whole.planned)
			hits := 0
			if pointed != "" {
				hits = traced(t, archive, pointed)
			}
			r := rand.New(rand.NewPCG(seed, 7))
			tally := tally{}
			for i := range points {
				v := newVictim(t, archive, filepath.Join(built, "colony"))
				if hits > 0 && i%2 == 1 {
					v.bin = pointed
				}
				if name == "shutdown" {
					v.gentle = time.Duration(1+r.Int64N(300)) * time.Millisecond
				}
				v.first = 1 + (hits*i/points+r.IntN(1+hits/points))%max(hits, 1)
				v.killed(t, r, took, hits)
				v.compare(t, whole, &tally)
				if t.Failed() {
					t.Fatalf("point %d of seed %d: %s\nkept in %s", i, seed, strings.Join(v.story, "; "), v.keep(t))
				}
				v.gone(t)
			}
			t.Logf("%-9s %4d points, %4d kills, %3d calls unclear, %3d replies lost, %4d before a plan; from its plan a run takes %s", name, points, tally.kills, tally.unclear, tally.lost, tally.early, took.Round(time.Millisecond))
		})
	}
}

// withPoints builds the command with the points of failpoint.
func withPoints(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "colony")
	if out, err := exec.Command("go", "build", "-tags", "failpoints", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v %s", err, out)
	}
	return bin
}

// tally is what a scenario's points came to.
type tally struct{ kills, unclear, lost, early int }

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

// compare wants of a run that was killed what the whole one came to.
func (v *victim) compare(t *testing.T, whole *victim, all *tally) {
	t.Helper()
	if t.Failed() {
		return
	}
	events := v.events(t)
	all.kills += strings.Count(strings.Join(v.story, " "), "with -1")
	all.early += v.early
	unclear, lost, aborted := 0, int64(0), int64(0)
	landed, replies := map[string]int{}, int64(0)
	var finished event.RunFinished
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.ToolDone:
			if b.Rule == "unclear" {
				unclear++
			}
		case event.LandingDone:
			if b.Outcome == "landed" {
				landed[e.Task]++
			}
		case event.ModelReplied:
			switch b.Outcome {
			case "ok":
				replies++
			case "lost":
				lost++
			case "aborted":
				aborted++
			default:
				t.Errorf("a request was %s", b.Outcome)
			}
		case event.RunFinished:
			finished = b
		}
	}
	all.unclear += unclear
	all.lost += int(lost)
	for task, n := range landed {
		if n != 1 {
			t.Errorf("%s landed %d times", task, n)
		}
	}
	if finished.Status != "landed" || len(finished.Unclear) != unclear {
		t.Errorf("finished as %s with %d calls unclear, the log has %d", finished.Status, len(finished.Unclear), unclear)
	}
	v.sameTree(t, whole)
	if gave := v.served(); replies > gave || gave > replies+lost+aborted || aborted > 0 && v.gentle == 0 {
		t.Errorf("%d replies on the bill, %d lost and %d cut, the server gave %d", replies, lost, aborted, gave)
	}
}

// sameTree wants the tree of the whole run; of a heedless model, that no effect happened twice.
func (v *victim) sameTree(t *testing.T, whole *victim) {
	t.Helper()
	if !v.heedless {
		if got, want := v.git(t, "ls-tree", "-r", "colony/"+v.name()), whole.git(t, "ls-tree", "-r", "colony/"+whole.name()); got != want {
			t.Errorf("the tree is\n%s\nwant\n%s", got, want)
		}
		return
	}
	lines := []string{}
	if v.git(t, "ls-tree", "colony/"+v.name(), "list.txt") != "" {
		lines = strings.Fields(v.git(t, "show", "colony/"+v.name()+":list.txt"))
	}
	if sorted := slices.Sorted(slices.Values(lines)); len(slices.Compact(sorted)) != len(lines) {
		t.Errorf("an effect ran twice: %q", lines)
	}
}

// served is how many whole replies the server gave.
func (v *victim) served() (replies int64) {
	for _, row := range v.server.Counts().Rows {
		replies += row.Replies
	}
	return replies
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
