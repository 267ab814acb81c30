// Package guard decides what a call may touch. The order is fixed: registry, arguments, floor, deny rules, ask
// rules, the mix of private data and foreign text, the tool's opinion, mode, what is granted or allowed, default;
// the first stage that has a word decides. Deciding is a function of the call, its effects, what the ant was
// granted and has seen, and the files on the disk; it changes nothing and asks nobody. Gate is the layer that
// asks where it must. Matching text is no boundary: the sandbox is, and neither rests on the
// other.
package guard

import (
	"errors"
	"fmt"
	"path/filepath"

	"colony/strict"
	"colony/tools"
)

// What a decision can be.
const (
	Allow = "allow"
	Ask   = "ask"
	Deny  = "deny"
)

// Decision is what happens to a call, and what decided it.
type Decision struct {
	Decision string `json:"decision"` // allow, ask, deny
	Stage    string `json:"stage"`
	Rule     string `json:"rule"`    // the rule as written, or the name of the built-in one
	Segment  string `json:"segment"` // the command, path or host that decided
	Reason   string `json:"reason"`  // one sentence, with what to do instead where it is a deny
}

// Mode is how much runs without a question.
type Mode string

// The modes.
const (
	ModePlan     Mode = "plan"      // nothing that changes anything
	ModeAsk      Mode = "ask"       // a question before each change
	ModeAutoEdit Mode = "auto-edit" // file edits in the worktree without one
	ModeAuto     Mode = "auto"      // whatever the sandbox confines without one
)

// ParseMode reads a mode as a person writes it.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ModePlan, ModeAsk, ModeAutoEdit, ModeAuto:
		return m, nil
	}
	if near := strict.Nearest(s, []string{"plan", "ask", "auto-edit", "auto"}); near != "" {
		return "", fmt.Errorf("mode %q is unknown: did you mean %s?", s, near)
	}
	return "", fmt.Errorf("mode %q is unknown: take plan, ask, auto-edit or auto", s)
}

// ErrNoSandbox is returned for mode auto without an enforced sandbox.
var ErrNoSandbox = errors.New("mode auto needs an enforced sandbox: take mode ask, or a sandbox level other than off")

// Parts are what a policy is made of. Paths are absolute.
type Parts struct {
	Mode      Mode
	Sandboxed bool     // a sandbox confines every process of the ant
	Net       bool     // and its commands reach some hosts all the same
	Rules     Rules    // of all tiers, united
	Protected []string // written by no call, wherever they lie: settings, state, the log
	Readable  []string // outside the worktree, read without a question: blobs, toolchains, module caches
	Writable  []string // outside the worktree, what commands write like the worktree: the ant's scratch
	Hook      Hook     // nil where nobody has hooks

	Skills map[string][]Rule // by skill, what its use approves beforehand; the floor, denies and asks stand before them
}

// Policy is the decision for every call. It holds for any number of ants and is safe for concurrent use.
type Policy struct {
	parts   Parts
	asked   answers
	session session
	hooks   hooked
}

// New checks the parts. A path that is not absolute is an error, and so is ErrNoSandbox.
func New(parts Parts) (*Policy, error) {
	if _, err := ParseMode(string(parts.Mode)); err != nil {
		return nil, err
	}
	if parts.Mode == ModeAuto && !parts.Sandboxed {
		return nil, ErrNoSandbox
	}
	for _, list := range []*[]string{&parts.Protected, &parts.Readable, &parts.Writable} {
		resolved := make([]string, len(*list))
		for i, path := range *list {
			if !filepath.IsAbs(path) {
				return nil, fmt.Errorf("guard the path %q: it is not absolute", path)
			}
			var err error
			if resolved[i], err = tools.Resolve("/", path); err != nil {
				return nil, fmt.Errorf("guard the path %q: %w", path, err)
			}
		}
		*list = resolved
	}
	return &Policy{parts: parts}, nil
}

// stage is one step of the order; false where it has no word.
type stage struct {
	name  string
	judge func(*Policy, judged) (Decision, bool)
}

// order is the order; where none of them has a word, otherwise decides.
var order = []stage{
	{"floor", (*Policy).floor},
	{"deny", (*Policy).denied},
	{"ask", (*Policy).mustAsk},
	{"mix", (*Policy).mixed},
	{"opinion", (*Policy).opinion},
	{"mode", (*Policy).mode},
	{"allow", (*Policy).allowed},
}

// Decide judges a call by its Effects. A call that was refused or whose tool is not in the ant's registry is
// denied at the stage registry, one whose arguments are wrong at the stage arguments.
func (p *Policy) Decide(env *tools.Env, call tools.Prepared) Decision {
	switch {
	case call.Tool == nil:
		return Decision{Decision: Deny, Stage: "registry", Rule: "registry", Segment: call.Call.Name,
			Reason: fmt.Sprintf("%s is not among your tools: list_tools names them", call.Call.Name)}
	case call.Refused != nil:
		return wrongArguments(call, *call.Refused)
	}
	j := newJudged(env, call)
	for _, s := range order {
		if d, ok := s.judge(p, j); ok {
			d.Stage = s.name
			return d
		}
	}
	d := p.otherwise(j)
	d.Stage = "default"
	return d
}

// Test is Decide for a call whose effects were not read yet. It runs nothing and asks nobody.
func (p *Policy) Test(env *tools.Env, call tools.Prepared) (Decision, error) {
	if call.Tool == nil || call.Refused != nil {
		return p.Decide(env, call), nil
	}
	call, d, refused, err := p.judge(env, call)
	if refused != nil {
		return wrongArguments(call, *refused), err
	}
	return d, err
}

func wrongArguments(call tools.Prepared, refused tools.Result) Decision {
	return Decision{Decision: Deny, Stage: "arguments", Rule: string(refused.Fault), Segment: call.Call.Name, Reason: refused.Text}
}
