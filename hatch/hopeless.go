package hatch

import (
	"errors"

	"colony/model"
	"colony/queen"
)

// hopeless reports whether no later request of the run can work: neither of a card, nor of any task of the plan. Vain is a
// model that is of no use though its governor lets requests pass; empty for none.
func (c *Colony) hopeless(card, vain string) bool {
	all := []string{card}
	for _, t := range c.log.plan() {
		all = append(all, t.Card)
	}
	for _, name := range all {
		m := c.models[name]
		for _, one := range append([]chosen{m}, m.next...) {
			if way, ok := c.routed[one.String()]; ok && one.String() != vain && way.governor.Dead() == nil {
				return false
			}
		}
	}
	return true
}

// turnedAway is the outcome of an order whose ant no model of its card would answer; false where one may.
func (c *Colony) turnedAway(o queen.Order) (queen.Outcome, bool) {
	var last chosen
	var why *model.Error
	m := c.models[o.Card]
	for _, last = range append([]chosen{m}, m.next...) {
		if way, ok := c.routed[last.String()]; !ok || !errors.As(way.governor.Dead(), &why) {
			return queen.Outcome{}, false
		}
	}
	return queen.Outcome{Reason: queen.Model, Detail: c.advise(last, why), Fatal: c.hopeless(o.Card, "")}, true
}
