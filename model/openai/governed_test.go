package openai_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/openai"
	"colony/model/scripted"
)

const crowd = `
name: crowd
cards:
  worker:
    warm: [{text: Warm.}]
    busy: [{text: Fine., tokens: {input: 10, output: 2}, latency: 20ms, faults: [{status: 429, retry_after: "1", times: 8}]}]
    wrong: [{faults: [{status: 401, times: -1}]}]
    flaky: [{text: Fine., faults: [{status: 500}, {kind: cut}, {kind: garbage}]}]
`

// swarm sends n requests for a task at once.
func swarm(t *testing.T, p model.Provider, task string, n int) []error {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			_, errs[i] = p.Complete(t.Context(), model.Request{Model: "crowd", Messages: []model.Message{
				{Role: model.System, Text: "Card: worker"}, {Role: model.User, Text: "Task " + task + ": x"},
			}}, func(model.Delta) {})
		})
	}
	all.Wait()
	return errs
}

func governed(t *testing.T, c *openai.Client) model.Provider {
	t.Helper()
	g, err := model.NewGovernor(model.GovernorParts{Throttled: func(string, time.Time) {}})
	if err != nil {
		t.Fatal(err)
	}
	return g.Around(c)
}

// The governor over the wire: what it lets through is what the server saw.
func TestGovernedClient(t *testing.T) {
	scenario, err := scripted.Parse("crowd.yaml", []byte(crowd))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		task            string
		ants            int
		requests, wrong int64
	}{
		{"busy", 8, 16, 0}, // contract 58: all eight are cooled once, none is lost
		{"wrong", 8, 1, 8}, // contract 76: a wrong key costs one request
		{"flaky", 1, 4, 0},
	}
	for _, wire := range wires {
		for _, c := range cases {
			t.Run(string(wire)+" "+c.task, func(t *testing.T) {
				server := modeltest.Serve(t, scripted.Parts{Scenarios: []scripted.Scenario{scenario}, Record: true})
				over := parts(server.URL)
				over.Wire = wire
				p := governed(t, client(t, over))
				if c.wrong == 0 {
					swarm(t, p, "warm", 1)
				}
				begun := time.Now()
				errs := swarm(t, p, c.task, c.ants)
				var wrong int64
				for _, err := range errs {
					var e *model.Error
					if errors.As(err, &e) && e.Fatal() {
						wrong++
					} else if err != nil {
						t.Errorf("lost: %v", err)
					}
				}
				row := server.Counts().Rows[0]
				if row.Requests != c.requests || wrong != c.wrong || row.Replies != int64(c.ants)-c.wrong {
					t.Errorf("%d failed for good, the server saw %+v", wrong, row)
				}
				for _, r := range server.Received() {
					if c.task == "busy" && r.Task == "busy" && r.Attempt >= 8 && r.At.Sub(begun) < time.Second {
						t.Errorf("attempt %d came after %v", r.Attempt, r.At.Sub(begun))
					}
				}
			})
		}
	}
}

// An unreachable endpoint surfaces within five seconds, for all ants, in one line.
func TestUnreachableSurfacesSoon(t *testing.T) {
	p := governed(t, client(t, parts("http://127.0.0.1:1/v1")))
	begun := time.Now()
	errs := swarm(t, p, "x", 8)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	for _, err := range errs {
		if e := modelError(t, err); e.Kind != model.Transport || e.Sent || e.Text != "cannot reach http://127.0.0.1:1/v1: dial tcp 127.0.0.1:1: connect: connection refused" {
			t.Errorf("got %v", err)
		}
	}
}
