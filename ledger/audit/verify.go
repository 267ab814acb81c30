// Package audit proves bills: that a run's sums follow from its log, and that they are what a provider says it counted.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"colony/event"
	"colony/ledger"
)

// Proof is what a look at one run's log came to.
type Proof struct {
	Run     string `json:"run"`
	Events  int64  `json:"events"`
	Charges int64  `json:"charges"` // attempts with a reply
	Priced  int64  `json:"priced"`  // of these, those that were worked out again from their rate
	Blobs   int64  `json:"blobs"`   // whose content has the digest that the log names
	ledger.Sum
	Faults []string `json:"faults"` // what does not hold
}

// mostFaults is how many faults of a run are named.
const mostFaults = 20

func (p *Proof) fault(format string, args ...any) {
	if len(p.Faults) < mostFaults {
		p.Faults = append(p.Faults, fmt.Sprintf(format, args...))
	}
}

// Verify reads a log from its beginning, makes the bill anew and holds it against what the log itself says: each charge
// against its rate, the totals that were written down against the sum of charges, and blobs against their digests. The
// reader of events proves their chain. Blob answers fs.ErrNotExist for what
// is gone.
func Verify(run *ledger.Run, events iter.Seq2[event.Event, error], blob func(sha256 string) ([]byte, error)) (Proof, error) {
	p := Proof{Run: run.ID, Faults: []string{}}
	seen := map[string]bool{}
	check := func(digests ...string) {
		for _, d := range digests {
			if d == "" || seen[d] {
				continue
			}
			seen[d] = true
			data, err := blob(d)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				p.fault("the blob %s: %v", d, err)
				continue
			}
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != d {
				p.fault("the blob %s has another content", d)
				continue
			}
			p.Blobs++
		}
	}
	for e, err := range events {
		if err != nil {
			p.fault("%v", err)
			p.total(run)
			return p, err
		}
		p.Events++
		run.Add(e)
		switch b := e.Body.(type) {
		case event.RunStarted:
			check(b.Settings, b.Plan)
			for _, c := range b.Cards {
				check(c.SHA256)
			}
		case event.AntHatched:
			check(b.CardHash, b.System, b.ToolsSum)
		case event.ModelReplied:
			p.charge(e, b)
		case event.TaskDone:
			p.agrees(fmt.Sprintf("event %d: the task %s", e.Seq, e.Task), sumOf(run, e.Task), ledger.Sum{Usage: b.Usage, USD: b.USD, Price: b.Price})
		case event.RunFinished:
			p.agrees(fmt.Sprintf("event %d: the run", e.Seq), sumOf(run, ""), ledger.Sum{Usage: b.Usage, USD: b.USD, Price: b.Price})
		}
	}
	p.total(run)
	return p, nil
}

func (p *Proof) charge(e event.Event, m event.ModelReplied) {
	p.Charges++
	u := m.Usage
	if u.Cached+u.CacheWrite > u.Input || u.Reasoning > u.Output || u.CacheWriteLong > u.CacheWrite {
		p.fault("event %d: the kinds of tokens of %s do not fit into each other", e.Seq, m.Request)
	}
	if m.Outcome == "lost" {
		return
	}
	right, known := ledger.Priced(m)
	if known && m.Price == event.Known {
		p.Priced++
	}
	if known && !right {
		p.fault("event %d: the charge of %s is not what its rate %q says", e.Seq, m.Request, m.Rate)
	}
}

// agrees holds a total that was written down against the sum of charges up to there.
func (p *Proof) agrees(what string, counted, written ledger.Sum) {
	if counted.Usage != written.Usage || (counted.USD == nil) != (written.USD == nil) || counted.USD != nil && *counted.USD != *written.USD {
		p.fault("%s was written down with %s, and its charges come to %s", what, words(written), words(counted))
	}
}

func (p *Proof) total(run *ledger.Run) {
	p.Sum = sumOf(run, "")
	var rows ledger.Count
	for i := range run.Cells {
		rows.Add(run.Of(i))
	}
	var ticks event.Usage
	for _, u := range run.Ticks {
		ticks = ticks.Add(u)
	}
	for i, c := range run.Cells {
		var tools event.Usage
		for _, t := range c.Tools {
			tools = tools.Add(t.Usage)
		}
		if n := run.Of(i).Usage; tools.Input > n.Input || tools.Cached > n.Cached {
			p.fault("the tools of %s have more tokens than its requests", c.Ant)
		}
	}
	if len(run.Open) == 0 && ticks != rows.Usage {
		p.fault("the ticks come to %d requests, and the rows to %d", ticks.Requests, rows.Usage.Requests)
	}
}

// sumOf is what the attempts of a task come to, or of the whole run.
func sumOf(run *ledger.Run, task string) ledger.Sum {
	var all ledger.Count
	for i, c := range run.Cells {
		if task == "" || c.Task == task {
			all.Add(run.Of(i))
		}
	}
	return all.Sum()
}

func words(s ledger.Sum) string {
	usd := "an unknown amount"
	if s.USD != nil {
		usd = "$" + s.USD.String()
	}
	return fmt.Sprintf("%d requests, %d tokens in, %d out, %s", s.Usage.Requests, s.Usage.Input, s.Usage.Output, usd)
}
