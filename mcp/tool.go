package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"colony/tools"
	"colony/view"
)

// tool is an offer as an ant calls it.
type tool struct {
	server *Server
	offer  *offer
}

// Spec is what the user saw of it.
func (t tool) Spec() tools.Spec { return t.offer.spec }

// IsConcurrencySafe is what the user says: a call that changes nothing runs beside others.
func (t tool) IsConcurrencySafe(json.RawMessage) bool {
	return t.offer.spec.ReadOnly && t.offer.was == nil
}

// Effects are not known, but where the user graded the tool as one that only reads. A tool of which its server says something
// else than its user saw is asked about, whatever allows it.
func (t tool) Effects(*tools.Env, json.RawMessage) (tools.Effects, error) {
	e := tools.Effects{Known: t.offer.spec.ReadOnly, ReadOnly: t.offer.spec.ReadOnly, Hosts: t.server.parts.Hosts}
	if t.offer.was != nil {
		e.Opinion = tools.OpinionAsk
		e.Why = fmt.Sprintf("the MCP server %s says something else of %s now than when it was first seen (sha256 %.12s, now %.12s), and a yes takes it",
			t.server.Name(), t.offer.name, t.offer.was.hash(), t.offer.pin.hash())
	}
	return e, nil
}

// Preview shows what the server says anew.
func (t tool) Preview(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
	if t.offer.was == nil {
		return tools.Result{}, nil
	}
	return tools.Result{Views: view.List{t.offer.was.diff(t.offer.pin)}}, nil
}

// Run calls the tool. That a call of one that changed comes here is its user's yes to the change.
func (t tool) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	if !t.server.stands(t.offer) {
		return tools.Refuse(tools.Missing, fmt.Sprintf("%s is not offered any more as it was when the call was made: look for it with tool_search and call it anew", t.offer.name)), nil
	}
	if t.offer.was != nil {
		if _, err := t.server.Accept(t.offer.name); err != nil {
			return tools.Result{}, err
		}
	}
	grade := t.server.parts.Entry.Grades[t.offer.raw]
	return t.server.run(ctx, env, grade.Idempotent, func(ctx context.Context, c *call) (tools.Result, error) {
		return t.offer.do(ctx, c, args)
	})
}

var (
	_ tools.Tool      = tool{}
	_ tools.Previewer = tool{}
)
