// Package report is what a bill says: tables by any key, what was spent for little and what to change, in words, as
// figures and as one page with charts.
package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"colony/event"
	"colony/ledger"
)

// Options say what a table is of.
type Options struct {
	By           []string // one key, or two for a matrix
	Since, Until string   // days (UTC), both in; empty does not bound
	MergeCards   bool     // cards of one name are one, whatever their source and content
}

// Table is a bill by one or two keys. What cannot be computed is absent.
type Table struct {
	Run     string         `json:"run,omitempty"` // where the bill is of one run
	By      string         `json:"by"`
	Since   string         `json:"since,omitempty"`
	Until   string         `json:"until,omitempty"`
	Rows    []Row          `json:"rows"`
	Total   ledger.Sum     `json:"total"`
	Waste   Waste          `json:"waste"`
	PerTask *event.PicoUSD `json:"per_landed_task_usd,omitempty"`
	PerLine *event.PicoUSD `json:"per_landed_line_usd,omitempty"`
	Landed  int64          `json:"landed_tasks"`
	Lines   int64          `json:"landed_lines,omitempty"`
	Days    []Spot         `json:"days"` // what was spent when: days, or parts of a day where it is one

	keys []string
}

// Row is one key's share. Card, Task, Model and Status are there where they are the same for all of it.
type Row struct {
	Key    string   `json:"key"`
	Keys   []string `json:"keys,omitempty"` // both, of a matrix
	Card   string   `json:"card,omitempty"`
	Task   string   `json:"task,omitempty"`
	Model  string   `json:"model,omitempty"`
	Status string   `json:"status,omitempty"`
	Parent string   `json:"parent,omitempty"` // whose helper an ant is
	ledger.Sum
	Estimated bool             `json:"estimated"`
	Cached    float64          `json:"cached_share"`           // of the input, that the provider's cache served
	Misses    map[string]int64 `json:"cache_misses,omitempty"` // why it did not serve more, where the provider says
	Lost      int64            `json:"lost,omitempty"`         // attempts whose reply is not in the log
	Rates     []string         `json:"rate_dates,omitempty"`   // since when the rates in force held
	Helpers   *ledger.Sum      `json:"with_helpers,omitempty"` // an ant and its helpers, which have rows of their own
	Tool      *ToolUse         `json:"tool_use,omitempty"`

	count ledger.Count
}

// ToolUse is what a tool brought into contexts, in tokens.
type ToolUse struct {
	Calls  int64 `json:"calls"`
	Put    int64 `json:"result_tokens"`
	Schema int64 `json:"schema_tokens"`
	Reread int64 `json:"reread_tokens"`
}

// Spot is what was spent at a time.
type Spot struct {
	At    string         `json:"at"`
	Usage event.Usage    `json:"usage"`
	USD   *event.PicoUSD `json:"usd,omitempty"`
}

// Make is the bill by one key, or by the pairs of two. Rows are in the order in which they first spent.
func Make(b *ledger.Bill, o Options) (Table, error) {
	if len(o.By) == 0 || len(o.By) > 2 {
		return Table{}, fmt.Errorf("bill: by %d keys: one or two are needed", len(o.By))
	}
	for _, k := range o.By {
		if err := checkKey(k); err != nil {
			return Table{}, err
		}
	}
	s := newSource(b, o)
	t := Table{By: strings.Join(o.By, ","), Since: o.Since, Until: o.Until, Rows: s.rows(), Days: s.days(), keys: o.By}
	var total ledger.Count
	for _, l := range s.lines {
		total.Add(l.count)
	}
	t.Total = total.Sum()
	if len(b.Runs()) == 1 {
		t.Run = b.Runs()[0].ID
	}
	t.Waste = s.waste()
	s.landed(&t)
	return t, nil
}

// landed says what each landed task and line cost, where all of it is known.
func (s *source) landed(t *Table) {
	counted := true
	for _, r := range s.bill.Runs() {
		for _, task := range r.Tasks {
			if task.Status == "landed" && s.within(task.Done.UTC().Format(time.DateOnly)) {
				t.Landed, t.Lines, counted = t.Landed+1, t.Lines+task.Lines, counted && task.Counted
			}
		}
	}
	if t.Total.USD == nil {
		return
	}
	if t.Landed > 0 {
		per := *t.Total.USD / event.PicoUSD(t.Landed)
		t.PerTask = &per
	}
	if counted && t.Lines > 0 {
		per := *t.Total.USD / event.PicoUSD(t.Lines)
		t.PerLine = &per
	}
}

