package guard

import (
	"context"
	"fmt"
	"sync"

	"colony/tools"
)

// Hook asks commands of a person's about a call that nothing refuses yet, before anybody is asked. Its decision is Allow,
// Ask, Deny or empty. An allow answers only the question that comes because nothing else decides: it passes no floor and
// no rule.
type Hook func(ctx context.Context, env *tools.Env, call tools.Prepared) (decision, reason string, err error)

// hooked is what hooks said of the calls of a batch, so that each is asked once. mu guards ant.
type hooked struct {
	mu  sync.Mutex
	ant map[string]map[answerKey]hookSaid
}

type hookSaid struct{ decision, reason string }

// hear lets the hooks change a decision: to a stricter one, or where nothing else decides.
func (p *Policy) hear(ctx context.Context, env *tools.Env, call tools.Prepared, d Decision) (Decision, error) {
	if p.parts.Hook == nil || d.Decision == Deny {
		return d, nil
	}
	said, known := p.hooks.said(env.Ant, call)
	if !known {
		var err error
		if said.decision, said.reason, err = p.parts.Hook(ctx, env, call); err != nil {
			return d, fmt.Errorf("ask the hooks about %s: %w", call.Call.Name, err)
		}
		p.hooks.keep(env.Ant, call, said)
	}
	heard := Decision{Decision: said.decision, Stage: "hook", Rule: "PreToolUse", Segment: call.Call.Name, Reason: said.reason}
	switch {
	case said.decision == Deny, said.decision == Ask && d.Decision == Allow, said.decision == Allow && d.Decision == Ask && d.Stage == "default":
		return heard, nil
	}
	return d, nil
}

func (h *hooked) said(ant string, call tools.Prepared) (hookSaid, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	said, ok := h.ant[ant][answerKey{call.Call.ID, call.Digest}]
	return said, ok
}

func (h *hooked) keep(ant string, call tools.Prepared, said hookSaid) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ant == nil {
		h.ant = map[string]map[answerKey]hookSaid{}
	}
	if h.ant[ant] == nil {
		h.ant[ant] = map[answerKey]hookSaid{}
	}
	h.ant[ant][answerKey{call.Call.ID, call.Digest}] = said
}

// forget drops what was said of an earlier batch.
func (h *hooked) forget(ant string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ant, ant)
}
