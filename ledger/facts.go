package ledger

import (
	"time"

	"colony/event"
	"colony/model"
)

// Run is what the log of one run says of its spending. Its fields are read, never written, outside this room.
type Run struct {
	ID     string            `json:"run"`
	Birth  string            `json:"birth"` // the id of its first event: it tells runs of one name on two machines apart
	Repo   string            `json:"repo"`  // where it was; the one who reads the log says so
	User   string            `json:"user"`
	Labels map[string]string `json:"labels,omitempty"`
	Base   string            `json:"base,omitempty"` // the commit at which it began
	Status string            `json:"status"`
	Seq    event.Seq         `json:"seq"` // of the last event that is in
	Began  time.Time         `json:"began"`
	Last   time.Time         `json:"last"`
	Live   bool              `json:"-"` // its owner is at work: what has no reply is in flight, not lost

	Cards   map[string]string           `json:"cards"` // source of a card, by NAME@HASH
	Ants    []*Ant                      `json:"ants"`
	Tasks   []*Task                     `json:"tasks"`
	Cells   []*Cell                     `json:"cells"`
	Open    []*Open                     `json:"open,omitempty"`  // attempts whose reply is not in the log, or is recorded as lost
	Tick    int64                       `json:"tick"`            // how many seconds a tick has
	Ticks   map[int64]event.Usage       `json:"ticks,omitempty"` // what was billed in each tick since 1970
	Sizes   map[string]map[string]int64 `json:"sizes,omitempty"` // bytes of what an ant is hatched with, by the digest of its system prompt or tools
	caching map[string]bool             // models whose cache has served something
	ants    map[string]*Ant
	tasks   map[string]*Task
	cells   map[cellKey]*Cell
	open    map[attempt]*Open
	blob    func(sha256 string) ([]byte, error)
	// The last rate that was read.
	rateText string
	rate     model.Price
}