// rows groups the lines.
func (s *source) rows() []Row {
	groups, order := map[string]*group{}, []*group{}
	for _, l := range s.lines {
		for _, p := range s.parts(l) {
			name := strings.Join(p.keys, " × ")
			g := groups[name]
			if g == nil {
				g = &group{row: Row{Key: name}}
				if len(p.keys) > 1 {
					g.row.Keys = p.keys
				}
				groups[name], order = g, append(order, g)
			}
			g.add(s, l, p)
		}
	}
	rows := make([]Row, 0, len(order))
	for _, g := range order {
		rows = append(rows, g.done())
	}
	if len(s.o.By) == 1 && s.o.By[0] == "ant" {
		rows = s.family(rows)
	}
	return rows
}

// group is a row that is being added up.
type group struct {
	row Row
	n   int
}

func (g *group) add(s *source, l line, p portion) {
	r := &g.row
	r.count.Add(p.count)
	same(g.n, &r.Card, l.card())
	same(g.n, &r.Task, l.cell.Task)
	same(g.n, &r.Model, l.cell.Model)
	same(g.n, &r.Status, l.status())
	if l.ant != nil {
		same(g.n, &r.Parent, s.inRun(l.run, l.ant.Parent))
	}
	for _, day := range l.cell.Rates {
		if !slices.Contains(r.Rates, day) {
			r.Rates = append(r.Rates, day)
		}
	}
	if p.tool != nil {
		if r.Tool == nil {
			r.Tool = &ToolUse{}
		}
		*r.Tool = ToolUse{r.Tool.Calls + p.tool.Calls, r.Tool.Put + p.tool.Put, r.Tool.Schema + p.tool.Schema, r.Tool.Reread + p.tool.Reread}
	}
	g.n++
}

func (g *group) done() Row {
	r := g.row
	r.Sum, r.Estimated, r.Lost, r.Misses = r.count.Sum(), r.count.Estimated > 0, r.count.Lost, r.count.Misses
	r.Cached = share(r.Usage)
	slices.Sort(r.Rates)
	return r
}

// family puts helpers after the ant that hatched them, and says what an ant came to with them: each is in it once.
func (s *source) family(rows []Row) []Row {
	children := map[string][]int{}
	known := map[string]bool{}
	for _, r := range rows {
		known[r.Key] = true
	}
	for i, r := range rows {
		if !known[r.Parent] || r.Parent == r.Key {
			rows[i].Parent = ""
		}
		if rows[i].Parent != "" {
			children[r.Parent] = append(children[r.Parent], i)
		}
	}
	out := make([]Row, 0, len(rows))
	seen := map[int]bool{}
	var visit func(i int) ledger.Count
	visit = func(i int) ledger.Count {
		seen[i] = true
		at := len(out)
		out = append(out, rows[i])
		var all ledger.Count
		all.Add(rows[i].count)
		for _, child := range children[rows[i].Key] {
			if !seen[child] {
				all.Add(visit(child))
			}
		}
		if len(out) > at+1 {
			sum := all.Sum()
			out[at].Helpers = &sum
		}
		return all
	}
	for _, roots := range []bool{true, false} { // what is left has parents in a circle, which no colony writes
		for i := range rows {
			if !seen[i] && (rows[i].Parent == "" || !roots) {
				visit(i)
			}
		}
	}
	return out
}

// days is what was spent on each day, or in parts of the day where all was on one.
func (s *source) days() []Spot {
	byDay := map[string]*ledger.Count{}
	for _, l := range s.lines {
		if byDay[l.cell.Day] == nil {
			byDay[l.cell.Day] = &ledger.Count{}
		}
		byDay[l.cell.Day].Add(l.count)
	}
	if len(byDay) == 1 {
		for day := range byDay {
			if spots := s.ticks(day); len(spots) > 1 {
				return spots
			}
		}
	}
	spots := []Spot{}
	for _, day := range slices.Sorted(maps.Keys(byDay)) {
		sum := byDay[day].Sum()
		spots = append(spots, Spot{day, sum.Usage, sum.USD})
	}
	return spots
}

// mostSpots is how many pieces a day is cut into at most.
const mostSpots = 120

func (s *source) ticks(day string) []Spot {
	all := map[int64]event.Usage{}
	for _, r := range s.bill.Runs() {
		for m, u := range r.Ticks {
			if at := m * r.Tick; time.Unix(at, 0).UTC().Format(time.DateOnly) == day {
				all[at] = all[at].Add(u)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	times := slices.Sorted(maps.Keys(all))
	first, last := times[0], times[len(times)-1]
	step := (last-first)/mostSpots + 1
	spots := make([]Spot, (last-first)/step+1)
	for i := range spots {
		spots[i].At = time.Unix(first+int64(i)*step, 0).UTC().Format("15:04:05")
	}
	for m, u := range all {
		i := (m - first) / step
		spots[i].Usage = spots[i].Usage.Add(u)
	}
	return spots
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

// Keys are what the table is by.
func (t Table) Keys() []string { return t.keys }
