package ledger

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"colony/event"
)

const (
	bytesAToken = 4               // about, where no reply tells better
	cacheable   = 1024            // tokens below which no provider caches
	cacheKeeps  = 5 * time.Minute // how long the shortest cache keeps what nobody asks for
)

// holds is what an ant's conversation holds, as far as it says which tool its tokens are of.
type holds struct {
	Tools  []*held         `json:"tools,omitempty"`
	System int64           `json:"system,omitempty"` // bytes of the system prompt
	Told   int64           `json:"told,omitempty"`   // bytes of texts that no request had yet
	Input  int64           `json:"input,omitempty"`  // of the request before
	Output int64           `json:"output,omitempty"`
	At     time.Time       `json:"at"`
	Model  string          `json:"model,omitempty"`
	Shrunk bool            `json:"shrunk,omitempty"` // since the request before
	Loaded bool            `json:"loaded,omitempty"`
	Read   map[string]bool `json:"read,omitempty"` // parts of files, as they were
}

// held is what a tool has of a conversation.
type held struct {
	Tool    string `json:"tool"`
	Results int64  `json:"results,omitempty"` // tokens
	Fresh   int64  `json:"fresh,omitempty"`   // bytes of results that no request had yet
	Bytes   int64  `json:"bytes,omitempty"`   // of its schema
	Schema  int64  `json:"schema,omitempty"`  // tokens
}

func (h *holds) of(tool string) *held {
	for _, t := range h.Tools {
		if t.Tool == tool {
			return t
		}
	}
	t := &held{Tool: tool}
	h.Tools = append(h.Tools, t)
	return t
}

func (a *Ant) holds() *holds {
	if a.Holds == nil {
		a.Holds = &holds{}
	}
	return a.Holds
}

// hatched begins a conversation, or goes on with it under other tools.
func (h *holds) hatched(r *Run, e event.AntHatched) {
	h.System = r.sizesOf(e.System, false)[""]
	sizes := r.sizesOf(e.ToolsSum, true)
	for _, tool := range slices.Sorted(maps.Keys(sizes)) {
		h.of(tool).Bytes = sizes[tool]
	}
}

// sizesOf are the bytes of a blob: of a system prompt as a whole, of a list of tools for each.
func (r *Run) sizesOf(digest string, list bool) map[string]int64 {
	if have, ok := r.Sizes[digest]; ok || r.blob == nil || digest == "" {
		return have
	}
	data, err := r.blob(digest)
	if err != nil {
		return nil // it has gone with the conversations
	}
	sizes := map[string]int64{"": int64(len(data))}
	if list {
		sizes = map[string]int64{}
		var specs []json.RawMessage
		_ = json.Unmarshal(data, &specs) // what cannot be read has no size
		for _, raw := range specs {
			var spec struct{ Name string }
			if json.Unmarshal(raw, &spec) == nil && spec.Name != "" {
				sizes[spec.Name] += int64(len(raw))
			}
		}
	}
	r.Sizes[digest] = sizes
	return sizes
}

// compacted lets go of what a conversation lost.
func (h *holds) compacted(c event.AntCompacted) {
	h.Shrunk = true
	for _, t := range h.Tools {
		if c.After < c.Before {
			t.Results = part(t.Results, c.After, c.Before)
		}
	}
}

// called takes the result of a call in.
func (r *Run) called(e event.Event, d event.ToolDone) {
	a := r.ant(e)
	a.Calls++
	h, size := a.holds(), int64(len(d.Text))
	if size == 0 {
		size = d.Bytes
	}
	h.of(d.Tool).Fresh += size
	h.Loaded = h.Loaded || len(d.Loaded) > 0
	c := r.last(a)
	if c == nil {
		return
	}
	c.share(d.Tool).Calls++
	if h.again(d.Seen) && d.Fault == "" {
		c.Waste.Repeated += (size + bytesAToken - 1) / bytesAToken
	}
}

// again reports whether all that was seen had been seen before and was not written since, and remembers it.
func (h *holds) again(seen []event.Seen) bool {
	all := len(seen) > 0
	for _, s := range seen {
		sum := fnv.New64a()
		sum.Write([]byte(s.Path + "\x00" + s.Hash + "\x00" + strconv.Itoa(s.From) + "-" + strconv.Itoa(s.To)))
		key := strconv.FormatUint(sum.Sum64(), 36)
		all = all && h.Read[key] && !s.Wrote
		if h.Read == nil {
			h.Read = map[string]bool{}
		}
		h.Read[key] = true
	}
	return all
}

func (c *Cell) share(tool string) *Share {
	if c.Tools == nil {
		c.Tools = map[string]*Share{}
	}
	if c.Tools[tool] == nil {
		c.Tools[tool] = &Share{}
	}
	return c.Tools[tool]
}

