package mcp_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"colony/mcp"
	"colony/tools"
)

// R6, in short: whatever a server does, every call comes back within its bound, with a fault that says what is known, and the
// server is there again when it behaves.
func TestChaos(t *testing.T) {
	w := newWorld(t, func(p *mcp.Parts) { p.Limits.Call = time.Second })
	var names []string
	calls := []tools.Call{
		{Name: "mcp__t__echo", Args: json.RawMessage(`{"text":"x"}`)}, {Name: "mcp__t__echo", Args: json.RawMessage(`{"text":"y"}`)},
		{Name: "mcp__t__die", Args: json.RawMessage(`{}`)}, {Name: "mcp__t__flood", Args: json.RawMessage(`{}`)},
		{Name: "mcp__t__sleep", Args: json.RawMessage(`{"ms":60000}`)}, {Name: "mcp__t__big", Args: json.RawMessage(`{"mib":16}`)},
		{Name: "mcp__t__grow", Args: json.RawMessage(`{}`)}, {Name: "mcp__t__fail", Args: json.RawMessage(`{}`)},
	}
	for _, c := range calls {
		names = append(names, c.Name)
	}
	w.env.Tools.Load(names...)
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(7, seed))
			for range 12 {
				p := w.env.Tools.Prepare(calls[random.IntN(len(calls))])
				if p.Refused != nil {
					continue // its definition was just listed anew
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				began := time.Now()
				r, err := tools.Invoke(ctx, w.env, p)
				cancel()
				known := []tools.Fault{"", tools.Transient, tools.Timeout, tools.Validation, tools.Internal, tools.Missing}
				if took := time.Since(began); err != nil || !slices.Contains(known, r.Fault) || took > 30*time.Second {
					t.Errorf("%s took %s: %q %v: %s", p.Call.Name, took, r.Fault, err, short(r.Text))
				}
			}
		})
	}
	all.Wait()
	until(t, "it answers again", func() bool { return w.call("echo", `{"text":"after"}`).Fault == "" })
}
