package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"colony/event"
)

const (
	billRuns    = 10
	billAnts    = 100 // of a run
	billCharges = 1_000_000
	billGroup   = 5000 // events of one append
)

// measureBill is `colony cost --by ant` over a repository whose logs hold a million charges: with nothing kept beside them,
// and from what the first look kept.
func measureBill(b *testing.B, w *benchWorld, t *figures) {
	w.start(b, refuseAll, w.plan(b, 1)).wait(b)
	homes, err := filepath.Glob(filepath.Join(w.state, "repos", "*", "runs"))
	if err != nil || len(homes) != 1 {
		b.Fatalf("%v, %v", homes, err)
	}
	began := time.Now()
	for i := range billRuns {
		writeBillLog(b, filepath.Join(homes[0], fmt.Sprintf("r-bill-%d", i)), fmt.Sprintf("r-bill-%d", i))
	}
	t.rate("charges written (request and reply)", billCharges, time.Since(began))
	var size int64
	err = filepath.WalkDir(homes[0], func(_ string, d fs.DirEntry, err error) error {
		if info, infoErr := d.Info(); infoErr == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	t.memory("logs of 1,000,000 charges on the disk", []int64{size}, "")
	look := func() time.Duration {
		cmd := exec.CommandContext(b.Context(), w.bin, "cost", "-C", w.repo, "--by", "ant", "--json", "--state-dir", w.state)
		cmd.Env = w.environ("")
		began := time.Now()
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		took := time.Since(began)
		var table struct {
			Rows  []json.RawMessage
			Total struct{ Usage event.Usage }
		}
		if err != nil || json.NewDecoder(bytes.NewReader(out)).Decode(&table) != nil || table.Total.Usage.Requests < billCharges || len(table.Rows) < billRuns*billAnts {
			b.Fatalf("%v: %d rows, %+v: %s", err, len(table.Rows), table.Total, said.String()+string(out[:min(len(out), 600)]))
		}
		return took
	}
	first := look()
	t.times("bill of 1,000,000 charges by ant, from nothing", sample{first}, "10000")
	t.rate("charges folded", billCharges, first)
	var quick sample
	for range 5 {
		quick = append(quick, look())
	}
	t.times("the same, from snapshots", quick, "2000")
}

// writeBillLog writes a log as a run of many requests leaves it.
func writeBillLog(b *testing.B, dir, run string) {
	store, err := event.Open(b.Context(), dir, event.Parts{Run: run, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	if err := os.WriteFile(filepath.Join(dir, "started"), nil, 0o600); err != nil {
		b.Fatal(err)
	}
	var group []event.Event
	add := func(e event.Event) {
		if group = append(group, e); len(group) < billGroup {
			return
		}
		if _, err := store.Append(b.Context(), group...); err != nil {
			b.Fatal(err)
		}
		group = nil
	}
	add(event.Event{Body: event.RunStarted{Cards: []event.Card{{Name: "worker", Source: "built-in", SHA256: "aaaaaaaa"}}}})
	content := json.RawMessage(`{"role":"assistant","text":"I read the file that the test names, and change the function that it calls."}`)
	for i := range billCharges / billRuns {
		ant := fmt.Sprintf("worker-%d", i%billAnts)
		at := event.Event{Task: "t-" + ant, Ant: ant}
		if i < billAnts {
			at.Body = event.AntHatched{Card: "worker", CardHash: "aaaaaaaa", Attempt: 1}
			add(at)
		}
		request, reserved, usd := fmt.Sprintf("%s.%d", ant, i/billAnts+1), event.PicoUSD(30_000_000_000), event.PicoUSD(12_345_678_901)
		at.Body = event.ModelRequested{Request: request, Attempt: 1, Provider: "openai", Model: "gpt-5.2", ReservedUSD: &reserved, ReservedTokens: 40_000, OutputLimit: 16_384}
		add(at)
		at.Body = event.ModelReplied{
			Request: request, Attempt: 1, Outcome: "ok", Finish: "calls", Content: content, USD: &usd, Price: event.Known, RateDate: "2025-12-11",
			Rate: "1.75/0.175/1.75/14 batch=50% flex=50%", Usage: event.Usage{Requests: 1, Input: 20_000 + int64(i), Cached: 15_000, Output: 700, Reasoning: 300},
			FirstByteMs: 800, Ms: 4000,
		}
		add(at)
	}
	group = append(group, event.Event{Body: event.RunFinished{Status: "landed"}})
	if _, err := store.Append(b.Context(), group...); err != nil {
		b.Fatal(err)
	}
}
