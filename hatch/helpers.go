package hatch

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"colony/cards"
	"colony/plan"
)

// The cards of ants that colony itself sends, for tasks of other cards.
const (
	reviewerCard = "reviewer"
	resolverCard = "resolver"
)

// retries is how often an attempt that colony lost is made again.
const retries = 1

// castHelpers adds the reviewer and the resolver to the cards of the run.
func (c *Colony) castHelpers(context.Context) error {
	for _, card := range slices.Collect(maps.Values(c.cards)) {
		if err := c.castHatched(card); err != nil {
			return err
		}
	}
	for name, tool := range map[string]string{reviewerCard: "review", resolverCard: "done"} {
		card, err := c.parts.Cards.Get(name)
		if err != nil {
			if c.needs(name) {
				return &Problem{Exit: 2, Code: "no_card", Message: err.Error(), Next: "colony cards list"}
			}
			continue
		}
		faults := cards.Lint(card, c.parts.ToolNames())
		if len(faults) == 0 && !slices.Contains(card.Tools, tool) {
			return &Problem{Exit: 2, Code: "bad_file", Message: fmt.Sprintf("card %s in %s must list the tool %s", name, card.Source, tool), Next: "colony cards show " + name}
		}
		if len(faults) > 0 {
			return faults
		}
		c.cards[name] = card
	}
	return nil
}

// needs reports whether somebody asked for what only this card's ants do.
func (c *Colony) needs(name string) bool {
	return name == reviewerCard && (c.settings.run.Review || slices.ContainsFunc(c.parts.Plan.Tasks, func(t plan.Task) bool { return t.Review }))
}

// helper is the name of a helper's card; empty where the run goes without.
func (c *Colony) helper(name string) string { return c.cards[name].Name }

// escalated is where the model is kept to which a card escalates. No card can have this name.
func escalated(card string) string { return card + " escalated" }

// chooseEscalated finds the model to which a card escalates.
func (c *Colony) chooseEscalated(card cards.Card) error {
	if card.Escalate == "" {
		return nil
	}
	m, err := c.resolve(card.Name, card.Escalate)
	if err != nil {
		return err
	}
	c.models[escalated(card.Name)] = m
	return nil
}

// escalate lets the ant go on with the other model of its card, once.
func (l *life) escalate(ctx context.Context) (bool, error) {
	other, ok := l.models[escalated(l.card.Name)]
	if !ok || l.risen {
		return false, nil
	}
	l.risen, l.model = true, other
	l.account.Provider, l.account.Model = other.provider, other.name
	memory, err := l.recall(ctx)
	if err != nil {
		return false, err
	}
	return true, l.animate(ctx, memory)
}
