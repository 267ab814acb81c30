package ledger

import (
	"iter"
	"slices"
	"time"

	"colony/event"
)

// Bill is what runs came to: a fold over their events, with the same numbers however often it is made. The zero Bill is
// empty. It is not safe for concurrent use.
type Bill struct {
	runs []*Run
	byID map[string]*Run
}

// Fold makes the bill of a log.
func Fold(events iter.Seq2[event.Event, error]) (Bill, error) {
	var b Bill
	for e, err := range events {
		if err != nil {
			return Bill{}, err
		}
		b.Add(e)
	}
	return b, nil
}

// Add takes one more event, in the order of the log. What is there already counts once.
func (b *Bill) Add(e event.Event) {
	r := b.byID[e.Run]
	if r == nil {
		r = newRun(e.Run)
		b.Join(r)
	}
	r.Add(e)
}

// Join takes a run in. Of two that are one and the same, the one of which more is known stays.
func (b *Bill) Join(r *Run) {
	if b.byID == nil {
		b.byID = map[string]*Run{}
	}
	for i, have := range b.runs {
		if have.ID == r.ID && have.Birth == r.Birth && r.Birth != "" {
			if r.Seq > have.Seq {
				b.runs[i], b.byID[r.ID] = r, r
			}
			return
		}
	}
	b.runs, b.byID[r.ID] = append(b.runs, r), r
}

// Runs are the runs of the bill, in the order in which they came.
func (b *Bill) Runs() []*Run { return b.runs }

// Total is the sum of all lines.
func (b *Bill) Total() (event.Usage, *event.PicoUSD, event.Price) {
	return b.sum(func(*Cell) bool { return true })
}

// Task is the sum of a task's lines.
func (b *Bill) Task(id string) (event.Usage, *event.PicoUSD, event.Price) {
	return b.sum(func(c *Cell) bool { return c.Task == id })
}

func (b *Bill) sum(in func(*Cell) bool) (event.Usage, *event.PicoUSD, event.Price) {
	var all Count
	for _, r := range b.runs {
		for i, c := range r.Cells {
			if in(c) {
				all.Add(r.Of(i))
			}
		}
	}
	s := all.Sum()
	return s.Usage, s.USD, s.Price
}

func newRun(id string) *Run {
	r := &Run{ID: id, Status: "running", Cards: map[string]string{}, Tick: 1, Ticks: map[int64]event.Usage{}, Sizes: map[string]map[string]int64{}}
	r.index()
	return r
}

// index makes the ways to what the run consists of.
func (r *Run) index() {
	r.ants, r.tasks, r.cells, r.open = map[string]*Ant{}, map[string]*Task{}, map[cellKey]*Cell{}, map[attempt]*Open{}
	r.caching = map[string]bool{}
	for _, a := range r.Ants {
		r.ants[a.ID] = a
	}
	for _, t := range r.Tasks {
		r.tasks[t.ID] = t
	}
	for i, c := range r.Cells {
		c.place = i
		r.cells[cellKey{c.Task, c.Ant, c.Model, c.Day}] = c
		r.caching[c.Model] = r.caching[c.Model] || c.Usage.Cached > 0
	}
	for _, o := range r.Open {
		r.open[attempt{r.ID, o.Ant, o.Request, o.Attempt}] = o
	}
}

// Add takes one more event of the run in, in the order of the log.
func (r *Run) Add(e event.Event) {
	if e.Seq > 0 && e.Seq <= r.Seq {
		return
	}
	if r.Birth == "" {
		r.Birth = e.ID
	}
	if r.Began.IsZero() {
		r.Began = e.Time
	}
	r.Seq, r.Last = max(r.Seq, e.Seq), e.Time
	switch body := e.Body.(type) {
	case event.RunStarted:
		r.started(body)
	case event.RunResumed:
		r.started(event.RunStarted(body))
	case event.PlanMade:
		r.planned(body.Tasks)
	case event.PlanChanged:
		r.planned(body.Tasks)
	case event.AntHatched:
		r.hatched(e, body)
	case event.AntTold:
		r.ant(e).holds().Told += max(int64(len(body.Text)), body.Size)
	case event.AntCompacted:
		r.ant(e).holds().compacted(body)
	case event.AntEnded:
		a := r.ant(e)
		a.Ended, a.Reason = e.Time, body.Reason
	case event.ModelRequested:
		r.requested(e, body)
	case event.ModelReplied:
		r.replied(e, body)
	case event.ToolDone:
		r.called(e, body)
	case event.CommitMade:
		if t := r.task(e.Task); !slices.Contains(t.Authors, e.Ant) {
			t.Authors = append(t.Authors, e.Ant)
		}
	case event.TaskDone:
		t := r.task(e.Task)
		t.Status, t.Done = body.Status, e.Time
		if body.Status == "landed" {
			t.Commit = body.Commit
		}
	case event.RunFinished:
		r.Status = body.Status
	}
}

