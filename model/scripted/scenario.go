// Package scripted is a language model that follows a scenario. It is served over HTTP on loopback in the
// wire formats of Chat Completions, of Responses, of Messages and of Ollama, so that whoever talks to it goes through a real client. It is deterministic:
// what it says depends on the scenario and on the conversation it is sent, and on nothing else.
package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/goccy/go-yaml"
)

// Scenario is what the model says: by card, by task, turn for turn. The card or the task `*` stands for all
// that are not named.
type Scenario struct {
	Name string `yaml:"name"`
	// Heedless is a model that goes on with its script where a result says that a call was interrupted.
	Heedless bool `yaml:"heedless,omitempty"`
	// Unverified is what an organisation may not ask for before it is verified: stream, summary (of thoughts), or both.
	Unverified []string `yaml:"unverified,omitempty"`
	// Cache is a server that counts what its cache of prompts would serve.
	Cache bool `yaml:"cache,omitempty"`
	// Window is how many tokens the model says that it takes; 0 where it does not say it.
	Window int64                        `yaml:"window,omitempty"`
	Cards  map[string]map[string][]Turn `yaml:"cards"`
}

// Turn is one reply.
type Turn struct {
	Text    string        `yaml:"text,omitempty"`
	Calls   []Call        `yaml:"calls,omitempty"`
	Finish  string        `yaml:"finish,omitempty"` // stop, tool_calls, length or content_filter; empty says what fits
	Tokens  Tokens        `yaml:"tokens,omitempty"`
	Latency time.Duration `yaml:"latency,omitempty"` // before the first byte
	Faults  []Fault       `yaml:"faults,omitempty"`  // what the first attempts at this turn come to
}

// Call is one use of a tool.
type Call struct {
	Tool string         `yaml:"tool"`
	Args map[string]any `yaml:"args,omitempty"`
	Raw  *string        `yaml:"raw,omitempty"` // arguments as they stand, in place of Args: they need not be JSON
	// There is a command that succeeds where the call has happened: the look that the model takes after an interruption.
	There string `yaml:"there,omitempty"`
}

// Tokens is what the reply reports. What is not given is counted: four bytes a token.
type Tokens struct {
	Input      *int64 `yaml:"input,omitempty"`
	Cached     int64  `yaml:"cached,omitempty"`
	CacheWrite int64  `yaml:"cache_write,omitempty"`
	Output     *int64 `yaml:"output,omitempty"`
	Reasoning  int64  `yaml:"reasoning,omitempty"`
}

// Fault is an attempt that goes wrong: refused with a status, or broken in a way that Kind names.
type Fault struct {
	Status     int    `yaml:"status,omitempty"`
	Code       string `yaml:"code,omitempty"`        // of the error body
	Text       string `yaml:"text,omitempty"`        // of the error body
	RetryAfter string `yaml:"retry_after,omitempty"` // the header, as it stands
	Kind       string `yaml:"kind,omitempty"`
	Times      int    `yaml:"times,omitempty"` // how many attempts; 0 is one, -1 is all that come
}

// The kinds of fault. A turn with a fault of the kind no_usage or zero_usage is whole otherwise.
const (
	kindCut       = "cut"        // the stream ends in the middle of the reply
	kindStall     = "stall"      // the stream stops in the middle and stays open
	kindSilent    = "silent"     // the request is taken and never answered
	kindReset     = "reset"      // the connection closes before an answer
	kindGarbage   = "garbage"    // the stream holds no JSON
	kindNoUsage   = "no_usage"   // the usage is missing
	kindZeroUsage = "zero_usage" // the usage is all zero
	kindEarly     = "early"      // the stream ends cleanly in the middle of the reply
	kindHalfArgs  = "half_args"  // the arguments of the last call are cut, and the reply ends as a whole one does
	kindBadArgs   = "bad_args"   // the arguments of the last call are no JSON
)

// Parse reads a scenario. Unknown and duplicate keys are errors, and so is a turn that cannot be.
func Parse(file string, data []byte) (Scenario, error) {
	var s Scenario
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&s); err != nil {
		return Scenario{}, fmt.Errorf("read the scenario %s: %w", file, err)
	}
	if s.Name == "" || len(s.Cards) == 0 {
		return Scenario{}, fmt.Errorf("read the scenario %s: it needs a name and cards", file)
	}
	for _, what := range s.Unverified {
		if refusals[what] == "" {
			return Scenario{}, fmt.Errorf("read the scenario %s: unverified: %q is not stream or summary", file, what)
		}
	}
	for card, tasks := range s.Cards {
		for task, turns := range tasks {
			for i, turn := range turns {
				if err := turn.check(); err != nil {
					return Scenario{}, fmt.Errorf("read the scenario %s: cards.%s.%s[%d]: %w", file, card, task, i, err)
				}
			}
		}
	}
	return s, nil
}

// refusals is what an organisation is told that asks for what it may not.
var refusals = map[string]string{
	"stream":  "Your organization must be verified to stream this model.",
	"summary": "Your organization must be verified to generate reasoning summaries.",
}

// refusal is why a request is refused; empty where it is not.
func (s Scenario) refusal(r request) string {
	asked := map[string]bool{"stream": r.Stream, "summary": r.summing}
	for _, what := range s.Unverified {
		if asked[what] {
			return refusals[what]
		}
	}
	return ""
}

func (t Turn) check() error {
	switch t.Finish {
	case "", "stop", "tool_calls", "length", "content_filter":
	default:
		return fmt.Errorf("finish %q is unknown", t.Finish)
	}
	for _, c := range t.Calls {
		if _, err := c.arguments(); err != nil || c.Tool == "" || (c.Raw != nil && c.Args != nil) {
			return fmt.Errorf("a call needs a tool, and args or raw")
		}
	}
	for _, f := range t.Faults {
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

func (f Fault) check() error {
	switch f.Kind {
	case kindCut, kindStall, kindSilent, kindReset, kindGarbage, kindNoUsage, kindZeroUsage, kindEarly, kindHalfArgs, kindBadArgs:
		if f.Status != 0 {
			return fmt.Errorf("a fault has a status or a kind, not both")
		}
		return nil
	case "":
		if f.Status < 300 || f.Status > 599 {
			return fmt.Errorf("a fault needs a kind, or a status from 300 to 599")
		}
		return nil
	}
	return fmt.Errorf("fault %q is unknown", f.Kind)
}

// arguments is the call's arguments as they go over the wire; keys are sorted.
func (c Call) arguments() (string, error) {
	switch {
	case c.Raw != nil:
		return *c.Raw, nil
	case c.Args == nil:
		return "{}", nil
	}
	data, err := json.Marshal(c.Args)
	return string(data), err
}

// YAML is the scenario as Parse reads it.
func (s Scenario) YAML() ([]byte, error) { return yaml.Marshal(s) }

// turns is what the scenario holds for a task of a card.
func (s Scenario) turns(card, task string) ([]Turn, bool) {
	for _, c := range []string{card, "*"} {
		for _, t := range []string{task, "*"} {
			if turns, ok := s.Cards[c][t]; ok {
				return turns, true
			}
		}
	}
	return nil, false
}

// fault is what the nth attempt at a turn comes to, counted from 0; false is a whole reply.
func (t Turn) fault(attempt int) (Fault, bool) {
	for _, f := range t.Faults {
		if f.Times < 0 || attempt < max(f.Times, 1) {
			return f, true
		}
		attempt -= max(f.Times, 1)
	}
	return Fault{}, false
}
