package hatch

import (
	"encoding/json"
	"iter"
	"testing"

	"colony/event"
)

// Why a run cannot be carried out again.
func TestWhatCannotBeReplayed(t *testing.T) {
	reply := event.ModelReplied{Outcome: "ok", Content: json.RawMessage(`{"role":"assistant","calls":[{"id":"c","name":"done","args":"{}"}]}`)}
	whole := []event.Body{event.AntHatched{Card: "worker"}, reply, event.ToolDone{Call: "c", Tool: "done"}, event.RunFinished{Status: "landed"}}
	for _, c := range []struct {
		name string
		more []event.Body
		want string
	}{
		{"whole", nil, ""},
		{"a denied permission", []event.Body{event.AskOpened{Ask: "x", Kind: "permission"}, event.AskAnswered{Ask: "x", Answer: "deny"}}, ""},
		{"an answered question", []event.Body{event.AskOpened{Ask: "x", Kind: "question"}, event.AskAnswered{Ask: "x", Answer: "blue"}}, ""},
		{"a permission", []event.Body{event.AskOpened{Ask: "x", Kind: "permission"}, event.AskAnswered{Ask: "x", Answer: "allow"}}, "a person allowed worker-1 what nobody is there to allow now"},
		{"shortened results", []event.Body{event.AntCompacted{Results: 10}}, ""},
		{"a summary", []event.Body{event.AntCompacted{Summary: "all"}}, "the conversation of worker-1 was summed up by a model"},
		{"a stop", []event.Body{event.RunFinished{Exit: 130, Resumable: true}}, "it stopped early (exit 130) and has not gone on"},
	} {
		bodies := append(append([]event.Body{}, whole...), c.more...)
		got, err := recall(told(bodies))
		if err != nil {
			t.Fatal(err)
		}
		if why := got.unfit(); why != c.want {
			t.Errorf("%s: %q", c.name, why)
		}
	}
	for want, bodies := range map[string][]event.Body{"it has not ended": whole[:3], "no ant called anything in it": whole[3:]} {
		if got, err := recall(told(bodies)); err != nil || got.unfit() != want {
			t.Errorf("%+v, %v, want %q", got, err, want)
		}
	}
}

func told(bodies []event.Body) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, b := range bodies {
			if !yield(event.Event{Task: "a", Ant: "worker-1", Body: b}, nil) {
				return
			}
		}
	}
}
