//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/hatch"
)

// What was said in a run goes 30 days after its end; its charges and receipts stay, and the bill, its proof and blame are what
// they were.
func TestBillsOutliveConversations(t *testing.T) {
	w := newCanaryWorld(t, canaryScenario)
	w.put("plan.yaml", "tasks:\n  - {id: a, title: A, prompt: Write it.}\n")
	w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--run-id", "r-old", "--gate", "true")
	w.run("colony", "land", "r-old")
	said := func() string {
		bill := w.run("colony", "cost", "r-old", "--by", "card", "--json")
		who := w.run("colony", "blame", "made.txt")
		if !strings.Contains(bill, `"landed_lines": 1`) || !strings.Contains(who, "worker-1 a r-old") {
			t.Fatalf("%s\n%s", bill, who)
		}
		return bill + who
	}
	before := said()
	places := hatch.Places{Dir: filepath.Join(w.dir, "repo"), State: filepath.Join(w.dir, "state", "colony")}
	tidy := func(days int) hatch.Tidied {
		tidied, err := hatch.Locate(places).Tidy(context.Background(), time.Now().Add(time.Duration(days)*24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return tidied
	}
	logs := func() int {
		found, err := filepath.Glob(filepath.Join(places.State, "repos", "*", "runs", "r-old", "events.db"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if tidied := tidy(29); logs() != 1 {
		t.Fatalf("gone after 29 days: %+v", tidied)
	}
	if tidied := tidy(31); logs() != 0 {
		t.Fatalf("there after 31 days: %+v", tidied)
	}
	if after := said(); after != before {
		t.Errorf("the bill was\n%s\nand is\n%s", before, after)
	}
	kept, err := filepath.Glob(filepath.Join(places.State, "ledger", "*.jsonl"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v", kept, err)
	}
	text, err := os.ReadFile(kept[0])
	if err != nil || strings.Contains(string(text), "Write it.") || !strings.Contains(string(text), `"type":"gate.done"`) {
		t.Errorf("%s, %v", text, err)
	}
}
