package guard_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"colony/guard"
	"colony/tools"
)

// named is a tool that counts its runs and is harmless by itself.
func named(name string, ran map[string]int) tools.Tool {
	return counted{stub{name: name, effects: func(*tools.Env) (tools.Effects, error) {
		ran[name]++ // reading its effects is reaching it
		return tools.Effects{Known: true, ReadOnly: true}, nil
	}, ran: new(int)}}
}

type counted struct{ stub }

func (c counted) Spec() tools.Spec {
	return tools.Spec{Name: c.name, Description: "does " + c.name, Params: json.RawMessage(`{"type":"object"}`), ReadOnly: true}
}

// matches is the allowlist as CONTRACTS says it: exact names, and patterns that end in a star.
func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		start, wild := strings.CutSuffix(p, "*")
		return p == name || wild && strings.HasPrefix(name, start)
	})
}

// Law 2, contract 6, 8, 11, 12, PM02, PM03, PM04: a name outside the card, or outside the card of any ant that hatched
// this one, is never shown, found or run: also where a server registers it late, where it waits to be loaded, and where a
// mode and rules allow everything.
func TestLawAllowlistIsAWall(t *testing.T) {
	env := newEnv(t)
	pool := []string{"read", "write", "sh", "fetch", "mcp__github__issue", "mcp__github__create", "mcp__db__drop", "mcp__db__read"}
	patterns := append(slices.Clone(pool), "mcp__github__*", "mcp__*")
	rapid.Check(t, func(rt *rapid.T) {
		ran := map[string]int{}
		root := tools.NewRegistry(io.Discard)
		early := rapid.SliceOfDistinct(rapid.SampledFrom(pool), rapid.ID).Draw(rt, "early")
		for _, name := range early {
			if err := root.Register(tools.BuiltIn, named(name, ran)); err != nil {
				rt.Fatal(err)
			}
		}
		if err := root.Register(tools.BuiltIn, tools.SearchTool()); err != nil {
			rt.Fatal(err)
		}
		ant, walls := root, [][]string{}
		for range rapid.IntRange(1, 3).Draw(rt, "depth") { // an ant, its helper, the helper's
			card := rapid.SliceOfDistinct(rapid.SampledFrom(patterns), rapid.ID).Draw(rt, "card")
			card = slices.DeleteFunc(card, func(p string) bool { // an unknown plain name is refused when the card is read
				return !strings.HasSuffix(p, "*") && !strings.HasPrefix(p, "mcp__") && !slices.Contains(early, p)
			})
			list := append(slices.Clone(card), "tool_search")
			child, err := ant.Child(list, nil)
			if err != nil {
				return // not a card
			}
			child.Freeze()
			ant, walls = child, append(walls, list)
		}
		for _, name := range pool { // a server that comes late, in the root
			if !slices.Contains(early, name) && rapid.Bool().Draw(rt, "late "+name) {
				if err := root.RegisterDeferred("server", named(name, ran)); err != nil {
					rt.Fatal(err)
				}
			}
		}
		p := policy(t, guard.Parts{Mode: guard.ModeAuto, Sandboxed: true, Rules: rules(t, append(slices.Clone(pool), "tool_search"), nil, nil)})
		own := *env
		own.Tools, own.Files = ant, tools.NewFileState()
		own.Ask = (&desk{answer: forRun}).ask
		gate := p.Gate()(tools.Invoke)
		for i, name := range append(slices.Clone(pool), "READ", "read ", "bash", "mcp__github__", "mcp__github__*", "*", "re\u0430d") {
			inside := slices.Contains(pool, name) && !slices.ContainsFunc(walls, func(w []string) bool { return !matches(w, name) })
			for try := range 2 { // the first call of a tool that waits loads it
				_, err := gate(t.Context(), &own, ant.Prepare(tools.Call{ID: fmt.Sprint(i, try), Name: name, Args: []byte("{}")}))
				if err != nil {
					rt.Fatal(err)
				}
				ant.Load(name)
			}
			found := ant.Prepare(tools.Call{ID: "s", Name: "tool_search", Args: []byte(`{"query":"select:` + strings.TrimSpace(name) + `"}`)})
			result, err := gate(t.Context(), &own, found)
			if err != nil {
				rt.Fatal(err)
			}
			_, listed := ant.Lookup(name)
			shown := slices.ContainsFunc(slices.Concat(ant.List(), ant.Specs(), ant.Deferred()), func(s tools.Spec) bool { return s.Name == name })
			if !inside && (listed || shown || ran[name] > 0 || slices.Contains(result.Loaded, name) || strings.Contains(result.Text, "does "+name)) {
				rt.Fatalf("%q is outside %q: listed %t, shown %t, ran %d, search %+v", name, walls, listed, shown, ran[name], result)
			}
			if inside && listed && ran[name] == 0 {
				rt.Fatalf("%q is inside %q and was not reached", name, walls)
			}
		}
	})
}
