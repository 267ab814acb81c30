package mcp

import (
	"context"
	"encoding/json"

	"colony/tools"
)

// Shown is a server as it is listed.
type Shown struct {
	Name      string   `json:"name"`
	What      string   `json:"what"` // the command, or the URL
	Per       string   `json:"per"`
	Source    string   `json:"source"`
	Trusted   bool     `json:"trusted"`
	Variables []string `json:"variables"` // of the user's environment, that it is given
	Ignored   []string `json:"ignored"`   // keys of its entry that have no effect
}

// Show is the entry as it is listed.
func (e Entry) Show(source string, trusted bool) Shown {
	return Shown{e.Name, e.What(), e.Per, source, trusted, append([]string{}, e.Variables()...), append([]string{}, e.Ignored...)}
}

// Trial is what is tried of a server: a call of a tool, where one is named, and taking what changed.
type Trial struct {
	Tool   string
	Args   json.RawMessage
	Accept bool
}

// Report is what a trial came to. Tokens are an estimate: a quarter of the bytes.
type Report struct {
	Name     string       `json:"name"`
	What     string       `json:"what"`
	Ms       int64        `json:"ms"` // to start and list
	Bytes    int          `json:"schema_bytes"`
	Tokens   int          `json:"schema_tokens"`
	Tools    []triedTool  `json:"tools"`
	Notes    []string     `json:"notes"`
	Accepted []string     `json:"accepted"` // tools whose change was taken
	Result   *triedResult `json:"result"`   // of the call; nil where none was made
}

// triedTool is a tool with what it costs a request once it is loaded.
type triedTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Bytes       int    `json:"bytes"`
	Tokens      int    `json:"tokens"`
	Changed     string `json:"changed"` // the difference to what was seen; empty where there is none
}

type triedResult struct {
	Fault  string `json:"fault"`
	Text   string `json:"text"`
	Images int    `json:"images"`
	Ms     int64  `json:"ms"`
}

// Try starts the server and does what the trial wants. The error is that of the start, or colony's own. Who tries is the user.
func (s *Server) Try(ctx context.Context, env *tools.Env, trial Trial) (Report, error) {
	r := Report{Name: s.Name(), What: s.parts.Entry.What(), Tools: []triedTool{}, Notes: []string{}, Accepted: []string{}}
	began := s.parts.Now()
	if err := s.Open(ctx); err != nil {
		return r, err
	}
	r.Ms = s.parts.Now().Sub(began).Milliseconds()
	for _, t := range s.Tools() {
		one := tried(t.(tool))
		r.Tools, r.Bytes = append(r.Tools, one), r.Bytes+one.Bytes
	}
	r.Tokens = (r.Bytes + 3) / 4
	if trial.Accept {
		accepted, err := s.Accept()
		if err != nil {
			return r, err
		}
		r.Accepted = append(r.Accepted, accepted...)
	}
	if trial.Tool == "" {
		return r, nil
	}
	var err error
	r.Result, err = s.try(ctx, env, trial)
	return r, err
}

func tried(t tool) triedTool {
	spec := t.Spec()
	one := triedTool{Name: spec.Name, Description: spec.Line(), Bytes: len(spec.Name) + len(spec.Description) + len(spec.Params)}
	one.Tokens = (one.Bytes + 3) / 4
	if t.offer.was != nil {
		one.Changed = t.offer.was.diff(t.offer.pin).Unified
	}
	return one
}

// try calls a tool, by its own name or as ants call it.
func (s *Server) try(ctx context.Context, env *tools.Env, trial Trial) (*triedResult, error) {
	for _, t := range s.Tools() {
		if err := env.Tools.Register("test", t); err != nil {
			return nil, err
		}
	}
	name := trial.Tool
	if _, ok := env.Tools.Lookup(name); !ok {
		name = Name(s.Name(), trial.Tool)
	}
	p := env.Tools.Prepare(tools.Call{ID: "test", Name: name, Args: trial.Args})
	if p.Refused != nil {
		return &triedResult{Fault: string(p.Refused.Fault), Text: p.Refused.Text}, nil
	}
	effects, err := p.Tool.Effects(env, p.Call.Args)
	if err != nil {
		return nil, err
	}
	if effects.Opinion == tools.OpinionAsk {
		return &triedResult{Fault: string(tools.PermissionDenied), Text: effects.Why + ": --accept takes it"}, nil
	}
	r, err := tools.Invoke(ctx, env, p)
	return &triedResult{Fault: string(r.Fault), Text: r.Text, Images: len(r.Images), Ms: r.Duration.Milliseconds()}, err
}

// Wrong reports whether the trial found something that its user should look at.
func (r Report) Wrong() bool {
	for _, t := range r.Tools {
		if t.Changed != "" && len(r.Accepted) == 0 {
			return true
		}
	}
	return r.Result != nil && r.Result.Fault != ""
}
