package event_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"colony/event"
)

func percentiles(b *testing.B, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}

func BenchmarkAppendOne(b *testing.B) {
	s := open(b, b.TempDir())
	var all []time.Duration
	for b.Loop() {
		start := time.Now()
		warn(b, s, "some text of the length that a warning usually has")
		all = append(all, time.Since(start))
	}
	percentiles(b, all)
}

func BenchmarkAppendFrom64(b *testing.B) {
	s := open(b, b.TempDir())
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			warn(b, s, "some text of the length that a warning usually has")
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFollow is the time from an event's own time, before its flush, to its reading in another process.
func BenchmarkFollow(b *testing.B) {
	dir := b.TempDir()
	o := start(b, dir)
	const events = 300
	go func() {
		for i := range events {
			time.Sleep(time.Duration(7+i%11) * time.Millisecond) // meets every moment of a poll
			fmt.Fprintln(o.in, "next")
		}
	}()
	var all []time.Duration
	for e, err := range reader(b, dir).Follow(b.Context(), 0) {
		if err != nil {
			b.Fatal(err)
		}
		if all = append(all, time.Since(e.Time)); len(all) == events {
			break
		}
	}
	for b.Loop() { // the events above are what is measured
	}
	percentiles(b, all)
}

// BenchmarkFollowBusy is the same while 64 writers append about 2,000 events a second.
func BenchmarkFollowBusy(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir)
	const writers, each = 64, 100
	for range writers {
		go func() {
			tick := time.NewTicker(32 * time.Millisecond)
			defer tick.Stop()
			for range each {
				<-tick.C
				warn(b, s, "some text of the length that a warning usually has")
			}
		}()
	}
	var all []time.Duration
	for e, err := range reader(b, dir).Follow(b.Context(), 0) {
		if err != nil {
			b.Fatal(err)
		}
		if all = append(all, time.Since(e.Time)); len(all) == writers*each {
			break
		}
	}
	for b.Loop() { // the events above are what is measured
	}
	percentiles(b, all)
}

func BenchmarkRead(b *testing.B) {
	s := open(b, b.TempDir())
	var events []event.Event
	for i := range 10_000 {
		events = append(events, event.Event{Ant: "worker-1", Body: event.AntTold{Kind: "task", Text: fmt.Sprint("text ", i)}})
	}
	if _, err := s.Append(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, err := range s.Read(b.Context(), 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
