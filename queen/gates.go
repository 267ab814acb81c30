package queen

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"colony/event"
	"colony/plan"
	"colony/repo"
)

// gateKey is what makes two gates one.
type gateKey struct{ run, dir string }

func keyOf(g plan.Gate) gateKey { return gateKey{g.Run, g.Dir} }

// union is the gates of all lists, each once, in order.
func union(lists ...[]plan.Gate) []plan.Gate {
	var out []plan.Gate
	seen := map[gateKey]bool{}
	for _, list := range lists {
		for _, g := range list {
			if !seen[keyOf(g)] {
				seen[keyOf(g)] = true
				out = append(out, g)
			}
		}
	}
	return out
}

// onTree is a gate on a tree.
type onTree struct {
	gate gateKey
	tree string
}

// ratchet knows which gates only advise and what passed where. It belongs to one goroutine; a landing works
// on a copy.
type ratchet struct {
	advises map[gateKey]bool // red on the base and not yet passed on a tree of the branch
	passed  map[onTree]event.GateReceipt
	red     map[onTree]event.GateReceipt
}

func newRatchet() *ratchet {
	return &ratchet{advises: map[gateKey]bool{}, passed: map[onTree]event.GateReceipt{}, red: map[onTree]event.GateReceipt{}}
}

func (r *ratchet) copy() *ratchet {
	return &ratchet{advises: maps.Clone(r.advises), passed: maps.Clone(r.passed), red: maps.Clone(r.red)}
}

// binding are the gates of a task that can hold it back as things are. Its own always do.
func (r *ratchet) binding(p Parts, t *task) []plan.Gate {
	own := map[gateKey]bool{}
	for _, g := range union(p.Cards(t.Card), t.Gates) {
		own[keyOf(g)] = true
	}
	var out []plan.Gate
	for _, g := range t.gates {
		if own[keyOf(g)] || !r.advises[keyOf(g)] {
			out = append(out, g)
		}
	}
	return out
}

// bind lets the gates that passed on a tree of the branch hold from now on.
func (r *ratchet) bind(gates []plan.Gate, receipts []event.GateReceipt) {
	for i, receipt := range receipts {
		if receipt.Exit == 0 {
			delete(r.advises, keyOf(gates[i]))
		}
	}
}

// gateRun is gates on one tree.
type gateRun struct {
	where, task  string
	commit, tree string // an empty tree is read from the checkout
	gates        []plan.Gate
}

// runGates runs the gates, each after its start was recorded, and reuses what they said of the tree already.
// The checkout is made only where one has to run.
func runGates(ctx context.Context, p Parts, rt *ratchet, run gateRun) (receipts []event.GateReceipt, err error) {
	var out repo.Checkout
	defer func() {
		if out.Remove != nil {
			err = errors.Join(err, out.Remove())
		}
	}()
	for _, g := range run.gates {
		receipt, reused := rt.passed[onTree{keyOf(g), run.tree}]
		if !reused {
			receipt, reused = rt.red[onTree{keyOf(g), run.tree}]
		}
		if receipt.Reused = reused; !reused {
			if out.Dir == "" {
				if out, err = p.Repo.Checkout(ctx, run.commit); err != nil {
					return nil, err
				}
				run.tree = out.Tree
			}
			if receipt, err = runGate(ctx, p, run, g, out.Dir); err != nil {
				return nil, err
			}
			receipt.Red = receipt.Exit != 0 && (run.where == "base" || rt.advises[keyOf(g)])
		}
		if receipt.Exit == 0 {
			rt.passed[onTree{keyOf(g), run.tree}] = receipt
		} else {
			rt.red[onTree{keyOf(g), run.tree}] = receipt
		}
		receipts = append(receipts, receipt)
		if err := record(ctx, p, gateDone(run, g, receipt)); err != nil {
			return nil, err
		}
	}
	return receipts, nil
}

func runGate(ctx context.Context, p Parts, run gateRun, g plan.Gate, dir string) (event.GateReceipt, error) {
	started := event.GateStarted{Gate: g.Title(), Command: g.Run, Where: run.where, Tree: run.tree}
	if err := record(ctx, p, event.Event{Task: run.task, Body: started}); err != nil {
		return event.GateReceipt{}, err
	}
	receipt, err := p.Gate(ctx, dir, g)
	if err != nil {
		return receipt, fmt.Errorf("run the gate %q: %w", g.Title(), err)
	}
	receipt.Command, receipt.Tree = g.Run, run.tree
	return receipt, nil
}

func gateDone(run gateRun, g plan.Gate, r event.GateReceipt) event.Event {
	return event.Event{Task: run.task, Body: event.GateDone{Gate: g.Title(), Command: g.Run, Where: run.where, Tree: run.tree, Exit: r.Exit,
		Ms: r.Ms, Output: r.Output, Reused: r.Reused, Flaky: r.Flaky, RedOnBase: r.Red}}
}

// baseGates runs the repository's gates on the base. One that is red refuses the run, or only advises.
func (r *run) baseGates(ctx context.Context) error {
	gates := union(r.p.Gates)
	receipts, err := runGates(ctx, r.p, r.ratchet, gateRun{where: "base", commit: r.p.Base, gates: gates})
	if err != nil {
		return err
	}
	for i, receipt := range receipts {
		if receipt.Exit == 0 {
			continue
		}
		r.ratchet.advises[keyOf(gates[i])] = true
		if r.refused == nil && !r.p.RedBase(gates[i].Title(), receipt.Exit) {
			r.refused = &Unplanned{Exit: exitRefused, Reason: fmt.Sprintf("red_base: the gate %q ends with %d on the base already: mend it first, or go on with --red-base allow", gates[i].Title(), receipt.Exit)}
		}
	}
	return nil
}
