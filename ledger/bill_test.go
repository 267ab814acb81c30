package ledger_test

import (
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"colony/event"
	"colony/ledger"
)

func pico(v int64) *event.PicoUSD { p := event.PicoUSD(v); return &p }

func asked(run, task, ant, request, name string) event.Event {
	provider, name, _ := strings.Cut(name, "/")
	return event.Event{Run: run, Task: task, Ant: ant, Body: event.ModelRequested{
		Request: request, Attempt: 1, Provider: provider, Model: name, ReservedUSD: pico(9_000), ReservedTokens: 90, OutputLimit: 50,
	}}
}

func got(run, task, ant, request string, usd *event.PicoUSD, p event.Price) event.Event {
	return event.Event{Run: run, Task: task, Ant: ant, Body: event.ModelReplied{
		Request: request, Attempt: 1, Outcome: "ok", USD: usd, Price: p,
		Usage: event.Usage{Requests: 1, Input: 100, Cached: 60, Output: 20, Reasoning: 5},
	}}
}

func hatched(run, task, ant, hash string) event.Event {
	return event.Event{Run: run, Task: task, Ant: ant, Body: event.AntHatched{Card: "worker", CardHash: hash}}
}

func done(run, task, status string) event.Event {
	return event.Event{Run: run, Task: task, Body: event.TaskDone{Status: status}}
}

// aRun is a run of two tasks: one landed, one failed and holds a reply that a crash lost.
func aRun(run string) []event.Event {
	return []event.Event{
		{Run: run, Body: event.RunStarted{Cards: []event.Card{{Name: "worker", Source: "built-in", SHA256: "aaaaaaaabb"}}}},
		hatched(run, "t1", "worker-1", "aaaaaaaabb"), hatched(run, "t2", "worker-2", "ccccccccdd"),
		asked(run, "t1", "worker-1", "q1", "openai/large"), asked(run, "t2", "worker-2", "q1", "openai/large"),
		got(run, "t1", "worker-1", "q1", pico(12_345_678_901), event.Known),
		asked(run, "t1", "worker-1", "q2", "openai/small"), got(run, "t1", "worker-1", "q2", pico(99), event.Known),
		got(run, "t2", "worker-2", "q1", pico(1_000_000), event.Known),
		done(run, "t1", "landed"),
		asked(run, "t2", "worker-2", "q2", "openai/large"),
		done(run, "t2", "failed"),
		{Run: run, Body: event.RunFinished{Status: "partial"}},
	}
}

func TestFoldPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	var events iter.Seq2[event.Event, error] = func(yield func(event.Event, error) bool) {
		_ = yield(aRun("r")[5], nil) && yield(event.Event{}, broken)
	}
	b, err := ledger.Fold(events)
	if usage, _, _ := b.Total(); !errors.Is(err, broken) || usage.Requests != 0 {
		t.Errorf("%+v, %v", usage, err)
	}
}

func BenchmarkFold(b *testing.B) {
	log := event.NewMemory("r", time.Now)
	for range 1000 {
		if _, err := log.Append(b.Context(), aRun("r")...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		fold(b, log)
	}
	b.ReportMetric(13_000*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func billOf(events ...event.Event) *ledger.Bill {
	var b ledger.Bill
	for _, e := range events {
		b.Add(e)
	}
	return &b
}
