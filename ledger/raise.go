package ledger

// Caps are a copy of those of the run as they are now.
func (b *Book) Caps() Caps {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.run.caps
	for _, p := range []**int64{&c.PicoUSD, &c.Tokens} {
		if *p != nil {
			n := **p
			*p = &n
		}
	}
	return c
}

// Raise sets the run's caps on money and tokens. What waits for room is looked at again.
func (b *Book) Raise(usd, tokens *int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.run.caps.PicoUSD, b.run.caps.Tokens = usd, tokens
	close(b.settled)
	b.settled = make(chan struct{})
}
