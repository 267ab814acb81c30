package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"colony/event"

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
	t.Parallel()
	points, seed := 2, uint64(1)
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
	landed, replies, billed := map[string]int{}, int64(0), tokens{}
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
				billed = billed.plus(tokens{b.Usage.Input, b.Usage.Cached, b.Usage.CacheWrite, b.Usage.Output, b.Usage.Reasoning})
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
	gave, counted := v.served()
	if replies > gave || gave > replies+lost+aborted || aborted > 0 && v.gentle == 0 {
		t.Errorf("%d replies on the bill, %d lost and %d cut, the server gave %d", replies, lost, aborted, gave)
	}
	if replies == gave && billed != counted {
		t.Errorf("the bill has %v tokens, the server counted %v", billed, counted)
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
