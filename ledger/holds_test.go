package ledger_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/event"
	"colony/ledger"
	"colony/ledger/report"
)

// turn is a request of an ant and its reply, at a second.
func turn(at int, request string, u event.Usage, more ...func(*event.ModelReplied)) []event.Event {
	u.Requests = 1
	usd := event.PicoUSD(2_000_000*(u.Input-u.Cached) + 200_000*u.Cached + 8_000_000*u.Output)
	m := event.ModelReplied{Request: request, Attempt: 1, Outcome: "ok", Usage: u, USD: &usd, Price: event.Known, Rate: "2/0.2/2/8", RateDate: "2026-10-01"}
	for _, f := range more {
		f(&m)
	}
	e := event.Event{Run: "r", Task: "t", Ant: "a", Time: time.Unix(int64(at), 0).UTC()}
	asked, replied := e, e
	asked.Body = event.ModelRequested{Request: request, Attempt: 1, Provider: "p", Model: "m", ReservedUSD: &usd, ReservedTokens: 9}
	replied.Body = m
	return []event.Event{asked, replied}
}

func called(tool, text string, seen ...event.Seen) event.Event {
	return event.Event{Run: "r", Task: "t", Ant: "a", Body: event.ToolDone{Tool: tool, Text: text, Seen: seen}}
}

