// Package ant is one worker: it asks the model, runs the batch of calls that comes back, and tells the log.
// What it holds is a fold over the log, so that it can be rebuilt from the log alone.
package ant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"colony/event"
	"colony/model"
	"colony/scheduler"
	"colony/tools"
)

// Parts is what an ant is made of. All fields are needed but Layers, Effort, Priority and Nudges.
type Parts struct {
	Run, Task, Ant string
	System         string         // the whole system prompt
	Model          model.Provider // governed and metered for this ant
	Name           string         // of the model, as its provider spells it
	Effort         string
	CacheKey       string
	Priority       int // of its requests
	OutputLimit    int
	Env            *tools.Env // Env.Tools is the carved registry; Env.Cwd is set by New
	Layers         []tools.Layer
	Log            event.Log
	Width          int                                                       // calls side by side
	Nudges         int                                                       // texts without a call that are answered before the ant ends
	Foresee        func(context.Context, *tools.Env, []tools.Prepared) error // opens the questions of a batch together
	Calls          func(int) error                                           // counts calls against the caps; a *model.CapError refuses
	Low            func() (string, error)                                    // a word on what is left of the caps, when it is little and not yet said
	Heard          func(context.Context) []event.AntTold                     // what came from outside since the last time, for the next tool boundary
	Window         Window
	Memory         *Memory // of an earlier life, or NewMemory
}

// Ant is one card at work on one task. Its methods are not for concurrent use.
type Ant struct {
	parts   Parts
	memory  *Memory
	handler tools.Handler
	nudged  int
	refused int   // requests in a row that were too long
	bytes   int64 // of the last request that was counted
	tokens  int64 // of it
}

// New makes an ant that is ready to be told its task.
func New(p Parts) (*Ant, error) {
	if p.Model == nil || p.Env == nil || p.Env.Tools == nil || p.Log == nil || p.Calls == nil || p.Foresee == nil || p.Low == nil || p.Heard == nil || p.Memory == nil || p.Window.Tokens == nil || p.Window.Learn == nil || p.Width < 1 {
		return nil, errors.New("ant: parts are missing")
	}
	a := &Ant{parts: p, memory: p.Memory}
	a.parts.Env.Cwd = a.memory.Cwd
	a.parts.Env.Files.Apply(a.memory.Seen()...)
	a.parts.Env.Tools.Load(a.memory.Loaded()...)
	layers := append([]tools.Layer{a.record}, p.Layers...)
	a.handler = tools.Stack(tools.Invoke, append(layers, a.intent)...)
	return a, nil
}

// Tell appends a text to the conversation. Kind is one of event.AntTold.
func (a *Ant) Tell(ctx context.Context, kind, text string) error {
	told := event.AntTold{Kind: kind, Text: text}
	if err := a.append(ctx, told); err != nil {
		return err
	}
	a.memory.told(told)
	a.nudged = 0
	return nil
}

// Work goes on with the conversation until the ant ends it or cannot go on; it is over at once where the ant ended it
// and was told nothing since. An error is colony's own failure.
func (a *Ant) Work(ctx context.Context) (Ending, error) {
	if ending, ended := a.memory.Ended(); ended {
		return ending, nil
	}
	for {
		if err := a.listen(ctx); err != nil {
			return Ending{}, err
		}
		message, ending := a.ask(ctx)
		if ending != nil {
			return *ending, nil
		}
		if len(message.Calls) == 0 {
			if a.nudged >= a.parts.Nudges {
				return Ending{Reason: NoProgress, Detail: "the model answered with text and no call"}, nil
			}
			a.nudged++
			if err := a.nudge(ctx, noCall); err != nil {
				return Ending{}, err
			}
			continue
		}
		a.nudged = 0
		ending, err := a.batch(ctx, message.Calls)
		if err != nil {
			return Ending{}, err
		}
		if ending != nil {
			return *ending, nil
		}
	}
}

const noCall = "Text alone ends nothing. Go on with calls; when the task is finished, or cannot be, call done."

// listen tells the ant what came from outside and what is left of its caps, where that is little.
func (a *Ant) listen(ctx context.Context) error {
	for _, told := range a.parts.Heard(ctx) {
		if err := a.Tell(ctx, told.Kind, told.Text); err != nil {
			return err
		}
	}
	word, err := a.parts.Low()
	if err != nil || word == "" {
		return err
	}
	return a.nudge(ctx, word)
}

func (a *Ant) nudge(ctx context.Context, text string) error {
	told := event.AntTold{Kind: "nudge", Text: text}
	if err := a.append(ctx, told); err != nil {
		return err
	}
	a.memory.told(told)
	return nil
}

