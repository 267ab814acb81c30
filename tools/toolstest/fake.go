// Package toolstest is the one suite that every tool passes, and what its tests need: an env on a scratch
// tree and a tool whose answers the test chooses.
package toolstest

import (
	"context"
	"encoding/json"

	"colony/tools"
)

// Fake is a tool with chosen answers. What is left out answers as cautiously as tools.Base, and runs to the
// text "ran".
type Fake struct {
	Is    tools.Spec // Name is needed; a description and an object schema are filled in
	Safe  func(args json.RawMessage) bool
	Touch func(env *tools.Env, args json.RawMessage) (tools.Effects, error)
	Do    func(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error)
}

// Spec is Is, made complete.
func (f Fake) Spec() tools.Spec {
	s := f.Is
	if s.Description == "" {
		s.Description = "Does what the test says."
	}
	if s.Params == nil {
		s.Params = json.RawMessage(`{"type":"object"}`)
	}
	return s
}

// IsConcurrencySafe asks Safe.
func (f Fake) IsConcurrencySafe(args json.RawMessage) bool {
	if f.Safe == nil {
		return tools.Base{}.IsConcurrencySafe(args)
	}
	return f.Safe(args)
}

// Effects asks Touch.
func (f Fake) Effects(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
	if f.Touch == nil {
		return tools.Base{}.Effects(env, args)
	}
	return f.Touch(env, args)
}

// Run asks Do.
func (f Fake) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	if f.Do == nil {
		return tools.Result{Text: "ran"}, nil
	}
	return f.Do(ctx, env, args)
}

// Named is a fake of that name which answers everything by default.
func Named(name string) Fake { return Fake{Is: tools.Spec{Name: name}} }

// Reader is a fake that is read-only, safe beside others, and runs as do says.
func Reader(name string, do func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error)) Fake {
	return Fake{
		Is:   tools.Spec{Name: name, ReadOnly: true},
		Safe: func(json.RawMessage) bool { return true },
		Touch: func(*tools.Env, json.RawMessage) (tools.Effects, error) {
			return tools.Effects{Known: true, ReadOnly: true}, nil
		},
		Do: do,
	}
}

var _ tools.Tool = Fake{}
