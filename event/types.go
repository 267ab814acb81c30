package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// The names of the bodies, as the log and every screen spell them.

func (RunStarted) Type() string     { return "run.started" }
func (RunResumed) Type() string     { return "run.resumed" }
func (RunPaused) Type() string      { return "run.paused" }
func (RunFinished) Type() string    { return "run.finished" }
func (PlanMade) Type() string       { return "plan.made" }
func (PlanChanged) Type() string    { return "plan.changed" }
func (TaskReady) Type() string      { return "task.ready" }
func (TaskClaimed) Type() string    { return "task.claimed" }
func (TaskDone) Type() string       { return "task.done" }
func (AntHatched) Type() string     { return "ant.hatched" }
func (AntTold) Type() string        { return "ant.told" }
func (AntCompacted) Type() string   { return "ant.compacted" }
func (AntEnded) Type() string       { return "ant.ended" }
func (ModelRequested) Type() string { return "model.requested" }
func (ModelReplied) Type() string   { return "model.replied" }
func (ToolStarted) Type() string    { return "tool.started" }
func (ToolDone) Type() string       { return "tool.done" }
func (AskOpened) Type() string      { return "ask.opened" }
func (AskAnswered) Type() string    { return "ask.answered" }
func (Granted) Type() string        { return "granted" }
func (Steered) Type() string        { return "steered" }
func (Cancelled) Type() string      { return "cancelled" }
func (Throttled) Type() string      { return "throttled" }
func (Warned) Type() string         { return "warned" }
func (CommitMade) Type() string     { return "commit.made" }
func (GateStarted) Type() string    { return "gate.started" }
func (GateDone) Type() string       { return "gate.done" }
func (ReviewDone) Type() string     { return "review.done" }
func (LandingStarted) Type() string { return "landing.started" }
func (LandingDone) Type() string    { return "landing.done" }

// Raw is a body whose type this version does not know. Fields is its JSON object, unchanged.
type Raw struct {
	Name   string
	Fields json.RawMessage
}

// Type is the name the body came with.
func (r Raw) Type() string { return r.Name }

// MarshalJSON writes the fields as they came.
func (r Raw) MarshalJSON() ([]byte, error) { return r.Fields, nil }

// Types are the names of all bodies this version knows, sorted.
func Types() []string {
	var names []string
	for _, b := range bodies() {
		names = append(names, b.Type())
	}
	slices.Sort(names)
	return names
}

// bodies is one empty body of each type.
func bodies() []Body {
	return []Body{
		RunStarted{}, RunResumed{}, RunPaused{}, RunFinished{}, PlanMade{}, PlanChanged{},
		TaskReady{}, TaskClaimed{}, TaskDone{}, AntHatched{}, AntTold{}, AntCompacted{}, AntEnded{},
		ModelRequested{}, ModelReplied{}, ToolStarted{}, ToolDone{}, AskOpened{}, AskAnswered{}, Granted{},
		Steered{}, Cancelled{}, Throttled{}, Warned{}, CommitMade{}, GateStarted{}, GateDone{}, ReviewDone{},
		LandingStarted{}, LandingDone{},
	}
}

// decodeBody reads the fields of a body. A type it does not know is a Raw that owns its fields.
func decodeBody(name string, fields []byte) (Body, error) {
	read, ok := decoders[name]
	if !ok {
		return Raw{Name: name, Fields: bytes.Clone(fields)}, nil
	}
	b, err := read(fields)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return b, nil
}

var decoders = map[string]func([]byte) (Body, error){
	"run.started": as[RunStarted], "run.resumed": as[RunResumed], "run.paused": as[RunPaused],
	"run.finished": as[RunFinished], "plan.made": as[PlanMade], "plan.changed": as[PlanChanged],
	"task.ready": as[TaskReady], "task.claimed": as[TaskClaimed], "task.done": as[TaskDone],
	"ant.hatched": as[AntHatched], "ant.told": as[AntTold], "ant.compacted": as[AntCompacted],
	"ant.ended": as[AntEnded], "model.requested": as[ModelRequested], "model.replied": as[ModelReplied],
	"tool.started": as[ToolStarted], "tool.done": as[ToolDone], "ask.opened": as[AskOpened],
	"ask.answered": as[AskAnswered], "granted": as[Granted], "steered": as[Steered],
	"cancelled": as[Cancelled], "throttled": as[Throttled], "warned": as[Warned],
	"commit.made": as[CommitMade], "gate.started": as[GateStarted], "gate.done": as[GateDone],
	"review.done": as[ReviewDone], "landing.started": as[LandingStarted], "landing.done": as[LandingDone],
}

func as[T Body](fields []byte) (Body, error) {
	var b T
	err := json.Unmarshal(fields, &b)
	return b, err
}