// ask sends the next request, made to fit into the window. One that was too long all the same is made smaller and sent
// again.
func (a *Ant) ask(ctx context.Context) (model.Message, *Ending) {
	for {
		ending, err := a.fit(ctx)
		if err != nil {
			failed := EndingOf(ctx, err)
			return model.Message{}, &failed
		}
		if ending != nil {
			return model.Message{}, ending
		}
		req := a.request(fmt.Sprintf("%s.%d", a.parts.Ant, a.memory.ask()))
		reply, err := a.parts.Model.Complete(ctx, req, func(model.Delta) {})
		if a.tooLong(err) {
			continue
		}
		if err != nil {
			failed := EndingOf(ctx, err)
			return model.Message{}, &failed
		}
		a.refused = 0
		if input := reply.Usage.Input(); input > 0 && !reply.Estimated {
			a.bytes, a.tokens = int64(req.Bytes()), input
		}
		a.memory.replied(reply.Message)
		return reply.Message, nil
	}
}

// request is the next request.
func (a *Ant) request(id string) model.Request {
	return model.Request{
		ID:          id,
		Model:       a.parts.Name,
		Messages:    append([]model.Message{{Role: model.System, Text: a.parts.System}}, a.memory.Messages()...),
		Tools:       a.parts.Env.Tools.Specs(),
		OutputLimit: a.output(),
		Effort:      a.parts.Effort,
		CacheKey:    a.parts.CacheKey,
		Priority:    a.parts.Priority,
	}
}

func (a *Ant) batch(ctx context.Context, calls []tools.Call) (*Ending, error) {
	if err := a.parts.Calls(len(calls)); err != nil {
		ending := EndingOf(ctx, err)
		return &ending, a.interrupt(ctx, "not run: "+err.Error())
	}
	prepared := make([]tools.Prepared, len(calls))
	for i, c := range calls {
		prepared[i] = a.parts.Env.Tools.Prepare(c)
	}
	if err := a.parts.Foresee(ctx, a.parts.Env, prepared); err != nil {
		return nil, err
	}
	results, err := scheduler.Run(ctx, a.parts.Env, prepared, a.parts.Width, a.handler)
	if err != nil {
		return nil, err
	}
	if err := a.recordRest(ctx, prepared, results); err != nil {
		return nil, err
	}
	for i, r := range results {
		a.parts.Env.Tools.Load(r.Loaded...)
		if r.Ends && r.Fault == "" {
			ending := endingOfCall(calls[i])
			return &ending, nil
		}
	}
	if ctx.Err() != nil {
		ending := EndingOf(ctx, ctx.Err())
		return &ending, nil
	}
	return nil, nil
}

// recordRest records the results of calls that never came down the stack.
func (a *Ant) recordRest(ctx context.Context, calls []tools.Prepared, results []tools.Result) error {
	for i, p := range calls {
		if a.memory.Answered(p.Call.ID) {
			continue
		}
		done := doneOf(p, results[i])
		if err := a.append(ctx, done); err != nil {
			return err
		}
		a.memory.done(done)
	}
	return nil
}

// interrupt answers every open call, so that the conversation can go on.
func (a *Ant) interrupt(ctx context.Context, text string) error {
	for _, c := range a.memory.Open() {
		done := event.ToolDone{Call: c.ID, Tool: c.Name, Fault: string(tools.Cancelled), Text: text}
		if err := a.append(ctx, done); err != nil {
			return err
		}
		a.memory.done(done)
	}
	return nil
}

func (a *Ant) append(ctx context.Context, body event.Body) error {
	// A fact stands also where the ant was cancelled meanwhile.
	_, err := a.parts.Log.Append(context.WithoutCancel(ctx), event.Event{Run: a.parts.Run, Task: a.parts.Task, Ant: a.parts.Ant, Body: body})
	if err != nil {
		return fmt.Errorf("append %s: %w", body.Type(), err)
	}
	return nil
}

// note records what is durable before the next request.
func (a *Ant) note(body event.Body) error {
	err := a.parts.Log.Note(event.Event{Run: a.parts.Run, Task: a.parts.Task, Ant: a.parts.Ant, Body: body})
	if err != nil {
		return fmt.Errorf("note %s: %w", body.Type(), err)
	}
	return nil
}

func compact(args json.RawMessage) json.RawMessage {
	if !json.Valid(args) {
		quoted, _ := json.Marshal(string(args))
		return quoted
	}
	return args
}
