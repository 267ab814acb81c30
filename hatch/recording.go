package hatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"colony/event"
	"colony/model"
	"colony/model/scripted"
)

// recording is what a run's log says of what can be compared when it is carried out again.
type recording struct {
	models   []string // as their providers name them
	finished *event.RunFinished
	calls    map[[2]string][]called // by task and card
	bars     []string               // why it cannot be carried out again

	ants  map[string]event.AntHatched
	crew  map[[2]string]string // by task and card, the ant
	asks  map[string]string    // by id, the kind
	where map[[2]string]*place // by ant and call
}

// called is a call and what it came to.
type called struct{ tool, end string }

// place is where a call stands among those of its card at its task.
type place struct {
	of [2]string
	at int
}

// recall reads the events of a run.
func recall(events iter.Seq2[event.Event, error]) (*recording, error) {
	r := &recording{calls: map[[2]string][]called{}, ants: map[string]event.AntHatched{}, crew: map[[2]string]string{}, asks: map[string]string{}, where: map[[2]string]*place{}}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if err := r.add(e); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *recording) add(e event.Event) error {
	switch b := e.Body.(type) {
	case event.AntHatched:
		r.hatched(e, b)
	case event.ModelRequested:
		if !slices.Contains(r.models, b.Model) {
			r.models = append(r.models, b.Model)
		}
	case event.ModelReplied:
		return r.replied(e, b)
	case event.ToolDone:
		if p := r.where[[2]string{e.Ant, b.Call}]; p != nil {
			r.calls[p.of][p.at].end = endOf(b)
		}
	case event.AntCompacted:
		if b.Summary != "" {
			r.bar("the conversation of %s was summed up by a model", e.Ant)
		}
	case event.AskOpened:
		r.asks[b.Ask] = b.Kind
	case event.AskAnswered:
		if r.asks[b.Ask] == "permission" && b.Answer != "deny" {
			r.bar("a person allowed %s what nobody is there to allow now", e.Ant)
		}
	case event.RunFinished:
		r.finished = &b
	}
	return nil
}

// endOf is what a call came to, in a word.
func endOf(b event.ToolDone) string {
	switch {
	case b.Fault != "":
		return b.Fault
	case b.Exit != nil && *b.Exit != 0:
		return fmt.Sprintf("exit %d", *b.Exit)
	}
	return "well"
}

// bar notes why the run cannot be carried out again.
func (r *recording) bar(format string, args ...any) {
	r.bars = append(r.bars, fmt.Sprintf(format, args...))
}

// hatched is an ant. Two of one card at one task cannot be told apart by what they are told.
func (r *recording) hatched(e event.Event, b event.AntHatched) {
	r.ants[e.Ant] = b
	of := [2]string{e.Task, b.Card}
	if first, ok := r.crew[of]; ok && first != e.Ant {
		r.bar("both %s and %s worked at task %s", first, e.Ant, e.Task)
	}
	r.crew[of] = e.Ant
}

// replied takes the calls of a reply in their order.
func (r *recording) replied(e event.Event, b event.ModelReplied) error {
	if b.Outcome != "ok" || len(b.Content) == 0 || string(b.Content) == "null" {
		return nil
	}
	var said model.Message
	if err := json.Unmarshal(b.Content, &said); err != nil {
		return fmt.Errorf("read a reply of %s: %w", e.Ant, err)
	}
	of := [2]string{e.Task, r.ants[e.Ant].Card}
	for _, c := range said.Calls {
		r.where[[2]string{e.Ant, c.ID}] = &place{of, len(r.calls[of])}
		r.calls[of] = append(r.calls[of], called{tool: c.Name, end: "never run"})
	}
	return nil
}

// unfit is why the run cannot be carried out again; empty where it can.
func (r *recording) unfit() string {
	switch {
	case r.finished == nil:
		return "it has not ended"
	case r.finished.Resumable:
		return fmt.Sprintf("it stopped early (exit %d) and has not gone on", r.finished.Exit)
	case len(r.calls) == 0:
		return "no ant called anything in it"
	case len(r.bars) > 0:
		return r.bars[0]
	}
	return ""
}

// scenarios are what the run's models said, as each of them will say it again.
func (r *recording) scenarios(events iter.Seq2[event.Event, error]) ([]scripted.Scenario, error) {
	var log bytes.Buffer
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		line, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		log.Write(append(line, '\n'))
	}
	said, err := scripted.Record("recorded", &log)
	var all []scripted.Scenario
	for _, name := range r.models {
		said.Name = name
		all = append(all, said)
	}
	return all, err
}