// spread says what of a settled attempt is of which tool, and what of it was spent for little.
func (r *Run) spread(e event.Event, a *Ant, c *Cell, m event.ModelReplied) {
	if m.RateDate != "" && !slices.Contains(c.Rates, m.RateDate) {
		c.Rates = append(c.Rates, m.RateDate)
	}
	if m.Usage != (event.Usage{}) {
		r.tick(e.Time, m.Usage)
	}
	if m.USD != nil && a.Attempt > 1 {
		c.Waste.Redone += *m.USD
	}
	if m.Outcome != "ok" {
		c.Waste.Failures++
		if m.USD != nil {
			c.Waste.Retried += *m.USD
		}
		return
	}
	if m.Usage.Input == 0 || strings.HasSuffix(m.Request, ".summary") {
		return
	}
	r.caching[c.Model] = r.caching[c.Model] || m.Usage.Cached > 0
	h := a.holds()
	if h.Input == 0 {
		c.Waste.Startup += m.Usage.Input - m.Usage.Cached
	} else if cause, missed := h.missed(e, c.Model, r.caching[c.Model], m); missed > 0 {
		if c.Waste.Missed == nil {
			c.Waste.Missed = map[string]int64{}
		}
		c.Waste.Missed[cause] += missed
	}
	h.settle(c, m, r.inputUSD(m))
	h.Input, h.Output, h.At, h.Model = m.Usage.Input, m.Usage.Output, e.Time, c.Model
	h.Shrunk, h.Loaded = false, false
}

// mostTicks is into how many pieces the course of a run is cut at most.
const mostTicks = 2000

// tick takes down when something was billed. A long run has longer ticks.
func (r *Run) tick(at time.Time, u event.Usage) {
	key := at.Unix() / r.Tick
	r.Ticks[key] = r.Ticks[key].Add(u)
	if len(r.Ticks) <= mostTicks {
		return
	}
	half := map[int64]event.Usage{}
	for key, u := range r.Ticks {
		half[key>>1] = half[key>>1].Add(u)
	}
	r.Tick, r.Ticks = r.Tick*2, half
}

// missed is how much of the request before was asked for anew though the cache could have had it, and why.
func (h *holds) missed(e event.Event, model string, caching bool, m event.ModelReplied) (string, int64) {
	same := min(h.Input, m.Usage.Input) - m.Usage.Cached
	if !caching || same < cacheable {
		return "", 0
	}
	switch {
	case m.CacheMiss != "" && m.CacheMissed > 0:
		return m.CacheMiss, min(same, m.CacheMissed)
	case m.CacheMiss != "":
		return m.CacheMiss, same
	case h.Model != model:
		return "model_changed", same
	case h.Shrunk:
		return "context_compacted", same
	case h.Loaded:
		return "tools_changed", same
	case e.Time.Sub(h.At) > cacheKeeps:
		return "idle", same
	}
	return "unknown", same
}

// settle takes what is fresh into the context, and gives each tool its share of what the request's input cost.
func (h *holds) settle(c *Cell, m event.ModelReplied, cost event.PicoUSD) {
	first, grown, bytes := h.Input == 0, m.Usage.Input-h.Input-h.Output, h.Told
	all := h.Told + h.System
	for _, t := range h.Tools {
		bytes, all = bytes+t.Fresh, all+t.Bytes
	}
	left := m.Usage.Input
	for _, t := range h.Tools {
		s := c.share(t.Tool)
		before := t.Results + t.Schema
		if first && t.Bytes > 0 {
			t.Schema = part(m.Usage.Input, t.Bytes, all)
			s.Schema += t.Schema
		}
		if t.Fresh > 0 {
			put := (t.Fresh + bytesAToken - 1) / bytesAToken
			if !first && !h.Shrunk && grown > 0 {
				put = part(grown, t.Fresh, bytes)
			}
			t.Results, t.Fresh = t.Results+put, 0
			s.Put += put
		}
		now := min(t.Results+t.Schema, left)
		left -= now
		s.Reread += min(before, now)
		s.take(m.Usage, now, cost)
	}
	h.Told = 0
}

// take adds the share that so many tokens have of a request: of each kind of input, and of the money as if all tokens were
// worth the same. What is rounded off stays with the conversation.
func (s *Share) take(u event.Usage, tokens int64, cost event.PicoUSD) {
	s.Usage = s.Usage.Add(event.Usage{
		Input: tokens, Cached: part(u.Cached, tokens, u.Input), CacheWrite: part(u.CacheWrite, tokens, u.Input),
		CacheWriteLong: part(u.CacheWriteLong, tokens, u.Input),
	})
	s.USD += event.PicoUSD(part(int64(cost), tokens, u.Input))
}

// part is n × some / whole, rounded down.
func part(n, some, whole int64) int64 {
	if n <= 0 || some <= 0 || whole <= 0 {
		return 0
	}
	if some >= whole {
		return n
	}
	high, low := bits.Mul64(uint64(n), uint64(some))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int64(quotient)
}