func blobs(texts map[string]string) func(string) ([]byte, error) {
	return func(sum string) ([]byte, error) {
		if text, ok := texts[sum]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
}

// What a tool brought is what the next request grew by, shared by bytes; what was there is read again in each request; its
// schema has its part of the first. The rows of tools and of the conversation are the bill.
func TestToolsShareTheContext(t *testing.T) {
	r := ledger.NewRun("r", blobs(map[string]string{"sys": strings.Repeat("s", 600), "tools": `[{"name":"read","x":"` + strings.Repeat("r", 278) + `"},{"name":"sh"}]`}))
	hatched := event.Event{Run: "r", Task: "t", Ant: "a", Body: event.AntHatched{Card: "worker", System: "sys", ToolsSum: "tools"}}
	told := event.Event{Run: "r", Task: "t", Ant: "a", Body: event.AntTold{Kind: "task", Text: strings.Repeat("t", 87)}}
	events := []event.Event{hatched, told}
	events = append(events, turn(1, "a.1", event.Usage{Input: 1000, Output: 50})...)
	file := event.Seen{Path: "/f", Hash: "h", From: 1, To: 9}
	events = append(events, called("read", strings.Repeat("x", 300), file), called("sh", strings.Repeat("y", 100)))
	events = append(events, turn(2, "a.2", event.Usage{Input: 1450, Cached: 1000, Output: 10})...)
	events = append(events, called("read", strings.Repeat("x", 300), file))
	events = append(events, turn(3, "a.3", event.Usage{Input: 1560, Cached: 1450, Output: 10})...)
	for _, e := range events {
		r.Add(e)
	}
	cell := r.Cells[0]
	read, sh := *cell.Tools["read"], *cell.Tools["sh"]
	if read.Calls != 2 || read.Put != 300+100 || read.Schema != 300 || read.Reread != 300+600 || sh.Put != 100 || sh.Schema != 13 || sh.Reread != 13+113 {
		t.Errorf("read %+v\nsh %+v", read, sh)
	}
	if read.Usage.Input != 300+600+700 || read.Usage.Cached != 600*1000/1450+700*1450/1560 {
		t.Errorf("read has %+v of the usage", read.Usage)
	}
	// 600 of 1450 tokens of what 450 fresh and 1000 cached cost, and so on.
	if want := event.PicoUSD(300*2_000_000 + (450*2_000_000+1000*200_000)*600/1450 + (110*2_000_000+1450*200_000)*700/1560); read.USD/10 != want/10 {
		t.Errorf("read cost %s, want %s", read.USD, want)
	}
	if cell.Waste.Startup != 1000 || cell.Waste.Repeated != 75 || cell.Waste.Missed != nil {
		t.Errorf("%+v", cell.Waste)
	}
	var b ledger.Bill
	b.Join(r)
	table, err := report.Make(&b, report.Options{By: []string{"tool"}})
	if err != nil {
		t.Fatal(err)
	}
	var sum event.Usage
	var usd event.PicoUSD
	for _, row := range table.Rows {
		sum, usd = sum.Add(row.Usage), usd+*row.USD
	}
	if len(table.Rows) != 3 || sum != table.Total.Usage || usd != *table.Total.USD {
		t.Errorf("rows come to %+v %s, the total is %+v %s", sum, usd, table.Total.Usage, table.Total.USD)
	}
}

// A prefix that the cache could have had and did not serve is named with its cause.
func TestMissesHaveCauses(t *testing.T) {
	const big = 5000
	first := turn(1, "a.1", event.Usage{Input: big, Output: 1})
	warm := turn(2, "a.2", event.Usage{Input: big, Cached: big - 10, Output: 1})
	miss := func(at int, f ...func(*event.ModelReplied)) []event.Event {
		return turn(at, "a.3", event.Usage{Input: big + 20, Output: 1}, f...)
	}
	for cause, then := range map[string][]event.Event{
		"unknown":           miss(3),
		"idle":              miss(1000),
		"tools_moved":       miss(3, func(m *event.ModelReplied) { m.CacheMiss = "tools_moved" }),
		"context_compacted": append([]event.Event{{Run: "r", Ant: "a", Task: "t", Body: event.AntCompacted{Before: 10, After: 5}}}, miss(3)...),
		"tools_changed":     append([]event.Event{{Run: "r", Ant: "a", Task: "t", Body: event.ToolDone{Tool: "tool_search", Loaded: []string{"x"}}}}, miss(3)...),
		"none":              turn(3, "a.3", event.Usage{Input: big + 20, Cached: big, Output: 1}),
	} {
		r := ledger.NewRun("r", nil)
		for _, e := range append(append(append([]event.Event{}, first...), warm...), then...) {
			r.Add(e)
		}
		missed := r.Cells[0].Waste.Missed
		if cause == "none" && missed != nil || cause != "none" && (len(missed) != 1 || missed[cause] != big) {
			t.Errorf("%s: %v", cause, missed)
		}
	}
	cold := ledger.NewRun("r", nil) // of a model that never served anything from a cache, nothing can be missed
	for _, e := range append(first, miss(3)...) {
		cold.Add(e)
	}
	if cold.Cells[0].Waste.Missed != nil {
		t.Errorf("%v", cold.Cells[0].Waste.Missed)
	}
}

// An export holds nothing that was said, and reads back as the same bill; a part of it that is known counts once.
func TestExportIsTheSameBill(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		log := event.NewMemory("r", time.Now)
		const secret = "SAID-BY-SOMEBODY"
		add := func(events ...event.Event) {
			if _, err := log.Append(outer.Context(), events...); err != nil {
				t.Fatal(err)
			}
		}
		add(event.Event{Body: event.RunStarted{Goal: secret, Labels: map[string]string{"team": "x"}, Cards: []event.Card{{Name: "worker", SHA256: "aa"}}}},
			event.Event{Body: event.PlanMade{Tasks: []event.PlanTask{{ID: "t", Title: secret, Prompt: secret, Files: []string{secret}}}}},
			event.Event{Task: "t", Ant: "a", Body: event.AntHatched{Card: "worker", CardHash: "aa", Worktree: "/" + secret}},
			event.Event{Task: "t", Ant: "a", Body: event.AntTold{Kind: "task", Text: secret}})
		for i := range rapid.IntRange(1, 8).Draw(t, "turns") {
			u := event.Usage{Input: int64(2000 + 100*i), Cached: int64(rapid.IntRange(0, 2000).Draw(t, "cached")), Output: 7}
			add(turn(i, fmt.Sprintf("a.%d", i), u, func(m *event.ModelReplied) { m.Content = json.RawMessage(`{"text":"` + secret + `"}`) })...)
			add(called(rapid.SampledFrom([]string{"read", "sh"}).Draw(t, "tool"), secret+strings.Repeat("x", rapid.IntRange(0, 500).Draw(t, "bytes")), event.Seen{Path: "/" + secret, Hash: "h", From: 1, To: 2}))
		}
		add(event.Event{Task: "t", Ant: "a", Body: event.CommitMade{Commit: "c0", Files: []string{secret}}},
			event.Event{Task: "t", Body: event.TaskDone{Status: "landed", Commit: "c1", Detail: secret}},
			event.Event{Body: event.RunFinished{Status: "landed", Tasks: []event.TaskReport{{ID: "t", Title: secret, Files: []string{secret}}}}})
		run := ledger.NewRun("r", nil)
		for e := range log.Read(outer.Context(), 0) {
			run.Add(e)
		}
		var text bytes.Buffer
		if err := ledger.Export(&text, run, log.Read(outer.Context(), 0), func(s string) string { return s }); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.String(), secret) {
			t.Fatalf("the export says %s", text.String())
		}
		parts, err := ledger.ParseExport(bytes.NewReader(text.Bytes()))
		if err != nil || len(parts) != 1 {
			t.Fatalf("%d runs, %v", len(parts), err)
		}
		got, want := bill(t, parts[0].Run), bill(t, run)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		known := map[string]bool{}
		for _, id := range parts[0].IDs()[:rapid.IntRange(0, len(parts[0].IDs())).Draw(t, "known")] {
			known[id] = true
		}
		rest, charges := parts[0].Without(known)
		again, err := ledger.ReadExport(bytes.NewReader(rest.Text()))
		if err != nil || len(again) != 1 {
			t.Fatalf("%d charges: %v", charges, err)
		}
		cut := rapid.IntRange(1, text.Len()-2).Draw(t, "cut")
		if runs, err := ledger.ReadExport(bytes.NewReader(text.Bytes()[:cut])); err == nil && len(runs) > 0 {
			t.Errorf("an export that was cut at %d of %d is read", cut, text.Len())
		}
	})
}

// bill is what is exported of a run, as text.
func bill(t *rapid.T, r *ledger.Run) string {
	bare := r.Bare()
	for _, task := range bare.Tasks {
		task.Title = ""
	}
	for _, a := range bare.Ants {
		a.Holds = nil // it names paths by other digests
	}
	data, err := bare.Snapshot("")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(data), "\n")
	return body
}
