package scripted

import (
	"crypto/sha256"
	"sync"

	"colony/model"
)

// passage is a piece of a prompt: the hash of all up to its end, its size, and whether a breakpoint follows it.
type passage struct {
	sum    [32]byte
	size   int
	marked bool
}

// pass appends a piece of the prompt.
func (r *request) pass(text string, mark []byte) {
	var before [32]byte
	if n := len(r.prompt); n > 0 {
		before = r.prompt[n-1].sum
	}
	sum := sha256.Sum256(append(append([]byte(r.Model), before[:]...), text...))
	r.prompt = append(r.prompt, passage{sum, len(text), marked(mark) > 0})
}

// passAll makes pieces of a conversation whose wire keeps all of it, without breakpoints.
func (r *request) passAll(body string) {
	if len(r.prompt) > 0 {
		return
	}
	const block = 512
	for body != "" {
		n := min(block, len(body))
		r.pass(body[:n], []byte("kept"))
		body = body[n:]
	}
}

// lookBack is how many pieces before a breakpoint are looked for in the cache.
const lookBack = 20

// cache is what the server keeps of prompts. It is safe for concurrent use.
type cache struct {
	mu   sync.Mutex // guards kept
	kept map[[32]byte]bool
}

// serve is the usage of a prompt of so many tokens: what is read from the cache, what is written to it, what is neither.
func (c *cache) serve(prompt []passage, input int64) model.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[[32]byte]bool{}
	}
	total, upTo, found, last := 0, make([]int, len(prompt)), -1, -1
	for i, p := range prompt {
		total += p.size
		upTo[i] = total
		if !p.marked {
			continue
		}
		for j := i; j >= 0 && j > i-lookBack && j > found; j-- {
			if c.kept[prompt[j].sum] {
				found = j
			}
		}
		last = i
	}
	share := func(i int) int64 {
		if i < 0 {
			return 0
		}
		return min(model.EstimateTokens(upTo[i]), input)
	}
	for i, p := range prompt {
		if p.marked {
			c.kept[prompt[i].sum] = true
		}
	}
	read, kept := share(found), share(max(last, found))
	return model.Usage{Fresh: input - kept, Cached: read, CacheWrite: kept - read}
}
