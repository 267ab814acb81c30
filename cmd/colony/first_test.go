package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"colony/cards"
	"colony/event"
	"colony/ledger"
	"colony/model"
)

// mostFirst is more than the first request of an ant holds: its rules, tools and task, and all the instructions that a
// repository may give.
const mostFirst = 80 << 10

// Contract 77: the first request of every built-in card is admitted under the card's own caps with every model that colony
// chooses by itself, with the output limit of 16,384.
func TestEveryFirstRequestIsAdmitted(t *testing.T) {
	catalogue, err := model.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, entry := range catalogue.List() {
		if entry.Alias == "" {
			continue
		}
		for _, card := range cards.Builtin() {
			tried++
			log := event.NewMemory("r", time.Now)
			book, err := ledger.NewBook(ledger.Parts{Log: log, Now: time.Now, Rate: func(string, string) ledger.Rate {
				return ledger.Rate{State: event.Known, Cost: func(u model.Usage) event.PicoUSD {
					pico, _ := entry.Price.Cost(u)
					return event.PicoUSD(pico)
				}}
			}})
			if err != nil {
				t.Fatal(err)
			}
			account := ledger.Account{Run: "r", Task: "t", Ant: card.Name + "-1", Card: card.Name, Provider: entry.Provider, Model: entry.Name}
			c := card.Caps
			book.OpenTask("t", ledger.Caps{})
			book.OpenAnt(account, ledger.Caps{PicoUSD: c.PicoUSD, Tokens: c.Tokens, Turns: c.Turns, Calls: c.Calls, Wall: c.Wall})
			_, err = book.Meter(account, saysNothing{}).Complete(t.Context(), model.Request{
				ID: "1", Model: entry.Name, OutputLimit: c.Output, Messages: []model.Message{{Role: model.System, Text: strings.Repeat("x", mostFirst)}},
			}, nil)
			if err != nil {
				t.Errorf("%s with %s: %v", card.Name, entry.Name, err)
			}
			for e, err := range log.Read(t.Context(), 0) {
				if asked, ok := e.Body.(event.ModelRequested); err != nil || ok && asked.OutputLimit != 16_384 {
					t.Errorf("%s with %s: %+v, %v", card.Name, entry.Name, asked, err)
				}
			}
		}
	}
	if tried < 20 {
		t.Errorf("%d pairs of a card and a model were tried", tried)
	}
}

type saysNothing struct{}

func (saysNothing) Complete(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return model.Reply{Usage: model.Usage{Fresh: 1}}, nil
}
