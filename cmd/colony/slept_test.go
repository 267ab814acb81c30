package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/event"

	"github.com/rogpeppe/go-internal/txtar"
)

// lid is a machine that is put to sleep when its first question opens. It reads the lines of a run.
type lid struct {
	mu     sync.Mutex // guards what follows
	asleep time.Duration
	opened []event.AskOpened
	out    bytes.Buffer
	again  chan struct{} // closed when the question is recorded again
}

func (l *lid) slept() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asleep
}

func (l *lid) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Write(p)
	for line := range bytes.Lines(p) {
		var e event.Event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		b, ok := e.Body.(event.AskOpened)
		if !ok {
			continue
		}
		l.asleep = 8 * time.Hour
		if l.opened = append(l.opened, b); len(l.opened) == 2 {
			close(l.again)
		}
	}
	return len(p), nil
}

const lidWorld = `
-- repo/base.txt --
base
-- plan.yaml --
tasks: [{id: a, title: A, prompt: A.}]
-- scenario.yaml --
name: any
cards:
  worker:
    a:
      - calls: [{tool: write, args: {path: a.txt, content: "a\n"}}]
      - calls: [{tool: done, args: {summary: made}}]
`

// contract 74: a machine that sleeps for longer than any limit fails nothing. The owner says so, the open question stays
// open for as long as it would have been, and its answer counts.
func TestMachineThatSleeps(t *testing.T) {
	v := newVictim(t, txtar.Parse([]byte(lidWorld)), "")
	defer v.gone(t)
	env := map[string]string{}
	for _, pair := range v.env() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	machine := &lid{asleep: time.Hour, again: make(chan struct{})}
	start := func(out interface{ Write([]byte) (int, error) }, args ...string) int {
		var stderr bytes.Buffer
		a := &app{
			args: append([]string{"-C", filepath.Join(v.dir, "repo")}, args...), in: strings.NewReader(""), out: out, err: &stderr,
			slept: machine.slept, environ: v.env, getenv: func(name string) string { return env[name] },
		}
		code := run(t.Context(), a)
		t.Logf("%s ended with %d %s", args[0], code, &stderr)
		return code
	}
	var answer sync.WaitGroup
	answer.Go(func() {
		<-machine.again
		if code := start(&bytes.Buffer{}, "answer", "worker-1.1", "allow"); code != 0 {
			t.Errorf("answer ended with %d", code)
		}
	})
	code := start(machine, "run", "-f", filepath.Join(v.dir, "plan.yaml"), "--model", "openai/any", "--gate", "true", "--json",
		"--mode", "ask", "--on-ask", "wait:1m", "--wall", "2h")
	if len(machine.opened) != 2 || code != 0 {
		t.Fatalf("ended with %d after %d questions\n%s", code, len(machine.opened), &machine.out)
	}
	answer.Wait()
	first, second := machine.opened[0], machine.opened[1]
	if first.Ask != second.Ask || second.Deadline.Sub(first.Deadline) != 7*time.Hour {
		t.Errorf("%s until %s, then %s until %s", first.Ask, first.Deadline, second.Ask, second.Deadline)
	}
	for _, want := range []string{`"code":"machine_slept","text":"the machine slept for 7h0m0s"`, `"answer":"allow"`, `"status":"landed"`} {
		if !strings.Contains(machine.out.String(), want) {
			t.Errorf("no %s in\n%s", want, &machine.out)
		}
	}
}

// The clocks of this machine agree that it did not sleep between two looks.
func TestMachineIsAwake(t *testing.T) {
	before := slept()
	if passed := slept() - before; passed < -time.Second || passed > time.Second {
		t.Errorf("it slept for %s", passed)
	}
}
