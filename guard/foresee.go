package guard

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"colony/tools"
)

// maxOpen bounds the questions of one batch that are open at once.
const maxOpen = 32

// answers are what was answered before the call's turn came, for each ant. mu guards all.
type answers struct {
	mu  sync.Mutex
	ant map[string]map[answerKey]foreseen
}

type answerKey struct{ call, digest string }

// foreseen is an answer and what it was about.
type foreseen struct {
	answer  tools.Answer
	effects tools.Effects
}

// Foresee judges a batch before its first call runs and opens the questions of all its calls together. It
// returns when all are answered. Each call is judged again at its turn, where an answer counts once and only
// if the call would still touch the same. Answers of an earlier batch of the ant are dropped.
func (p *Policy) Foresee(ctx context.Context, env *tools.Env, calls []tools.Prepared) error {
	p.asked.forget(env.Ant)
	p.hooks.forget(env.Ant)
	asking := pool.New().WithContext(ctx).WithMaxGoroutines(maxOpen).WithFirstError()
	for _, call := range calls {
		if call.Refused != nil {
			continue
		}
		call, d, refused, err := p.judge(env, call)
		if err != nil {
			return errors.Join(err, asking.Wait())
		}
		if refused != nil || d.Decision != Ask {
			continue
		}
		if d, err = p.hear(ctx, env, call, d); ctx.Err() != nil {
			break
		}
		if err != nil {
			return errors.Join(err, asking.Wait())
		}
		if d.Decision != Ask {
			continue
		}
		asking.Go(func(ctx context.Context) error {
			answer, err := env.Ask(ctx, question(env, call, d))
			if err != nil {
				return err
			}
			p.asked.keep(env.Ant, call, answer)
			return nil
		})
	}
	if err := asking.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil // a cancelled batch ends call by call
}

// answer is the foreseen answer to a call, or a new one.
func (p *Policy) answer(ctx context.Context, env *tools.Env, call tools.Prepared, d Decision) (tools.Answer, error) {
	if early, ok := p.asked.take(env.Ant, call); ok {
		return early, nil
	}
	return env.Ask(ctx, question(env, call, d))
}

func (a *answers) forget(ant string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ant, ant)
}

func (a *answers) keep(ant string, call tools.Prepared, answer tools.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ant == nil {
		a.ant = map[string]map[answerKey]foreseen{}
	}
	if a.ant[ant] == nil {
		a.ant[ant] = map[answerKey]foreseen{}
	}
	a.ant[ant][answerKey{call.Call.ID, call.Digest}] = foreseen{answer, call.Effects}
}

// take is the answer to a call, once. One about other effects is dropped.
func (a *answers) take(ant string, call tools.Prepared) (tools.Answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := answerKey{call.Call.ID, call.Digest}
	early, ok := a.ant[ant][key]
	delete(a.ant[ant], key)
	return early.answer, ok && reflect.DeepEqual(early.effects, call.Effects)
}