// Ant is one ant of a run.
type Ant struct {
	ID      string    `json:"id"`
	Task    string    `json:"task,omitempty"`
	Card    string    `json:"card,omitempty"`
	Hash    string    `json:"card_sha256,omitempty"`
	Parent  string    `json:"parent,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	Reason  string    `json:"reason,omitempty"` // why it ended
	Calls   int64     `json:"calls"`            // of tools that came to a result
	Seen    settled   `json:"seen"`
	Holds   *holds    `json:"holds,omitempty"`
	At      int       `json:"at,omitempty"` // its last cell, from 1; 0 is none
}

// Task is one task of a run.
type Task struct {
	ID      string    `json:"id"`
	Title   string    `json:"title,omitempty"`
	Status  string    `json:"status,omitempty"`  // final; empty while it is under way
	Commit  string    `json:"commit,omitempty"`  // that landed
	Authors []string  `json:"authors,omitempty"` // ants whose work was committed
	Done    time.Time `json:"done"`
	Lines   int64     `json:"lines,omitempty"` // that its commit added or took away; the one who reads the log says so
	Counted bool      `json:"counted,omitempty"`
}

// Cell is what an ant spent on one model on one day (UTC).
type Cell struct {
	Task  string `json:"task,omitempty"`
	Ant   string `json:"ant"`
	Model string `json:"model"` // provider/model
	Day   string `json:"day"`
	Count
	Tools map[string]*Share `json:"tools,omitempty"`
	Waste Wasted            `json:"waste"`
	Rates []string          `json:"rates,omitempty"` // the days since which the rates in force held
	place int
}

// Count adds attempts up. An attempt that was not billed has no say in the price, unless all are such.
type Count struct {
	Usage     event.Usage      `json:"usage"`
	USD       event.PicoUSD    `json:"usd"`
	Held      event.PicoUSD    `json:"held,omitempty"` // set aside for attempts that came by a service without a price
	Attempts  int64            `json:"attempts"`
	Known     int64            `json:"known,omitempty"`
	Free      int64            `json:"free,omitempty"`
	Unknown   int64            `json:"unknown,omitempty"`
	Silent    int64            `json:"silent,omitempty"` // not billed, at a price that is not known
	Estimated int64            `json:"estimated,omitempty"`
	Lost      int64            `json:"lost,omitempty"`
	Misses    map[string]int64 `json:"misses,omitempty"` // attempts by what the provider says of its cache
}

// Share is what a tool has of the contexts of an ant's requests, in tokens, and of what they cost.
type Share struct {
	Calls  int64         `json:"calls"`
	Put    int64         `json:"put"`    // that its results brought
	Schema int64         `json:"schema"` // of its schema, once for an ant
	Reread int64         `json:"reread"` // of both, in each later request
	Usage  event.Usage   `json:"usage"`
	USD    event.PicoUSD `json:"usd"`
}

// Wasted is what was spent for little.
type Wasted struct {
	Startup  int64            `json:"startup,omitempty"`  // tokens of an ant's first request that no cache served
	Missed   map[string]int64 `json:"missed,omitempty"`   // tokens that the request before had too and the cache did not serve, by cause
	Repeated int64            `json:"repeated,omitempty"` // tokens, about, of files read again that had not changed
	Retried  event.PicoUSD    `json:"retried,omitempty"`  // of attempts that failed and were billed
	Failures int64            `json:"failures,omitempty"` // attempts that failed
	Redone   event.PicoUSD    `json:"redone,omitempty"`   // of further attempts at a task
}

// Open is an attempt without a reply. It counts as what was set aside for it.
type Open struct {
	Ant      string             `json:"ant"`
	Request  string             `json:"request"`
	Attempt  int                `json:"attempt"`
	Cell     int                `json:"cell"`
	Recorded bool               `json:"recorded,omitempty"` // the log says that it is lost
	Gone     event.ModelReplied `json:"gone"`
}

type cellKey struct{ task, ant, model, day string }

// add counts one attempt.
func (c *Count) add(r event.ModelReplied, lost bool) {
	c.Usage = c.Usage.Add(r.Usage)
	c.Attempts++
	if r.Estimated || lost {
		c.Estimated++
	}
	if lost {
		c.Lost++
	}
	if r.USD != nil {
		c.USD += *r.USD
	}
	switch {
	case r.Usage == event.Usage{}:
		if r.USD == nil {
			c.Silent++
		}
	case r.USD == nil:
		c.Unknown++
	case r.Price == event.Free:
		c.Free++
	default:
		c.Known++
	}
	if r.CacheMiss != "" {
		if c.Misses == nil {
			c.Misses = map[string]int64{}
		}
		c.Misses[r.CacheMiss]++
	}
}

// Add counts what another has counted.
func (c *Count) Add(d Count) {
	c.Usage, c.USD = c.Usage.Add(d.Usage), c.USD+d.USD
	c.Attempts, c.Known, c.Free, c.Unknown, c.Silent = c.Attempts+d.Attempts, c.Known+d.Known, c.Free+d.Free, c.Unknown+d.Unknown, c.Silent+d.Silent
	c.Estimated, c.Lost, c.Held = c.Estimated+d.Estimated, c.Lost+d.Lost, c.Held+d.Held
	for why, n := range d.Misses {
		if c.Misses == nil {
			c.Misses = map[string]int64{}
		}
		c.Misses[why] += n
	}
}

// Sum is what the attempts come to.
func (c Count) Sum() Sum {
	usd, price := &c.USD, event.Known
	switch {
	case c.Unknown > 0 || c.Silent > 0 && c.Known == 0 && c.Free == 0:
		usd, price = nil, event.Unknown
	case c.Free > 0 && c.Known == 0:
		price = event.Free
	}
	return Sum{c.Usage, usd, price}
}

// Sum is what lines of a bill come to. USD is nil where a price is unknown.
type Sum struct {
	Usage event.Usage    `json:"usage"`
	USD   *event.PicoUSD `json:"usd"`
	Price event.Price    `json:"price"`
}

// Of is what is counted of a cell: what its attempts came to and, where no owner is at work on them, those without a
// reply.
func (r *Run) Of(i int) Count {
	c := r.Cells[i].Count
	c.Misses = nil
	c.Add(Count{Misses: r.Cells[i].Misses})
	for _, o := range r.Open {
		if o != nil && o.Cell == i && (o.Recorded || !r.Live) {
			c.add(o.Gone, true)
		}
	}
	return c
}
