package main

import (
	"fmt"
	"time"

	"colony/event"
)

// progress is what a screen knows of a run: a fold over its events.
type progress struct {
	Run      string         `json:"run"`
	Goal     string         `json:"goal"`
	Status   string         `json:"status"`
	Branch   string         `json:"branch"`
	Started  time.Time      `json:"started"`
	Tasks    []*taskState   `json:"tasks"`
	Ants     []*antState    `json:"ants"`
	Usage    event.Usage    `json:"usage"`
	USD      *event.PicoUSD `json:"usd"`
	Price    event.Price    `json:"price"`
	Error    string         `json:"error,omitempty"` // why no more of the log could be read
	finished *event.RunFinished
	tasks    map[string]*taskState
	ants     map[string]*antState
}

type taskState struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Status string   `json:"status"`
	Reason string   `json:"reason"`
	Needs  []string `json:"needs"`
}

type antState struct {
	ID    string         `json:"id"`
	Task  string         `json:"task"`
	Card  string         `json:"card"`
	Model string         `json:"model"`
	State string         `json:"state"`
	Last  string         `json:"last"`
	Usage event.Usage    `json:"usage"`
	USD   *event.PicoUSD `json:"usd"`
	Price event.Price    `json:"price"`
}

func newProgress() *progress {
	zero := event.PicoUSD(0)
	return &progress{Status: "running", USD: &zero, Price: event.Known, tasks: map[string]*taskState{}, ants: map[string]*antState{}}
}

func (p *progress) apply(e event.Event) {
	p.Run = e.Run
	switch b := e.Body.(type) {
	case event.RunStarted:
		p.Goal, p.Branch, p.Started = b.Goal, b.Branch, e.Time
	case event.RunResumed:
		p.Status, p.finished = "running", nil
	case event.RunPaused:
		if b.By != nil {
			p.Status = "paused"
		}
	case event.Steered:
		if p.Status == "paused" && e.Ant == "" && b.Text == event.GoOn {
			p.Status = "running"
		}
	case event.PlanMade:
		for _, t := range b.Tasks {
			s := &taskState{ID: t.ID, Title: t.Title, Status: "pending", Needs: t.Needs}
			p.Tasks, p.tasks[t.ID] = append(p.Tasks, s), s
		}
	case event.AntHatched:
		p.hatched(e, b)
	case event.ModelReplied:
		p.charge(e.Ant, b)
	case event.RunFinished:
		p.Status, p.finished = b.Status, &b
	}
	p.taskMoved(e)
	p.antMoved(e)
}

func (p *progress) hatched(e event.Event, b event.AntHatched) {
	if _, ok := p.ants[e.Ant]; ok {
		return
	}
	zero := event.PicoUSD(0)
	a := &antState{ID: e.Ant, Task: e.Task, Card: b.Card, Model: b.Model, USD: &zero, Price: event.Known}
	p.Ants, p.ants[e.Ant] = append(p.Ants, a), a
}

func (p *progress) charge(ant string, b event.ModelReplied) {
	p.Usage = p.Usage.Add(b.Usage)
	p.USD, p.Price = addPrice(p.USD, p.Price, b)
	if a, ok := p.ants[ant]; ok {
		a.Usage = a.Usage.Add(b.Usage)
		a.USD, a.Price = addPrice(a.USD, a.Price, b)
	}
}

// addPrice adds a charge to a sum. A sum that holds an unknown charge is unknown.
func addPrice(sum *event.PicoUSD, price event.Price, b event.ModelReplied) (*event.PicoUSD, event.Price) {
	if b.Usage == (event.Usage{}) {
		return sum, price
	}
	if sum == nil || b.USD == nil {
		return nil, event.Unknown
	}
	total := *sum + *b.USD
	if b.Price == event.Free && total == 0 {
		price = event.Free
	}
	return &total, price
}

func (p *progress) taskMoved(e event.Event) {
	t, ok := p.tasks[e.Task]
	if !ok {
		return
	}
	switch b := e.Body.(type) {
	case event.TaskReady:
		t.Status = "ready"
	case event.TaskClaimed:
		t.Status = "running"
	case event.GateStarted:
		t.Status = "verifying"
	case event.LandingStarted:
		t.Status = "landing"
	case event.TaskDone:
		t.Status, t.Reason = b.Status, b.Reason
	case event.AntTold:
		t.Status = "running"
	}
}

func (p *progress) antMoved(e event.Event) {
	a, ok := p.ants[e.Ant]
	if !ok {
		return
	}
	switch b := e.Body.(type) {
	case event.AntHatched:
		a.State, a.Last = "running", "hatched"
	case event.ModelRequested:
		a.Last = "asks the model"
	case event.ToolStarted:
		a.Last = b.Tool + " " + string(b.Args)
	case event.GateStarted:
		a.Last = "gate " + b.Command
	case event.AntEnded:
		a.State, a.Last = "ended", b.Reason
	}
}

// money is an amount as people read it.
func money(usd *event.PicoUSD, price event.Price) string {
	switch {
	case usd == nil:
		return "unknown"
	case price == event.Free:
		return "free"
	}
	return fmt.Sprintf("$%.4f", float64(*usd)/float64(event.Dollar))
}
