package main

import (
	"context"
	"fmt"
	"math/rand"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"colony/event"
	"colony/model/scripted"
)

const (
	swarmTasks   = 40
	swarmAnts    = 12
	swarmLatency = 300 * time.Millisecond // of each of the two replies of a task
	swarmGate    = 200 * time.Millisecond
	swarmBatch   = 8
	swarmRuns    = 5
)

// swarm carries a plan out and returns what it took; all its tasks must land.
func (w *benchWorld) swarm(b *testing.B, scenario scripted.Scenario, plan, gate string, ants int) time.Duration {
	server, err := scripted.Serve(b.Context(), scripted.Parts{Scenarios: []scripted.Scenario{scenario}})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(b.Context(), benchLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.bin, "run", "-C", w.repo, "-f", plan, "--json", "--yes", "--model", "openai/any",
		"--gate", gate, "--state-dir", w.state, "--ants", fmt.Sprint(ants))
	cmd.Env = w.environ(server.URL)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out[max(0, len(out)-4000):])
	}
	return time.Since(began)
}

// writes is a scenario in which each task runs a command and is done.
func writes(latency time.Duration, commands map[string]string) scripted.Scenario {
	tasks := map[string][]scripted.Turn{}
	for task, command := range commands {
		tasks[task] = []scripted.Turn{
			{Latency: latency, Calls: []scripted.Call{{Tool: "sh", Args: map[string]any{"command": command}}}},
			{Latency: latency, Calls: []scripted.Call{{Tool: "done", Args: map[string]any{"summary": "made"}}}},
		}
	}
	return scripted.Scenario{Name: "any", Cards: map[string]map[string][]scripted.Turn{"worker": tasks}}
}

// bigPlan is a random plan of 40 tasks, each of which makes a file, and how many tasks its longest path has.
func bigPlan() (text string, commands map[string]string, deepest int) {
	random, b := rand.New(rand.NewSource(1)), &strings.Builder{}
	commands = map[string]string{}
	depth := make([]int, swarmTasks)
	b.WriteString("goal: measure\ntasks:\n")
	for i := range swarmTasks {
		var needs []string
		for j := range i {
			if random.Intn(12) == 0 {
				needs = append(needs, fmt.Sprintf("t%d", j))
				depth[i] = max(depth[i], depth[j]+1)
			}
		}
		deepest = max(deepest, depth[i]+1)
		fmt.Fprintf(b, "  - {id: t%d, title: Measure, prompt: Do it., needs: [%s]}\n", i, strings.Join(needs, ", "))
		commands[fmt.Sprintf("t%d", i)] = fmt.Sprintf("echo x > made%d.txt", i)
	}
	return b.String(), commands, deepest
}

// measureSwarm is a random plan of 40 tasks with 12 ants against the bound of what could not be faster: the critical path
// with each task's own gate and landing, the ants' time over the ants, the landings over the batch.
func measureSwarm(b *testing.B, w *benchWorld, t *figures) {
	text, commands, deepest := bigPlan()
	ant := 2*swarmLatency + swarmGate
	bound := max(time.Duration(deepest)*(ant+swarmGate), swarmTasks*ant/swarmAnts, swarmTasks*swarmGate/swarmBatch)
	plan := w.write(b, "swarm.yaml", text)
	var all sample
	var ratios []float64
	for range 3 {
		took := w.swarm(b, writes(swarmLatency, commands), plan, fmt.Sprintf("sleep %.1f", swarmGate.Seconds()), swarmAnts)
		all, ratios = append(all, took), append(ratios, float64(took)/float64(w.ownBound(b)))
	}
	t.times(fmt.Sprintf("40 tasks, 12 ants, path of %d (bound %d ms)", deepest, bound.Milliseconds()), all, fmt.Sprint((bound * 13 / 10).Milliseconds()))
	t.ratios("the same by the bound that its own log gives", ratios, "1.30")
}