func (r *Run) started(s event.RunStarted) {
	for _, c := range s.Cards {
		r.Cards[c.Name+"@"+c.SHA256] = c.Source
	}
	if len(s.Labels) > 0 {
		r.Labels = s.Labels
	}
	if r.Base == "" {
		r.Base = s.Base
	}
	if s.User != "" {
		r.User = s.User
	}
	r.Status = "running"
}

func (r *Run) planned(tasks []event.PlanTask) {
	for _, t := range tasks {
		r.task(t.ID).Title = t.Title
	}
}

func (r *Run) task(id string) *Task {
	t := r.tasks[id]
	if t == nil {
		t = &Task{ID: id}
		r.tasks[id], r.Tasks = t, append(r.Tasks, t)
	}
	return t
}

func (r *Run) ant(e event.Event) *Ant {
	a := r.ants[e.Ant]
	if a == nil {
		a = &Ant{ID: e.Ant, Task: e.Task, Began: e.Time}
		r.ants[e.Ant], r.Ants = a, append(r.Ants, a)
	}
	return a
}

func (r *Run) hatched(e event.Event, h event.AntHatched) {
	a := r.ant(e)
	a.Task, a.Card, a.Hash, a.Parent, a.Attempt, a.Ended, a.Reason = e.Task, h.Card, h.CardHash, h.Parent, h.Attempt, time.Time{}, ""
	a.holds().hatched(r, h)
}

// cell is where an ant's spending on a model and a day is counted.
func (r *Run) cell(a *Ant, task, model string, at time.Time) (*Cell, int) {
	day := at.UTC().Format(time.DateOnly)
	if c := r.last(a); c != nil && c.Task == task && c.Model == model && c.Day == day {
		return c, c.place
	}
	key := cellKey{task, a.ID, model, day}
	c := r.cells[key]
	if c == nil {
		c = &Cell{Task: task, Ant: a.ID, Model: model, Day: day, place: len(r.Cells)}
		r.cells[key], r.Cells = c, append(r.Cells, c)
	}
	a.At = c.place + 1
	return c, c.place
}

// last is where an ant's spending was counted last; nil where there is none.
func (r *Run) last(a *Ant) *Cell {
	if a.At < 1 || a.At > len(r.Cells) {
		return nil
	}
	return r.Cells[a.At-1]
}

// requested opens an attempt that is lost until its reply is read: it then counts as what was reserved.
func (r *Run) requested(e event.Event, q event.ModelRequested) {
	key := attempt{r.ID, e.Ant, q.Request, q.Attempt}
	if r.open[key] != nil {
		return
	}
	_, place := r.cell(r.ant(e), e.Task, q.Provider+"/"+q.Model, e.Time)
	o := &Open{Ant: e.Ant, Request: q.Request, Attempt: q.Attempt, Cell: place, Gone: Lost(q)}
	r.open[key], r.Open = o, append(r.Open, o)
}

// Lost is the reply that stands for one which a crash lost: it counts as what was reserved.
func Lost(r event.ModelRequested) event.ModelReplied {
	out := int64(r.OutputLimit)
	gone := event.ModelReplied{Request: r.Request, Attempt: r.Attempt, Outcome: "lost", Estimated: true, USD: r.ReservedUSD, Price: event.Known,
		Usage: event.Usage{Requests: 1, Input: max(r.ReservedTokens-out, 0), Output: out}}
	switch {
	case r.ReservedUSD == nil:
		gone.Price = event.Unknown
	case *r.ReservedUSD == 0:
		gone.Price = event.Free
	}
	return gone
}

// replied settles an attempt, once.
func (r *Run) replied(e event.Event, m event.ModelReplied) {
	key := attempt{r.ID, e.Ant, m.Request, m.Attempt}
	a, o := r.ant(e), r.open[key]
	if m.Outcome == "lost" {
		r.lost(e, a, key, m)
		return
	}
	if !a.Seen.add(a.ID, m.Request, m.Attempt) {
		return
	}
	var c *Cell
	if o != nil {
		c = r.Cells[o.Cell]
		if m.USD == nil && o.Gone.USD != nil {
			c.Held += *o.Gone.USD
		}
		r.close(key, o)
	} else {
		c, _ = r.cell(a, e.Task, "", e.Time)
	}
	c.Count.add(m, false)
	r.spread(e, a, c, m)
}

// lost takes down that an attempt has no reply. One that comes all the same stands in its place.
func (r *Run) lost(e event.Event, a *Ant, key attempt, m event.ModelReplied) {
	o := r.open[key]
	switch {
	case o == nil && a.Seen.has(a.ID, m.Request, m.Attempt):
		return
	case o == nil:
		_, place := r.cell(a, e.Task, "", e.Time)
		o = &Open{Ant: e.Ant, Request: m.Request, Attempt: m.Attempt, Cell: place}
		r.open[key], r.Open = o, append(r.Open, o)
	case o.Recorded:
		return
	}
	m.Content = nil
	o.Recorded, o.Gone = true, m
}

func (r *Run) close(key attempt, o *Open) {
	delete(r.open, key)
	for i := len(r.Open) - 1; i >= 0; i-- {
		if r.Open[i] == o {
			r.Open = append(r.Open[:i], r.Open[i+1:]...)
			return
		}
	}
}
