package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"colony/event"
	"colony/hatch"
)

// benchWorld is a home and a repository of 50 files in which colony is started.
type benchWorld struct{ bin, dir, repo, home, state string }

func newBenchWorld(b *testing.B, bin string) *benchWorld {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	w := &benchWorld{bin: bin, dir: dir, repo: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home"), state: filepath.Join(dir, "state")}
	for i := range 50 {
		w.write(b, fmt.Sprintf("repo/pkg/file%02d.txt", i), strings.Repeat(fmt.Sprintf("a line of file %d\n", i), 60))
	}
	w.write(b, "home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.test\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}} {
		git := exec.Command("git", append([]string{"-C", w.repo}, args...)...)
		git.Env = w.environ("")
		if out, err := git.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v: %s", git.Args, err, out)
		}
	}
	return w
}

func (w *benchWorld) write(b *testing.B, name, text string) string {
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

func (w *benchWorld) environ(url string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb",
		"OPENAI_API_KEY=x", "OPENAI_BASE_URL=" + url}
}

// plan is a plan of n tasks that need nothing.
func (w *benchWorld) plan(b *testing.B, n int) string {
	var text strings.Builder
	text.WriteString("goal: measure\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {id: t%d, title: Measure, prompt: Do what the model says.}\n", i+1)
	}
	return w.write(b, "plan.yaml", text.String())
}

// forget removes colony's state.
func (w *benchWorld) forget(b *testing.B) {
	if err := os.RemoveAll(w.state); err != nil {
		b.Fatal(err)
	}
}

// benchRun is colony at work, and the model it talks to.
type benchRun struct {
	model *benchModel
	cmd   *exec.Cmd
	ended chan struct{}
	said  bytes.Buffer // read it after ended
}

// start starts colony as a person would; the clock of a caller runs from before it.
func (w *benchWorld) start(b *testing.B, script benchScript, plan string, flags ...string) *benchRun {
	run := &benchRun{model: serveBench(script), ended: make(chan struct{})}
	ctx, cancel := context.WithTimeout(b.Context(), benchLimit)
	run.cmd = exec.CommandContext(ctx, w.bin, append([]string{"run", "-C", w.repo, "-f", plan, "--json", "--yes", "--model", "openai/any",
		"--gate", "true", "--state-dir", w.state}, flags...)...)
	run.cmd.Env = w.environ(run.model.URL + "/v1")
	run.cmd.Stderr = &run.said
	if err := run.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		defer close(run.ended)
		defer cancel()
		_ = run.cmd.Wait() // how it ended is not what is measured; what it did is checked
	}()
	b.Cleanup(func() { cancel(); <-run.ended; run.model.Close() })
	return run
}

// request is when the nth request came.
func (r *benchRun) request(b *testing.B, n int) (at time.Time) {
	r.model.until(b, r.ended, func() bool {
		if len(r.model.visits) < n {
			return false
		}
		at = r.model.visits[n-1].arrived
		return true
	})
	return at
}

func (r *benchRun) silent(b *testing.B, n int) {
	r.model.until(b, r.ended, func() bool { return r.model.silent >= n })
}

func (r *benchRun) wait(b *testing.B) {
	<-r.ended
	if code := r.cmd.ProcessState.ExitCode(); code != 0 && code != 6 {
		b.Fatalf("colony ended with %d: %s", code, r.said.String())
	}
	r.model.Close()
}

// stop interrupts colony twice.
func (r *benchRun) stop(b *testing.B) {
	for range 2 {
		if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			b.Fatal(err)
		}
	}
	<-r.ended
}

// pss is what the process holds of the machine's memory, in bytes.
func (r *benchRun) pss(b *testing.B) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", r.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var kilo int64
		if n, _ := fmt.Sscanf(line, "Pss: %d kB", &kilo); n == 1 {
			return kilo * 1024
		}
	}
	b.Fatalf("no Pss in %s", data)
	return 0
}

// last is the run that was started last, as soon as it has a log.
func (w *benchWorld) last(b *testing.B) hatch.Past {
	house := hatch.Locate(hatch.Places{Dir: w.repo, State: w.state})
	past, err := house.Find("@")
	if err != nil {
		b.Fatal(err)
	}
	return past
}

// told is what the last run's log says of its sandbox, and how many calls came to something.
func (w *benchWorld) told(b *testing.B) (mechanism string, calls int) {
	for e, err := range w.last(b).Events(b.Context()) {
		if err != nil {
			b.Fatal(err)
		}
		switch body := e.Body.(type) {
		case event.RunStarted:
			mechanism = body.Sandbox.Level + " by " + body.Sandbox.Mechanism
		case event.ToolDone:
			if body.Fault == "" && (body.Exit == nil || *body.Exit == 0) {
				calls++
			}
		}
	}
	return mechanism, calls
}

// follow reads the run that was just started to its end, and returns how late each of its events came. What was there
// before it looked is left out.
func (w *benchWorld) follow(b *testing.B) (all sample) {
	ctx, cancel := context.WithTimeout(b.Context(), benchLimit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var past hatch.Past
	for past = w.last(b); !past.Owned() && ctx.Err() == nil; past = w.last(b) {
		<-tick.C
	}
	began := time.Now()
	for e, err := range past.Follow(ctx) {
		if err != nil {
			b.Fatal(err)
		}
		if e.Time.After(began) {
			all = append(all, time.Since(e.Time))
		}
	}
	return all
}
