package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"colony/event"
	"colony/ledger"
	"colony/ledger/report"
	"colony/model"
)

// process carries ants on over what a log holds, as a resume does: what has no reply is recorded as lost, what was spent
// counts under the caps.
func process(t *testing.T, c *counter, past []event.Event, number int, caps map[string]ledger.Caps, ants map[string][]step) (all []event.Event) {
	synctest.Test(t, func(t *testing.T) {
		b, log := book(t, caps["run"])
		if len(past) > 0 {
			if _, err := log.Append(t.Context(), past...); err != nil {
				t.Fatal(err)
			}
		}
		open := map[string]event.Event{}
		for _, e := range past {
			switch body := e.Body.(type) {
			case event.ModelRequested:
				open[body.Request] = event.Event{Run: e.Run, Task: e.Task, Ant: e.Ant, Body: ledger.Lost(body)}
			case event.ModelReplied:
				delete(open, body.Request)
			}
		}
		for _, lost := range open {
			if err := log.Note(lost); err != nil {
				t.Fatal(err)
			}
		}
		for ant := range ants {
			b.OpenTask(account(ant, "priced").Task, caps[account(ant, "priced").Task])
		}
		before := fold(t, log)
		b.Recall(&before)
		var group sync.WaitGroup
		for ant, steps := range ants {
			a := account(ant, "priced")
			b.OpenAnt(a, caps[ant])
			group.Go(func() {
				for i, s := range steps {
					_, err := b.Meter(a, c.serve(ant, s)).Complete(t.Context(), ask(fmt.Sprintf("%s.%d", ant, 100*number+i), 3000), nil)
					var full *model.CapError
					if errors.As(err, &full) {
						return
					}
				}
			})
		}
		group.Wait()
		all = of(t, log)
	})
	return all
}

// Law 6 and law 7 over kills and resumes, LG03: whatever was cut off, each reply that the log holds is on the bill once, each
// that it lost is a row marked lost, at most one an ant and crash, the sum of ants is the run by any key; and at each event
// what is charged and in flight fits under every cap, as far as estimates held. A fold that goes on from a snapshot is the
// same.
func TestLawsOverKillsAndResumes(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		caps := rapid.Custom(func(t *rapid.T) ledger.Caps {
			return ledger.Caps{Tokens: n(rapid.Int64Range(3000, 60_000).Draw(t, "tokens")), PicoUSD: n(rapid.Int64Range(20_000_000_000, 400_000_000_000).Draw(t, "usd"))}
		})
		all := map[string]ledger.Caps{"run": caps.Draw(t, "run")}
		names := []string{}
		for i := range rapid.IntRange(1, 5).Draw(t, "ants") {
			a := account(fmt.Sprintf("t%d-%d", i%2, i), "priced")
			all[a.Task], all[a.Ant] = caps.Draw(t, a.Task), caps.Draw(t, a.Ant)
			names = append(names, a.Ant)
		}
		c := &counter{usage: map[string]event.Usage{}, usd: map[string]event.PicoUSD{}}
		var past []event.Event
		kills := rapid.IntRange(0, 3).Draw(t, "kills")
		for k := range kills + 1 {
			ants := map[string][]step{}
			for _, ant := range names {
				ants[ant] = drawSteps(t, 3000)
				for j := range ants[ant] { // under the estimate, and the same always, so that the estimate stays
					ants[ant][j].usage = model.Usage{Fresh: 100, Output: ants[ant][j].usage.Output}
				}
			}
			now := process(outer, c, past, k, all, ants)
			if k < kills {
				now = now[:rapid.IntRange(len(past), len(now)).Draw(t, "cut")]
			}
			past = now
		}
		for scope, caps := range all {
			w := newWatch(scope, caps)
			for _, e := range past {
				w.see(t, e, true)
			}
			w.end(t)
		}
		once(t, past, kills, len(names))
		fromSnapshot(t, past)
	})
}

