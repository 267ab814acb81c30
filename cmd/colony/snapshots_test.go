package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/event"
	"colony/hatch"
	"colony/ledger"
)

// What a long log came to is kept beside it and gone on with, with the same numbers; what was kept of another log, or is torn,
// is not used; what was forged is named by the proof.
func TestLongLogsAreFoldedOnce(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "repo")
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	house := hatch.Locate(hatch.Places{Dir: root, State: filepath.Join(home, "state")})
	dir := filepath.Join(home, "state", "repos", "repo-x", "runs", "r-long")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	appendTo := func(events ...event.Event) {
		store, err := event.Open(t.Context(), dir, event.Parts{Run: "r-long", Now: time.Now})
		if err == nil {
			_, err = store.Append(t.Context(), events...)
		}
		if err == nil {
			err = store.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var events []event.Event
	for i := range 11_000 {
		events = append(events, charge(i)...)
	}
	appendTo(events...)
	if err := os.WriteFile(filepath.Join(dir, "started"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pasts, err := house.Everywhere()
	if err != nil || len(pasts) != 1 {
		t.Fatalf("%v, %v", pasts, err)
	}
	kept := filepath.Join(dir, "bill")
	account := func(want int64) *ledger.Run {
		t.Helper()
		run, err := pasts[0].Account(t.Context())
		if err != nil || run.Cells[0].Usage.Requests != want {
			t.Fatalf("%d requests of %d, %v", run.Cells[0].Usage.Requests, want, err)
		}
		return run
	}
	faults := func() string {
		t.Helper()
		proof, err := pasts[0].Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(proof.Faults, "\n")
	}
	account(11_000)
	first, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(charge(11_000)...)
	run := account(11_001)
	if now, err := os.ReadFile(kept); err != nil || !bytes.Equal(now, first) {
		t.Errorf("it was written again for a little: %v", err)
	}
	if said := faults(); said != "" {
		t.Errorf("the proof says %s", said)
	}
	put := func(data []byte) {
		if err := os.WriteFile(kept, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(first[:len(first)/2])
	account(11_001)
	run.Cells[0].Usage.Input++
	other, err := run.Snapshot(strings.Repeat("0", 64))
	if err != nil {
		t.Fatal(err)
	}
	put(other)
	account(11_001)
	if said := faults(); said != "" {
		t.Errorf("of another log, and the proof says %s", said)
	}
	sum := strings.Fields(string(first))[2]
	put(first)
	forged, _, err := ledger.Restore(first, nil)
	if err == nil {
		forged.Cells[0].Usage.Input++
		other, err = forged.Snapshot(sum)
	}
	if err != nil {
		t.Fatal(err)
	}
	put(other)
	if said := faults(); !strings.Contains(said, "is not what the log gives") {
		t.Errorf("it was forged, and the proof says %q", said)
	}
}

func charge(i int) []event.Event {
	e, name, usd := event.Event{Task: "t", Ant: "a"}, fmt.Sprintf("a.%d", i), event.PicoUSD(1)
	asked, replied := e, e
	asked.Body = event.ModelRequested{Request: name, Attempt: 1, Provider: "p", Model: "m", ReservedUSD: &usd, ReservedTokens: 9, OutputLimit: 3}
	replied.Body = event.ModelReplied{Request: name, Attempt: 1, Outcome: "ok", USD: &usd, Price: event.Known, Usage: event.Usage{Requests: 1, Input: 5, Output: 1}}
	return []event.Event{asked, replied}
}
