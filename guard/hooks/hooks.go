// Package hooks lets commands of a person's look at what a run is about to do, or did. The contract is the one that coding
// agents share: what it is about comes as JSON on stdin; exit 0 goes on, 2 blocks and stderr says why, any other warns.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// The moments at which hooks run.
const (
	PreToolUse  = "PreToolUse"  // a call is about to be asked about, or to run
	PostToolUse = "PostToolUse" // a call ran
	TaskDone    = "TaskDone"    // an ant's work passed its gates
	Landing     = "Landing"     // work is about to be joined to the run's branch
	RunFinished = "RunFinished" // the run is over
)

// Off is the sandbox of a hook that runs unconfined: its user's choice, never a repository's.
const Off = "off"

// The time that a hook has.
const (
	usual = time.Minute
	most  = 10 * time.Minute
)

// Hook is a command and when it runs. In YAML it may be the bare command.
type Hook struct {
	Run     string        `yaml:"run"`
	Matcher string        `yaml:"matcher"` // an expression for whole names of tools; empty or * for all
	Timeout time.Duration `yaml:"timeout" strict:"positive"`
	Sandbox string        `yaml:"sandbox"` // empty, or off
}

// UnmarshalText reads the bare command.
func (h *Hook) UnmarshalText(text []byte) error {
	*h = Hook{Run: string(text)}
	return nil
}

// Check names what is wrong with a hook that was read.
func (h *Hook) Check(fault func(path, text string)) {
	if strings.TrimSpace(h.Run) == "" {
		fault("", "a hook needs a command: write run")
	}
	if _, err := h.names(); err != nil {
		fault("matcher", "matcher is no expression for names of tools: "+err.Error())
	}
	if h.Timeout > most {
		fault("timeout", fmt.Sprintf("timeout is at most %s", most))
	}
	if h.Sandbox != "" && h.Sandbox != Off {
		fault("sandbox", "sandbox may only be off")
	}
}

func (h *Hook) names() (*regexp.Regexp, error) {
	if h.Matcher == "" || h.Matcher == "*" {
		return regexp.Compile(``)
	}
	return regexp.Compile(`^(?:` + h.Matcher + `)$`)
}

// wants reports whether the hook is for a tool; each is, where the moment is about none.
func (h *Hook) wants(tool string) bool {
	names, err := h.names()
	return err != nil || tool == "" || names.MatchString(tool)
}

// Input is what a hook reads on stdin.
type Input struct {
	Event    string          `json:"hook_event_name"`
	Session  string          `json:"session_id"` // the run
	Cwd      string          `json:"cwd"`
	Task     string          `json:"task,omitempty"`
	Ant      string          `json:"ant,omitempty"`
	Tool     string          `json:"tool_name,omitempty"`
	Args     json.RawMessage `json:"tool_input,omitempty"`
	Call     string          `json:"tool_use_id,omitempty"`
	Response *Response       `json:"tool_response,omitempty"`
	Commit   string          `json:"commit,omitempty"`
	Files    []string        `json:"files,omitempty"`
	Status   string          `json:"status,omitempty"` // of a run
	Exit     *int            `json:"exit,omitempty"`
}

// Response is what a call came to, as the model reads it.
type Response struct {
	Text  string `json:"text"`
	Fault string `json:"fault"`
	Exit  *int   `json:"exit,omitempty"`
}

// What a hook can decide. The empty decision is no word.
const (
	Allow = "allow"
	Ask   = "ask"
	Deny  = "deny"
)

// Verdict is what all hooks of a moment come to: the strictest.
type Verdict struct {
	Decision string
	Reason   string   // of an ask or a deny: for the model
	Warnings []string // for the person
}

// Entry is a hook and whose it is. What a project's hook allows counts for nothing.
type Entry struct {
	Hook
	Project bool
}

// Exec runs a hook's command with this on its stdin and returns its exit code. The error is ctx's, or colony's own.
type Exec func(ctx context.Context, h Entry, stdin []byte, stdout, stderr io.Writer) (code int, err error)

// Set are all hooks, by moment, in the order in which they run.
type Set map[string][]Entry

// Looking are the commands of the hooks of a moment that would look at a tool's call.
func (s Set) Looking(moment, tool string) []string {
	var found []string
	for _, h := range s[moment] {
		if h.wants(tool) {
			found = append(found, h.Hook.Run)
		}
	}
	return found
}

// Run runs the hooks of in's moment one after the other, up to the first that denies. One that does not end in its time
// warns; before a tool runs it asks too. The error is ctx's, or Exec's.
func (s Set) Run(ctx context.Context, in Input, exec Exec) (v Verdict, err error) {
	stdin, err := json.Marshal(in)
	if err != nil {
		return v, fmt.Errorf("hook %s: %w", in.Event, err)
	}
	for _, h := range s[in.Event] {
		if !h.wants(in.Tool) {
			continue
		}
		one, err := h.run(ctx, in.Event, append(stdin, '\n'), exec)
		if err != nil {
			return v, fmt.Errorf("hook %s: %w", h.Run, err)
		}
		v.join(one)
		if v.Decision == Deny {
			break
		}
	}
	return v, nil
}

// join takes the stricter decision.
func (v *Verdict) join(other Verdict) {
	rank := map[string]int{"": 0, Allow: 1, Ask: 2, Deny: 3}
	if rank[other.Decision] > rank[v.Decision] {
		v.Decision, v.Reason = other.Decision, other.Reason
	}
	v.Warnings = append(v.Warnings, other.Warnings...)
}

func (h Entry) run(ctx context.Context, moment string, stdin []byte, exec Exec) (Verdict, error) {
	limit := h.Timeout
	if limit == 0 {
		limit = usual
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out, said bounded
	code, err := exec(timed, h, stdin, &out, &said)
	switch {
	case ctx.Err() != nil:
		return Verdict{}, context.Cause(ctx)
	case errors.Is(timed.Err(), context.DeadlineExceeded):
		late := fmt.Sprintf("the hook `%s` did not end within %s", h.Run, limit)
		v := Verdict{Warnings: []string{late}}
		if moment == PreToolUse {
			v.Decision, v.Reason = Ask, late
		}
		return v, nil
	case err != nil:
		return Verdict{}, err
	}
	v := judge(h.Run, code, out.String(), said.String())
	if v.Decision == Allow && h.Project {
		v.Decision, v.Reason = "", ""
	}
	return v, nil
}
