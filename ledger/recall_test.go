package ledger_test

import (
	"testing"

	"colony/event"
	"colony/ledger"
)

// What was spent before a resume counts under the caps of the run, of the task and of the ant, calls of tools too.
func TestRecallCountsOn(t *testing.T) {
	before := billOf(asked("r", "t1", "t1-1", "q1", "p/free"), got("r", "t1", "t1-1", "q1", pico(0), event.Free),
		event.Event{Run: "r", Task: "t1", Ant: "t1-1", Body: event.ToolDone{Call: "1"}})
	for scope, caps := range map[string][3]ledger.Caps{
		"run": {{Turns: n(1), Calls: n(1)}}, "task": {1: {Turns: n(1), Calls: n(1)}}, "ant": {2: {Turns: n(1), Calls: n(1)}},
	} {
		b, _ := book(t, caps[0])
		b.OpenTask("t1", caps[1])
		b.Recall(before)
		a := account("t1-1", "free")
		b.OpenAnt(a, caps[2])
		_, err := b.Meter(a, forbidden(t)).Complete(t.Context(), ask("q2", 1000), nil)
		capOf(t, err, scope, "turns")
		capOf(t, b.Calls(a, 1), scope, "calls")
	}
}

// What came by a service without a price counts at what was set aside for it, also after a resume.
func TestRecallCountsWhatHasNoPrice(t *testing.T) {
	reserved := event.Event{Run: "r", Task: "t1", Ant: "t1-1", Body: event.ModelRequested{Request: "q1", Attempt: 1, Provider: "p", Model: "priced", ReservedUSD: pico(1e12), ReservedTokens: 9}}
	before := billOf(reserved, got("r", "t1", "t1-1", "q1", nil, event.Unknown))
	for scope, caps := range map[string][3]ledger.Caps{"run": {{PicoUSD: n(1e12)}}, "task": {1: {PicoUSD: n(1e12)}}, "ant": {2: {PicoUSD: n(1e12)}}} {
		b, _ := book(t, caps[0])
		b.OpenTask("t1", caps[1])
		b.Recall(before)
		a := account("t1-1", "priced")
		b.OpenAnt(a, caps[2])
		_, err := b.Meter(a, forbidden(t)).Complete(t.Context(), ask("q2", 1000), nil)
		capOf(t, err, scope, "usd")
	}
}

// What is known of the money counts also beside an attempt without a price.
func TestRecallCountsWhatIsKnown(t *testing.T) {
	before := billOf(asked("r", "t1", "t1-1", "q1", "p/priced"), got("r", "t1", "t1-1", "q1", pico(1e12), event.Known),
		asked("r", "t1", "t1-1", "q2", "p/other"), got("r", "t1", "t1-1", "q2", nil, event.Unknown))
	for scope, caps := range map[string][3]ledger.Caps{"run": {{PicoUSD: n(1e12)}}, "task": {1: {PicoUSD: n(1e12)}}, "ant": {2: {PicoUSD: n(1e12)}}} {
		b, _ := book(t, caps[0])
		b.OpenTask("t1", caps[1])
		b.Recall(before)
		a := account("t1-1", "priced")
		b.OpenAnt(a, caps[2])
		_, err := b.Meter(a, forbidden(t)).Complete(t.Context(), ask("q3", 1000), nil)
		capOf(t, err, scope, "usd")
	}
}
