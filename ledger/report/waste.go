package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"colony/event"
	"colony/ledger"
)

// Waste is what was spent for little.
type Waste struct {
	Startup  int64            `json:"startup_tokens"`         // of ants' first requests, that no cache served
	Missed   int64            `json:"cache_miss_tokens"`      // asked for before, and not served by the cache
	Causes   map[string]int64 `json:"cache_misses,omitempty"` // of these, by cause
	Repeated int64            `json:"repeated_read_tokens"`   // of files read again that had not changed, about
	Unlanded *event.PicoUSD   `json:"unlanded_usd"`           // of tasks that ended and did not land
	Redone   *event.PicoUSD   `json:"redone_usd"`             // of further attempts at tasks
	Retried  *event.PicoUSD   `json:"retried_usd"`            // of requests that failed and were billed
	Failures int64            `json:"failed_requests"`
	Findings []Finding        `json:"findings"`
}

// Finding is one kind of waste, the ants that caused it, most first, and what to change.
type Finding struct {
	Kind   string         `json:"kind"`
	Tokens int64          `json:"tokens,omitempty"`
	USD    *event.PicoUSD `json:"usd,omitempty"`
	Ants   []string       `json:"ants"`
	Change string         `json:"change"`
}

// pile is how much of one kind of waste each ant caused.
type pile map[string]int64

func (p pile) sum() (n int64) {
	for _, v := range p {
		n += v
	}
	return n
}

func (p pile) ants() []string {
	names := slices.Collect(maps.Keys(p))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(p[b], p[a]), cmp.Compare(a, b)) })
	return names
}

// piles are the kinds of waste.
type piles struct {
	startup, repeated, unlanded, redone, failures, retried, idle pile
	missed                                                       map[string]pile
	unlandedAll, all                                             ledger.Count
}

// waste adds up what was spent for little.
func (s *source) waste() Waste {
	p := s.piles()
	w := Waste{Startup: p.startup.sum(), Repeated: p.repeated.sum(), Failures: p.failures.sum(), Unlanded: p.unlandedAll.Sum().USD, Findings: []Finding{}}
	if p.all.Sum().USD != nil {
		w.Redone, w.Retried = pico(p.redone.sum()), pico(p.retried.sum())
	}
	for cause, pile := range p.missed {
		if w.Causes == nil {
			w.Causes = map[string]int64{}
		}
		w.Causes[cause] = pile.sum()
		w.Missed += pile.sum()
	}
	w.Findings = append(w.Findings, s.findings(p, w)...)
	return w
}

func pico(n int64) *event.PicoUSD { p := event.PicoUSD(n); return &p }

func (s *source) piles() piles {
	p := piles{startup: pile{}, repeated: pile{}, unlanded: pile{}, redone: pile{}, failures: pile{}, retried: pile{}, idle: pile{}, missed: map[string]pile{}}
	for _, l := range s.lines {
		name, w := s.inRun(l.run, l.cell.Ant), l.cell.Waste
		put := func(into pile, n int64) {
			if n > 0 {
				into[name] += n
			}
		}
		p.all.Add(l.count)
		put(p.startup, w.Startup)
		put(p.repeated, w.Repeated)
		put(p.redone, int64(w.Redone))
		put(p.failures, w.Failures+l.count.Lost)
		put(p.retried, int64(w.Retried))
		for cause, n := range w.Missed {
			if p.missed[cause] == nil {
				p.missed[cause] = pile{}
			}
			put(p.missed[cause], n)
		}
		if l.unlanded() {
			p.unlandedAll.Add(l.count)
			put(p.unlanded, l.count.Usage.Input+l.count.Usage.Output)
		}
		if l.ant != nil && l.ant.Calls == 0 && l.ant.Reason != "" {
			put(p.idle, l.count.Usage.Input+l.count.Usage.Output)
		}
	}
	return p
}

// findings are the kinds of waste that there are, each with what to change.
func (s *source) findings(p piles, w Waste) []Finding {
	var out []Finding
	add := func(kind string, of pile, tokens int64, usd *event.PicoUSD, change string) {
		if len(of) > 0 {
			out = append(out, Finding{kind, tokens, usd, of.ants(), change})
		}
	}
	var input int64
	if input = p.all.Usage.Input; len(p.startup) > 0 && w.Startup*5 >= input {
		add("startup", p.startup, w.Startup, nil, fmt.Sprintf("%d%% of all input is what ants read before their first call: give their cards fewer tools and shorter prompts, or make tasks larger.", w.Startup*100/max(input, 1)))
	}
	for _, cause := range slices.Sorted(maps.Keys(p.missed)) {
		add("cache_miss:"+cause, p.missed[cause], p.missed[cause].sum(), nil, remedy(cause))
	}
	add("repeated_reads", p.repeated, w.Repeated, nil, "These ants read files again that had not changed: name the files that matter in the task's prompt, or cut the task so that its files fit into the context.")
	add("unlanded", p.unlanded, p.unlanded.sum(), w.Unlanded, "This went into tasks that did not land: colony status says why each ended; mend the prompt or the gate before it is tried again.")
	add("redone", p.redone, 0, w.Redone, "This went into second and later attempts: tasks that touch the same files belong after one another (needs, files), and a gate that the ant can run itself fails earlier.")
	add("retries", p.failures, 0, w.Retried, "Requests failed and were sent again: fewer ants at once (--ants), or a higher rate limit at the provider.")
	add("no_action", p.idle, p.idle.sum(), nil, "These ants ended without using a tool: their prompts ask for nothing that can be done, or the model does not call tools.")
	return out
}

// remedy is what to change about a cause of cache misses.
func remedy(cause string) string {
	switch cause {
	case "idle":
		return "More than five minutes lay between two requests, and the cache had let go: shorten long commands and gates, or let the ant wait less."
	case "tools_changed":
		return "Tools were loaded on the way and changed the prefix: list what is always needed in the card's tools."
	case "context_compacted":
		return "The conversation was shortened: cut the task, or name a model with a larger window."
	case "model_changed":
		return "Another model took over and had nothing cached: name the model that can finish the task first."
	case "unknown":
		return "The provider gave no reason: it may have moved the requests to another machine; spread ants over fewer providers, or ask there."
	}
	return "The provider says why: look up its reason and keep that part of the request the same from turn to turn."
}
