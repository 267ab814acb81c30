package ledger

import (
	"fmt"
	"slices"
	"strings"

	"colony/event"
)

// Table is a bill by one or two keys. What cannot be computed is absent.
type Table struct {
	Run     string         `json:"run,omitempty"` // where the bill is of one run
	By      string         `json:"by"`
	Rows    []Row          `json:"rows"`
	Total   Sum            `json:"total"`
	Waste   Waste          `json:"waste"`
	PerTask *event.PicoUSD `json:"per_landed_task_usd,omitempty"`
}

// Row is one key's share. Card, Task, Model and Status are there where they are the same for all of it.
type Row struct {
	Key    string `json:"key"`
	Card   string `json:"card,omitempty"`
	Task   string `json:"task,omitempty"`
	Model  string `json:"model,omitempty"`
	Status string `json:"status,omitempty"`
	Sum
	Estimated bool             `json:"estimated"`
	Cached    float64          `json:"cached_share"`           // of the input, that the provider's cache served
	Misses    map[string]int64 `json:"cache_misses,omitempty"` // why it did not serve more, where the provider says
	Lost      int64            `json:"lost,omitempty"`         // attempts whose reply is not in the log
}

// Waste is what was spent for nothing.
type Waste struct {
	UnlandedUSD *event.PicoUSD `json:"unlanded_usd"` // of tasks that ended and did not land
}

// Keys are what a bill can be made by.
func Keys() []string { return []string{"ant", "card", "task", "model", "run"} }

// By is the bill by one key, or by the pairs of two. Rows are in the order in which they first spent.
func (b *Bill) By(keys ...string) (Table, error) {
	if len(keys) == 0 || len(keys) > 2 {
		return Table{}, fmt.Errorf("bill: by %d keys: one or two are needed", len(keys))
	}
	for _, k := range keys {
		if err := checkKey(k); err != nil {
			return Table{}, err
		}
	}
	t := Table{By: strings.Join(keys, ","), Rows: b.rows(keys)}
	t.Total = b.sum(func(*line) bool { return true })
	if len(b.runs) == 1 {
		t.Run = b.runs[0]
	}
	t.Waste.UnlandedUSD = b.sum(b.unlanded).USD
	if n := b.landed(); n > 0 && t.Total.USD != nil {
		per := *t.Total.USD / event.PicoUSD(n)
		t.PerTask = &per
	}
	return t, nil
}

func checkKey(key string) error {
	switch {
	case slices.Contains(Keys(), key):
		return nil
	case slices.Contains([]string{"tool", "day", "week", "month", "repo", "user", "status"}, key), strings.HasPrefix(key, "label:"):
		return fmt.Errorf("bill: by %s: not built yet", key)
	}
	return fmt.Errorf("bill: by %q: unknown, use one of %s", key, strings.Join(Keys(), ", "))
}

// rows groups the lines.
func (b *Bill) rows(keys []string) []Row {
	groups, order := map[string][]*line{}, []string{}
	for _, l := range b.counted() {
		var parts []string
		for _, k := range keys {
			parts = append(parts, b.key(l, k))
		}
		name := strings.Join(parts, " × ")
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], l)
	}
	rows := make([]Row, 0, len(order))
	for _, name := range order {
		rows = append(rows, b.row(name, groups[name]))
	}
	return rows
}

func (b *Bill) row(name string, lines []*line) Row {
	r := Row{Key: name}
	var s adder
	for i, l := range lines {
		s.add(l)
		same(i, &r.Card, b.card(l).card)
		same(i, &r.Task, l.task)
		same(i, &r.Model, l.model)
		same(i, &r.Status, b.status(l))
		if l.miss != "" {
			if r.Misses == nil {
				r.Misses = map[string]int64{}
			}
			r.Misses[l.miss]++
		}
	}
	r.Sum, r.Estimated, r.Lost = s.sum(), s.estimated, s.lost
	r.Cached = share(r.Usage)
	return r
}

// share is the part of the input that came from the cache, to a ten-thousandth.
func share(u event.Usage) float64 {
	if u.Input <= 0 {
		return 0
	}
	return float64(u.Cached*10_000/u.Input) / 10_000
}

// same keeps a value as long as all are it.
func same(i int, have *string, value string) {
	if i == 0 {
		*have = value
	} else if *have != value {
		*have = ""
	}
}

// key is what a line is grouped by. Names of ants and tasks are told apart where there are several runs.
func (b *Bill) key(l *line, by string) string {
	switch by {
	case "ant":
		return b.inRun(l.run, l.ant)
	case "task":
		return b.inRun(l.run, l.task)
	case "model":
		return l.model
	case "run":
		return l.run
	}
	c := b.card(l)
	parts := []string{c.card}
	if source := b.cards[[2]string{c.card, c.hash}]; source != "" {
		parts = append(parts, source)
	}
	if c.hash != "" {
		parts = append(parts, c.hash[:min(8, len(c.hash))])
	}
	return strings.Join(parts, " ")
}

func (b *Bill) inRun(run, name string) string {
	if len(b.runs) > 1 {
		return run + "/" + name
	}
	return name
}

func (b *Bill) card(l *line) antFact {
	if a := b.ants[owner{l.run, l.ant}]; a != nil {
		return *a
	}
	return antFact{}
}

// status is the state of a line's task, or of its run where it belongs to none.
func (b *Bill) status(l *line) string {
	if l.task == "" {
		return b.ended[l.run]
	}
	if s := b.tasks[owner{l.run, l.task}]; s != "" {
		return s
	}
	return "running"
}

// unlanded reports whether a line was spent on a task that ended and did not land.
func (b *Bill) unlanded(l *line) bool {
	switch b.tasks[owner{l.run, l.task}] {
	case "", "landed", "no_change":
		return false
	}
	return true
}

func (b *Bill) landed() (n int64) {
	for _, status := range b.tasks {
		if status == "landed" {
			n++
		}
	}
	return n
}
