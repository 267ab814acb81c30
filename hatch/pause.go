package hatch

import (
	"context"
	"sync"
	"time"

	"colony/event"
	"colony/model"
)

// pauser holds ants back while a person has the run paused. It is safe for concurrent use.
type pauser struct {
	now    func() time.Time
	mu     sync.Mutex    // guards what follows
	since  time.Time     // of the pause that holds
	over   chan struct{} // closed when it ends; nil while there is none
	paused time.Duration // in pauses that are over
}

// pause begins a pause; false where one holds already.
func (p *pauser) pause() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over != nil {
		return false
	}
	p.since, p.over = p.now(), make(chan struct{})
	return true
}

// goOn ends the pause; false where none holds.
func (p *pauser) goOn() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil {
		return false
	}
	close(p.over)
	p.paused += p.now().Sub(p.since)
	p.over = nil
	return true
}

// wait returns when no pause holds, or ctx is done or the run is being stopped.
func (p *pauser) wait(ctx context.Context, stopping <-chan struct{}) {
	for {
		p.mu.Lock()
		over := p.over
		p.mu.Unlock()
		if over == nil {
			return
		}
		select {
		case <-over:
		case <-ctx.Done():
			return
		case <-stopping:
			return
		}
	}
}

// clock stands still while a pause holds, for limits that it does not use up.
func (p *pauser) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.over != nil {
		now = p.since
	}
	return now.Add(-p.paused)
}

// resting is a provider of which nothing is asked while the run is paused.
type resting struct {
	model.Provider
	pauser   *pauser
	stopping <-chan struct{}
}

// Complete waits for the pause to end, then asks.
func (r resting) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	r.pauser.wait(ctx, r.stopping)
	return r.Provider.Complete(ctx, req, show)
}

// Paused reports whether a person has the run paused, as its log says.
func (p Past) Paused(ctx context.Context) (paused bool, err error) {
	for e, err := range p.Events(ctx) {
		if err != nil {
			return false, err
		}
		switch b := e.Body.(type) {
		case event.RunPaused:
			paused = paused || b.By != nil
		case event.RunResumed, event.RunFinished:
			paused = false
		case event.Steered:
			paused = paused && (e.Ant != "" || b.Text != event.GoOn)
		}
	}
	return paused, nil
}
