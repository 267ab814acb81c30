package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"colony/event"

	"github.com/sourcegraph/conc"
)

// sample is what one thing took, time after time.
type sample []time.Duration

// at is a percentile in milliseconds.
func (s sample) at(percent int) string {
	sorted := slices.Sorted(slices.Values(s))
	return fmt.Sprintf("%.2f", float64(sorted[min(len(sorted)-1, len(sorted)*percent/100)].Microseconds())/1000)
}

// figures are rows of cells.
type figures struct{ rows [][]string }

func (t *figures) times(name string, s sample, goal string) {
	if len(s) == 0 {
		t.rows = append(t.rows, []string{name, "0", "-", "-", "-", "ms", goal})
		return
	}
	t.rows = append(t.rows, []string{name, fmt.Sprint(len(s)), s.at(50), s.at(90), s.at(99), "ms", goal})
}

func (t *figures) memory(name string, bytes []int64, goal string) {
	slices.Sort(bytes)
	mega := func(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }
	t.rows = append(t.rows, []string{name, fmt.Sprint(len(bytes)), mega(bytes[len(bytes)/2]), "", mega(bytes[len(bytes)-1]), "MB", goal})
}

func (t *figures) ratios(name string, all []float64, goal string) {
	slices.Sort(all)
	at := func(i int) string { return fmt.Sprintf("%.2f", all[i]) }
	t.rows = append(t.rows, []string{name, fmt.Sprint(len(all)), at(len(all) / 2), "", at(len(all) - 1), "x", goal})
}

func (t *figures) rate(name string, n int, took time.Duration) {
	t.rows = append(t.rows, []string{name, fmt.Sprint(n), fmt.Sprintf("%.0f", float64(n)/took.Seconds()), "", "", "/s", ""})
}

func (t *figures) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "what\tn\tp50\tp90\tp99\t\tgoal (p50 under)")
	for _, r := range t.rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	w.Flush()
	return b.String()
}

// measureLog appends to a log of its own, and returns how that log is flushed.
func measureLog(b *testing.B, t *figures) (sync string) {
	store, err := event.Open(b.Context(), b.TempDir(), event.Parts{Run: "r-bench", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	if sync, err = store.Flushed(b.Context()); err != nil {
		b.Fatal(err)
	}
	one := event.Event{Ant: "worker-1", Task: "t1", Body: event.AntTold{Kind: "task", Text: "a text of the length that a short result usually has"}}
	write := func(n int) (all sample) {
		for range n {
			began := time.Now()
			if _, err := store.Append(b.Context(), one); err != nil {
				b.Error(err)
				return nil
			}
			all = append(all, time.Since(began))
		}
		return all
	}
	write(100)
	t.times("one append, alone", write(1000), "")
	const writers, each = 64, 300
	var all [writers]sample
	var group conc.WaitGroup
	began := time.Now()
	for i := range writers {
		group.Go(func() { all[i] = write(each) })
	}
	group.Wait()
	t.rate("appends from 64 writers", writers*each, time.Since(began))
	t.times("one append among 64 writers", slices.Concat(all[:]...), "")
	return sync
}
