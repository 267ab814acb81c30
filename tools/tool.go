// Package tools is the contract between a tool and the colony: what a call is, what it would touch,
// what it came to, and which tools an ant may see. Every ant holds a Registry carved from a shared
// parent; every call goes down one stack of layers and back up once.
package tools

import (
	"context"
	"encoding/json"
	"strings"
)

// Spec is what is advertised of a tool.
type Spec struct {
	Name          string
	Description   string          // the model-facing text
	Params        json.RawMessage // JSON Schema of the arguments, an object
	ReadOnly      bool            // every call is
	Noncredential bool            // the operation handles no credentials, whatever its target
	ResultCap     int             // bytes of text before the result spills; 0 is DefaultResultCap, NoCap never spills
}

// Line is the first line of the description, for lists.
func (s Spec) Line() string {
	line, _, _ := strings.Cut(s.Description, "\n")
	return line
}

// Command is one command of a shell line, taken apart by guard/shell.
type Command struct {
	Text string   // as written, wrappers peeled
	Argv []string // literal words; nil where a word is not literal
	Also []string // the same command read otherwise (with wrappers, by base name): deny and ask rules see these too

	ReadOnly bool // known to change nothing; Argv may be nil all the same
	Root     bool // ReadOnly only from the worktree's root
}

// Opinion is a tool's own word on a call. A pre-approval never passes the floor, a deny or an ask rule.
type Opinion int

// The opinions.
const (
	NoOpinion Opinion = iota
	OpinionAsk
	OpinionDeny
	OpinionPreApprove
)

// Effects is what a call would touch, read at its turn: an earlier call of the batch may have changed
// the answer. The zero value means unknown and is treated as the worst.
type Effects struct {
	Known, ReadOnly, Destructive bool
	Reads, Writes                []string  // absolute, symlinks resolved through the nearest existing ancestor
	Commands                     []Command // a shell line taken apart; nil for a line that could not be
	Hosts                        []string
	Subjects                     []string // what the content of a permission rule is matched against
	Opinion                      Opinion
	Why                          string // reason for a deny or ask opinion, for people and the model
}

// Tool is something an ant can call. Implementations are safe for concurrent use. One with state of its own
// also has Clone() Tool, which a clone of a registry calls.
type Tool interface {
	Spec() Spec
	// IsConcurrencySafe reports whether this call may run beside others of its batch.
	IsConcurrencySafe(args json.RawMessage) bool
	// Effects checks the arguments and says what the call would touch. It touches nothing itself.
	// An *ArgError is a validation fault; any other error is colony's own failure.
	Effects(env *Env, args json.RawMessage) (Effects, error)
	// Run does the call. An error means that colony itself could not go on; what the model can act on is
	// a Fault in the Result.
	Run(ctx context.Context, env *Env, args json.RawMessage) (Result, error)
}

// Previewer is a tool that can say what a call would change without touching the disk. Seen holds, for
// each file the call would write, the hash planned, marked as written, and the hash before if there is one.
type Previewer interface {
	Preview(ctx context.Context, env *Env, args json.RawMessage) (Result, error)
}

// stateful is a tool with state of its own: a clone of a registry holds a copy.
type stateful interface{ Clone() Tool }

// Base answers everything cautiously: serial, effects unknown. Embed it and override what is safe.
type Base struct{}

// IsConcurrencySafe is false.
func (Base) IsConcurrencySafe(json.RawMessage) bool { return false }

// Effects are unknown.
func (Base) Effects(*Env, json.RawMessage) (Effects, error) { return Effects{}, nil }
