package ledger

import (
	"iter"

	"colony/event"
)

// Bill is what a run came to: a fold over its events, with the same numbers however often it is made. The
// zero Bill is empty. It is not safe for concurrent use.
type Bill struct {
	runs  []string
	lines []*line
	byKey map[attempt]*line
	ants  map[owner]*antFact
	tasks map[owner]string    // final status
	calls map[[2]string]int64 // of tools that came to a result, by task and ant
	ended map[string]string
	live  map[string]bool      // runs whose owner is at work
	cards map[[2]string]string // source of a card by name and hash
}

// owner is an ant or a task of a run.
type owner struct{ run, id string }

type antFact struct{ card, hash string }

// line is one attempt of one request.
type line struct {
	run, task, ant, model string
	usage                 event.Usage
	usd                   *event.PicoUSD
	price                 event.Price
	estimated             bool
	lost                  bool // no reply was received
	open                  bool // no reply is in the log
	miss                  string
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
	b.open(e.Run)
	switch body := e.Body.(type) {
	case event.RunStarted:
		b.shelve(body.Cards)
	case event.RunResumed:
		b.shelve(body.Cards)
	case event.AntHatched:
		b.ants[owner{e.Run, e.Ant}] = &antFact{body.Card, body.CardHash}
	case event.ModelRequested:
		b.requested(e, body)
	case event.ModelReplied:
		b.replied(e, body)
	case event.ToolDone:
		b.calls[[2]string{e.Task, e.Ant}]++
	case event.TaskDone:
		b.tasks[owner{e.Run, e.Task}] = body.Status
	case event.RunFinished:
		b.ended[e.Run] = body.Status
	}
}

// open makes room for a run.
func (b *Bill) open(run string) {
	if b.byKey == nil {
		b.byKey, b.ants, b.tasks = map[attempt]*line{}, map[owner]*antFact{}, map[owner]string{}
		b.ended, b.cards, b.calls = map[string]string{}, map[[2]string]string{}, map[[2]string]int64{}
	}
	if _, known := b.ended[run]; !known {
		b.ended[run] = "running"
		b.runs = append(b.runs, run)
	}
}

func (b *Bill) shelve(cards []event.Card) {
	for _, c := range cards {
		b.cards[[2]string{c.Name, c.SHA256}] = c.Source
	}
}

// requested opens a line that is lost until its reply is read: it then counts as what was reserved.
func (b *Bill) requested(e event.Event, r event.ModelRequested) {
	key := attempt{e.Run, e.Ant, r.Request, r.Attempt}
	if b.byKey[key] != nil {
		return
	}
	l := &line{run: e.Run, task: e.Task, ant: e.Ant, model: r.Provider + "/" + r.Model, lost: true, open: true, estimated: true}
	gone := Lost(r)
	l.usage, l.usd, l.price = gone.Usage, gone.USD, gone.Price
	b.byKey[key] = l
	b.lines = append(b.lines, l)
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

// replied fills the line of an attempt, once.
func (b *Bill) replied(e event.Event, r event.ModelReplied) {
	key := attempt{e.Run, e.Ant, r.Request, r.Attempt}
	l := b.byKey[key]
	if l == nil {
		l = &line{run: e.Run, task: e.Task, ant: e.Ant, lost: true}
		b.byKey[key] = l
		b.lines = append(b.lines, l)
	}
	if !l.lost || !l.open && r.Outcome == "lost" {
		return
	}
	l.usage, l.usd, l.price, l.estimated = r.Usage, r.USD, r.Price, r.Estimated
	l.lost, l.open, l.miss = r.Outcome == "lost", false, r.CacheMiss
	if l.lost {
		l.estimated = true
	}
}

// Total is the sum of all lines.
func (b *Bill) Total() (event.Usage, *event.PicoUSD, event.Price) {
	s := b.sum(func(*line) bool { return true })
	return s.Usage, s.USD, s.Price
}

// Task is the sum of a task's lines.
func (b *Bill) Task(id string) (event.Usage, *event.PicoUSD, event.Price) {
	s := b.sum(func(l *line) bool { return l.task == id })
	return s.Usage, s.USD, s.Price
}

// Live says that the owner of a run is at work: a request without a reply is in flight there, not lost, and is not on
// the bill yet.
func (b *Bill) Live(run string) {
	if b.live == nil {
		b.live = map[string]bool{}
	}
	b.live[run] = true
}

// counted is the lines that are on the bill.
func (b *Bill) counted() []*line {
	var out []*line
	for _, l := range b.lines {
		if !l.open || !b.live[l.run] {
			out = append(out, l)
		}
	}
	return out
}

// sum adds the lines that are in.
func (b *Bill) sum(in func(*line) bool) Sum {
	var s adder
	for _, l := range b.counted() {
		if in(l) {
			s.add(l)
		}
	}
	return s.sum()
}
