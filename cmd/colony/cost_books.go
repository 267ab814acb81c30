package main

import (
	"context"
	"fmt"

	"colony/hatch"
	"colony/ledger"
	"colony/view"
)

// books are the bills that a verb is about, and which of them cannot be read to their end.
type books struct {
	app   *app
	house *hatch.House
	all   bool
	bad   []damaged
	last  error
}

// bill is that of the run that was named, else of this repository or of all, imported ones with it.
func (b *books) bill(ctx context.Context, args []string) (ledger.Bill, error) {
	pasts, err := b.pasts(args)
	if err != nil && len(args) > 0 {
		return b.alone(args[0], err)
	}
	if err != nil {
		return ledger.Bill{}, err
	}
	var bill ledger.Bill
	for _, p := range pasts {
		run, err := p.Account(ctx)
		if unreadable(err) {
			b.damaged(p.ID, err)
		} else if err != nil {
			return bill, err
		}
		bill.Join(run)
	}
	if len(args) > 0 {
		return bill, nil
	}
	imported, err := b.imported(b.all)
	for _, run := range imported {
		bill.Join(run)
	}
	return bill, err
}

// imported are the bills that were brought, but for those that cannot be read.
func (b *books) imported(all bool) ([]*ledger.Run, error) {
	runs, err := b.house.Imported(all)
	if unreadable(err) {
		b.damaged("ledger", err)
		err = nil
	}
	return runs, err
}

// alone is the bill of an imported run that a word names, or of one whose conversations are gone; missing where there is none.
func (b *books) alone(word string, missing error) (ledger.Bill, error) {
	var bill ledger.Bill
	imported, err := b.imported(true)
	if err != nil {
		return bill, err
	}
	for _, run := range imported {
		if run.ID == word {
			bill.Join(run)
		}
	}
	if len(bill.Runs()) == 0 {
		return bill, missing
	}
	return bill, nil
}

func (b *books) pasts(args []string) ([]hatch.Past, error) {
	switch {
	case len(args) > 0:
		past, err := b.house.Find(args[0])
		return []hatch.Past{past}, err
	case b.all:
		return b.house.Everywhere()
	}
	return b.house.Runs()
}

func (b *books) damaged(run string, err error) {
	for _, d := range b.bad {
		if d.Run == run {
			return
		}
	}
	b.bad, b.last = append(b.bad, damaged{run, err.Error()}), err
}

// told names what could not be read.
func (b *books) told() error {
	if len(b.bad) == 0 {
		return nil
	}
	b.app.exit = 3
	if b.app.json {
		return nil
	}
	for _, d := range b.bad {
		fmt.Fprintf(b.app.out, "damaged: what %s cost after this is not in the bill: %s\n", view.Line(d.Run), view.Line(d.Error))
	}
	b.app.advise(b.last)
	return nil
}
