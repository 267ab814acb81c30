package ledger

import (
	"fmt"
	"math"
	"sort"
	"time"

	"colony/event"
	"colony/model"
)

// amounts are what caps count.
type amounts struct{ usd, tokens, turns, calls int64 }

func (a amounts) plus(b amounts) amounts {
	return amounts{add(a.usd, b.usd), add(a.tokens, b.tokens), add(a.turns, b.turns), add(a.calls, b.calls)}
}

func (a amounts) minus(b amounts) amounts {
	return amounts{a.usd - b.usd, a.tokens - b.tokens, a.turns - b.turns, a.calls - b.calls}
}

// add is a sum that stays at the largest number.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// purse is what one run, task or ant may spend, has spent and has in flight. Its Book's mutex guards it.
type purse struct {
	scope string
	caps  Caps
	since time.Time
	used  amounts
	held  amounts
}

// want is a request that asks to be sent.
type want struct {
	rate    Rate
	service string // by which the last reply came
	input   int64  // tokens, estimated
	output  int64  // tokens, as asked for
}

// least is the output below which a request is not worth sending.
func (w want) least() int64 { return min(w.output, 256) }

// room is how much output every purse leaves for a request, at most what it wants, and the cap that leaves
// least. With settled, what is in flight is taken to cost nothing.
func room(purses []*purse, w want, settled bool) (int64, *model.CapError) {
	left, why := w.output, (*model.CapError)(nil)
	for _, p := range purses {
		spent := p.used
		if !settled {
			spent = spent.plus(p.held)
		}
		if l, e := p.room(spent, w, left); e != nil {
			left, why = l, e
		}
	}
	return left, why
}

// room is the output that this purse leaves, with the cap that makes it less than most.
func (p *purse) room(spent amounts, w want, most int64) (int64, *model.CapError) {
	left, why := most, (*model.CapError)(nil)
	if c := p.caps.Turns; c != nil && spent.turns >= *c {
		left, why = -1, p.capError("turns", fmt.Sprintf("%d of %d turns are used", spent.turns, *c))
	}
	if c := p.caps.Tokens; c != nil {
		if l := *c - spent.tokens - w.input; l < left {
			left, why = l, p.capError("tokens", fmt.Sprintf("%d of %d tokens are used, the request needs about %d and its answer",
				spent.tokens, *c, w.input))
		}
	}
	if c := p.caps.PicoUSD; c != nil && w.rate.known() {
		if l := affordable(w, *c-spent.usd, left); l < left {
			left, why = l, p.capError("usd", fmt.Sprintf("%s of %s dollars are used, the request needs about %s and its answer",
				event.PicoUSD(spent.usd), event.PicoUSD(*c), event.PicoUSD(w.rate.most(w.service, w.input, 0))))
		}
	}
	return left, why
}

// affordable is the largest output, at most most, whose request costs no more than left; -1 where there is none.
func affordable(w want, left, most int64) int64 {
	if most < 0 || w.rate.most(w.service, w.input, most) <= left {
		return most
	}
	return int64(sort.Search(int(most)+1, func(o int) bool { return w.rate.most(w.service, w.input, int64(o)) > left })) - 1
}

// overdue is the error of a wall cap that has passed.
func (p *purse) overdue(now time.Time) *model.CapError {
	if p.caps.Wall == nil || now.Before(p.since.Add(*p.caps.Wall)) {
		return nil
	}
	return p.wallError()
}

func (p *purse) wallError() *model.CapError {
	return p.capError("wall", fmt.Sprintf("%s are over", *p.caps.Wall))
}

func (p *purse) capError(kind, text string) *model.CapError {
	return &model.CapError{Scope: p.scope, Cap: kind, Text: text}
}

// unpriced is the error of a model without a price under a cap in dollars that no token cap of the same or
// of a wider scope holds too. Purses are ordered from the widest.
func unpriced(purses []*purse, a Account, r Rate) *model.CapError {
	if r.price() != event.Unknown {
		return nil
	}
	held := false
	for _, p := range purses {
		held = held || p.caps.Tokens != nil
		if p.caps.PicoUSD != nil && !held {
			return p.capError("usd", fmt.Sprintf("the price of %s/%s is unknown: set a token cap too", a.Provider, a.Model))
		}
	}
	return nil
}