// once checks the bill of a log against the log itself.
func once(t *rapid.T, events []event.Event, kills, ants int) {
	var want event.Usage
	var usd event.PicoUSD
	lost := int64(0)
	for _, e := range events {
		if m, ok := e.Body.(event.ModelReplied); ok {
			want, usd = want.Add(m.Usage), usd+*m.USD
			if m.Outcome == "lost" {
				lost++
			}
		}
	}
	bill := billOf(events...)
	if lost > int64(kills*ants) {
		t.Errorf("%d were lost in %d crashes of %d ants", lost, kills, ants)
	}
	for _, key := range report.Keys() {
		table, err := report.Make(bill, report.Options{By: []string{key}})
		if err != nil {
			t.Fatal(err)
		}
		var sum event.Usage
		var amount event.PicoUSD
		marked := int64(0)
		for _, r := range table.Rows {
			sum, amount, marked = sum.Add(r.Usage), amount+*r.USD, marked+r.Lost
		}
		if sum != want || amount != usd || table.Total.Usage != want || *table.Total.USD != usd || key != "tool" && marked != lost {
			t.Errorf("by %s: rows %+v %s, %d lost; total %+v; the log has %+v %s, %d lost", key, sum, amount, marked, table.Total, want, usd, lost)
		}
	}
}

// fromSnapshot folds a log with a snapshot in its midst.
func fromSnapshot(t *rapid.T, events []event.Event) {
	whole, first := ledger.NewRun("r", nil), ledger.NewRun("r", nil)
	cut := rapid.IntRange(0, len(events)).Draw(t, "snapshot")
	for i, e := range events {
		whole.Add(e)
		if i < cut {
			first.Add(e)
		}
	}
	data, err := first.Snapshot("sum")
	if err != nil {
		t.Fatal(err)
	}
	second, sum, err := ledger.Restore(data, nil)
	if err != nil || sum != "sum" {
		t.Fatalf("%q, %v", sum, err)
	}
	for _, e := range events { // what is in counts once
		second.Add(e)
	}
	got, _ := second.Snapshot("")
	want, _ := whole.Snapshot("")
	if !bytes.Equal(got, want) {
		t.Errorf("from a snapshot after %d of %d events:\n%s\nwhole:\n%s", cut, len(events), got, want)
	}
	for i := range 20 {
		bent := slices.Clone(data)
		bent[i*len(bent)/20] ^= 1
		if _, _, err := ledger.Restore(bent, nil); err == nil {
			t.Errorf("a snapshot that was bent at %d is restored", i*len(bent)/20)
		}
	}
}

// Contract 57: a hundred ants in flight against one cap. At each event what is charged and reserved fits; none goes past it;
// with a higher one they go on, and what was spent counts.
func TestAHundredAntsAgainstACap(t *testing.T) {
	c := &counter{usage: map[string]event.Usage{}, usd: map[string]event.PicoUSD{}}
	ants := map[string][]step{}
	for i := range 100 {
		for j := range 12 {
			ants[fmt.Sprintf("t%d-%d", i, i)] = append(ants[fmt.Sprintf("t%d-%d", i, i)], step{ok, time.Duration(1+(i+j)%7) * time.Second, model.Usage{Fresh: 100, Output: 400}})
		}
	}
	var past []event.Event
	for number, limit := range []int64{400_000, 550_000} {
		caps := map[string]ledger.Caps{"run": {Tokens: n(limit), PicoUSD: n(10 * int64(event.Dollar))}}
		past = process(t, c, past, number, caps, ants)
		tokens, flight, most := int64(0), map[string]int64{}, 0
		for _, e := range past {
			switch m := e.Body.(type) {
			case event.ModelRequested:
				flight[m.Request] = m.ReservedTokens
				most = max(most, len(flight))
			case event.ModelReplied:
				delete(flight, m.Request)
				tokens += m.Usage.Input + m.Usage.Output
			}
			sum := tokens
			for _, f := range flight {
				sum += f
			}
			if sum > limit {
				t.Fatalf("event %d: %d of %d tokens", e.Seq, sum, limit)
			}
		}
		if most < 100 && number == 0 || tokens < limit*9/10 {
			t.Errorf("cap %d: %d at most in flight, %d tokens in the end", limit, most, tokens)
		}
	}
}
