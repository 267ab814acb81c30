package model_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"colony/model"
)

// pair is two models of one key.
func pair(t *testing.T, a, b *outside) (first, second model.Provider) {
	t.Helper()
	key := model.NewKey()
	shared := func(p *model.GovernorParts) { p.Key = key }
	return govern(t, a, shared), govern(t, b, shared)
}

func fine(int, time.Duration) (model.Reply, error) { return model.Reply{}, nil }

// contract 58: a wait that one model is asked for holds for all models of the key.
func TestAKeyCoolsAllItsModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := &outside{answer: func(n int, _ time.Duration) (model.Reply, error) {
			if n == 1 {
				return model.Reply{}, fails(model.RateLimited, func(e *model.Error) { e.Status, e.RetryAfter = 429, 7*time.Second })
			}
			return model.Reply{}, nil
		}}
		other := &outside{answer: fine}
		a, b := pair(t, limited, other)
		var all sync.WaitGroup
		all.Go(func() { swarm(a, 1) })
		synctest.Wait()
		swarm(b, 1)
		all.Wait()
		if at := other.offsets()[0]; at < 7*time.Second {
			t.Errorf("the other model was asked after %v", at)
		}
	})
}

// A key without credit is refused once: no other model of it is asked. An unknown model says nothing of the key.
func TestAKeyWithoutQuotaStopsAllItsModels(t *testing.T) {
	for kind, want := range map[model.Kind]int{model.Quota: 0, model.Auth: 0, model.NoModel: 1} {
		synctest.Test(t, func(t *testing.T) {
			broke := &outside{answer: func(int, time.Duration) (model.Reply, error) { return model.Reply{}, fails(kind, nil) }}
			other := &outside{answer: fine}
			a, b := pair(t, broke, other)
			errs := append(swarm(a, 3), swarm(b, 3)...)
			if len(broke.sent) != 1 || (len(other.sent) > 0) != (want > 0) {
				t.Errorf("%s: %d and %d requests", kind, len(broke.sent), len(other.sent))
			}
			var e *model.Error
			if !errors.As(errs[0], &e) || e.Kind != kind {
				t.Errorf("%s: got %v", kind, errs[0])
			}
		})
	}
}

// contract 76: the first request of a key goes alone, whatever the model; then all go at once.
func TestAKeyIsTriedByOne(t *testing.T) {
	for kind, want := range map[model.Kind][2]int{model.Quota: {1, 0}, model.NoModel: {1, 4}, "": {4, 4}} {
		synctest.Test(t, func(t *testing.T) {
			one := &outside{takes: time.Second, answer: func(int, time.Duration) (model.Reply, error) {
				if kind == "" {
					return model.Reply{}, nil
				}
				return model.Reply{}, fails(kind, nil)
			}}
			other := &outside{takes: time.Second, answer: fine}
			a, b := pair(t, one, other)
			var all sync.WaitGroup
			all.Go(func() { swarm(a, 4) })
			synctest.Wait()
			swarm(b, 4)
			all.Wait()
			if got := [2]int{len(one.sent), len(other.sent)}; got != want {
				t.Errorf("%q: %v requests, want %v", kind, got, want)
			}
			early := slices.DeleteFunc(append(one.offsets(), other.offsets()...), func(d time.Duration) bool { return d >= time.Second })
			if len(early) != 1 {
				t.Errorf("%q: %d requests before the first answer", kind, len(early))
			}
		})
	}
}

// A reply that the limit cuts is asked for once more with twice the limit, and no more than the model gives.
func TestACutReplyIsAskedForWithTwiceTheLimit(t *testing.T) {
	for most, want := range map[int][]int{0: {100, 200}, 150: {100, 150}, 100: {100}} {
		var limits []int
		g, err := model.NewGovernor(model.GovernorParts{Throttled: func(string, time.Time) {}, Output: most})
		if err != nil {
			t.Fatal(err)
		}
		p := g.Around(providerFunc(func(req model.Request) (model.Reply, error) {
			limits = append(limits, req.OutputLimit)
			if !req.Grown {
				return model.Reply{}, fails(model.Cut, nil)
			}
			return model.Reply{Finish: model.FinishLength}, nil
		}))
		got, err := p.Complete(t.Context(), model.Request{OutputLimit: 100}, nil)
		if err != nil || got.Finish != model.FinishLength || !slices.Equal(limits, want) {
			t.Errorf("most %d: limits %v, want %v; %v", most, limits, want, err)
		}
	}
}

type providerFunc func(model.Request) (model.Reply, error)

func (f providerFunc) Complete(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
	return f(req)
}

// What matters more goes first where all wait for the same.
func TestTheMoreImportantGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []int
		g, err := model.NewGovernor(model.GovernorParts{Throttled: func(string, time.Time) {}})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		p := g.Around(providerFunc(func(req model.Request) (model.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			if n++; n == 1 {
				return model.Reply{}, fails(model.RateLimited, func(e *model.Error) { e.Status, e.RetryAfter = 429, 10*time.Second })
			}
			order = append(order, req.Priority)
			return model.Reply{}, nil
		}))
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() { _, _ = p.Complete(context.Background(), model.Request{Priority: i}, nil) })
		}
		all.Wait()
		for i, priority := range order { // two that go at one instant may arrive in either order
			if late := i - (7 - priority); late > 1 || late < -1 {
				t.Errorf("order %v", order)
			}
		}
	})
}
