package guard

import (
	"context"
	"reflect"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"colony/tools"
)

// Bounds of the questions of one batch that are open at once, and of the calls that one of them is about.
const (
	maxOpen   = 32
	maxJoined = 8
)

// answers are what was answered before the call's turn came, for each ant. mu guards all.
type answers struct {
	mu  sync.Mutex
	ant map[string]map[answerKey]foreseen
}

type answerKey struct{ call, digest string }

// Foresee judges a batch before its first call runs and opens the questions of all its calls together. It
// returns when all are answered. Each call is judged again at its turn, where an answer counts once and only
// if the call would still touch the same. Answers of an earlier batch of the ant are dropped.
func (p *Policy) Foresee(ctx context.Context, env *tools.Env, calls []tools.Prepared) error {
	p.asked.forget(env.Ant)
	p.hooks.forget(env.Ant)
	asking := pool.New().WithContext(ctx).WithMaxGoroutines(maxOpen).WithFirstError()
	var about []doubt
	for _, call := range calls {
		if call.Refused != nil {
			continue
		}
		call, d, refused, err := p.judge(env, call)
		if err != nil {
			return err
		}
		if refused != nil || d.Decision != Ask {
			continue
		}
		if d, err = p.hear(ctx, env, call, d); ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if d.Decision == Ask {
			about = append(about, doubt{call, d})
		}
	}
	for _, group := range together(about) {
		asking.Go(func(ctx context.Context) error {
			heard, _, err := p.put(ctx, env, group...)
			for _, one := range heard {
				p.asked.keep(env.Ant, one)
			}
			return err // one that comes to a fault now is judged at its turn
		})
	}
	if err := asking.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil // a cancelled batch ends call by call
}

// together puts those next to each other into one question that one answer may settle: calls of one tool whose operation
// handles no credentials, and that the same rule asks about.
func together(about []doubt) [][]doubt {
	var groups [][]doubt
	for i, one := range about {
		if i > 0 && one.joins(about[i-1]) && len(groups[len(groups)-1]) < maxJoined {
			groups[len(groups)-1] = append(groups[len(groups)-1], one)
			continue
		}
		groups = append(groups, []doubt{one})
	}
	return groups
}

func (o doubt) joins(before doubt) bool {
	return o.call.Call.Name == before.call.Call.Name && o.call.Tool.Spec().Noncredential && o.d.Stage == before.d.Stage && o.d.Rule == before.d.Rule
}

// answer is the foreseen answer to a call, or a new one; or why the call would come to nothing.
func (p *Policy) answer(ctx context.Context, env *tools.Env, one doubt) (foreseen, *tools.Result, error) {
	if early, ok := p.asked.take(env.Ant, one.call); ok && (early.drift != "" || drifted(early.files, operands(env, one.call.Effects)) == "") {
		return early, nil, nil
	}
	heard, refused, err := p.put(ctx, env, one)
	if len(heard) == 0 {
		return foreseen{}, refused, err
	}
	return heard[0], nil, nil
}

func (a *answers) forget(ant string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ant, ant)
}

func (a *answers) keep(ant string, heard foreseen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ant == nil {
		a.ant = map[string]map[answerKey]foreseen{}
	}
	if a.ant[ant] == nil {
		a.ant[ant] = map[answerKey]foreseen{}
	}
	a.ant[ant][answerKey{heard.call.Call.ID, heard.call.Digest}] = heard
}

// take is the answer to a call, once. One about other effects is dropped.
func (a *answers) take(ant string, call tools.Prepared) (foreseen, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := answerKey{call.Call.ID, call.Digest}
	early, ok := a.ant[ant][key]
	delete(a.ant[ant], key)
	return early, ok && reflect.DeepEqual(early.call.Effects, call.Effects)
}