// ownBound is the same bound of the last run with what its own log says that its ants, gates and landings took.
func (w *benchWorld) ownBound(b *testing.B) time.Duration {
	claimed, landing := map[string]time.Time{}, map[string]time.Time{}
	ants, lands, needs := map[string]time.Duration{}, map[string]time.Duration{}, map[string][]string{}
	for e, err := range w.last(b).Events(b.Context()) {
		if err != nil {
			b.Fatal(err)
		}
		switch d := e.Body.(type) {
		case event.TaskReady:
			needs[e.Task] = d.Needs
		case event.TaskClaimed:
			claimed[e.Task] = e.Time
		case event.AntEnded:
			ants[e.Task] += e.Time.Sub(claimed[e.Task])
		case event.LandingStarted:
			landing[e.Task] = e.Time
		case event.LandingDone:
			lands[e.Task] += e.Time.Sub(landing[e.Task])
		}
	}
	var path func(string) time.Duration
	path = func(task string) time.Duration {
		var longest time.Duration
		for _, need := range needs[task] {
			longest = max(longest, path(need))
		}
		return longest + ants[task] + lands[task]
	}
	var longest, worked, landed time.Duration
	for task := range ants {
		longest, worked, landed = max(longest, path(task)), worked+ants[task], landed+lands[task]
	}
	return max(longest, worked/swarmAnts, landed/swarmBatch)
}

// measureOneFile is eight tasks that each edit a line of one file, twenty apart, side by side and one after the other.
func measureOneFile(b *testing.B, w *benchWorld, t *figures) {
	w.write(b, "repo/one.txt", strings.Repeat("a line\n", 180))
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "one file"}} {
		git := exec.Command("git", append([]string{"-C", w.repo}, args...)...)
		git.Env = w.environ("")
		if out, err := git.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v: %s", git.Args, err, out)
		}
	}
	text, commands := &strings.Builder{}, map[string]string{}
	text.WriteString("goal: measure\ntasks:\n")
	for i := range 8 {
		fmt.Fprintf(text, "  - {id: t%d, title: Measure, prompt: Edit one.txt.}\n", i)
		commands[fmt.Sprintf("t%d", i)] = fmt.Sprintf("sed -i '%ds/.*/task %d/' one.txt", 20*i+10, i)
	}
	plan := w.write(b, "one.yaml", text.String())
	var beside, serial sample
	for range swarmRuns {
		serial = append(serial, w.swarm(b, writes(0, commands), plan, "true", 1))
		beside = append(beside, w.swarm(b, writes(0, commands), plan, "true", 8))
	}
	slices.Sort(serial)
	t.times("8 tasks on one file, one after the other", serial, "")
	t.times("8 tasks on one file, side by side", beside, fmt.Sprint((serial[len(serial)/2] * 11 / 10).Milliseconds()))
	for e, err := range w.last(b).Events(b.Context()) {
		if d, ok := e.Body.(event.LandingDone); err != nil || ok && d.Outcome != "landed" {
			b.Errorf("%s: %s, %v", e.Task, d.Outcome, err)
		}
	}
}

// measureHot is eight tasks that add a line at the end of one file, so that none joins what landed meanwhile, side by side
// and one after the other.
func measureHot(b *testing.B, w *benchWorld, t *figures) {
	scenario, text := scripted.Scenario{Name: "any", Cards: map[string]map[string][]scripted.Turn{"worker": {}}}, &strings.Builder{}
	text.WriteString("goal: measure\ntasks:\n")
	for i := range 8 {
		fmt.Fprintf(text, "  - {id: t%d, title: Measure, prompt: Add a line to hot.txt.}\n", i)
		task := fmt.Sprintf("t%d", i)
		turns := writes(swarmLatency, map[string]string{task: fmt.Sprintf("echo task %d >>hot.txt", i)})
		mend := writes(swarmLatency, map[string]string{task: `sed -i '/^[<=>|]\{7\}/d' hot.txt`}).Cards["worker"][task]
		scenario.Cards["worker"][task] = append(turns.Cards["worker"][task], mend...)
	}
	plan := w.write(b, "hot.yaml", text.String())
	var beside, serial sample
	for range swarmRuns {
		serial = append(serial, w.swarm(b, scenario, plan, "true", 1))
		beside = append(beside, w.swarm(b, scenario, plan, "true", 8))
	}
	slices.Sort(serial)
	t.times("8 tasks on one hot line, one after the other", serial, "")
	t.times("8 tasks on one hot line, side by side", beside, fmt.Sprint(serial[len(serial)/2].Milliseconds()))
}
