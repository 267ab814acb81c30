package plan

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"colony/strict"
)

type rawPlan struct {
	Goal  string    `yaml:"goal"`
	Why   string    `yaml:"why"`
	Tasks []rawTask `yaml:"tasks" strict:"required"`
}

type rawTask struct {
	ID     string   `yaml:"id" strict:"required"`
	Title  string   `yaml:"title"`
	Prompt string   `yaml:"prompt" strict:"required"`
	Card   string   `yaml:"card"`
	Files  []string `yaml:"files"`
	Needs  []string `yaml:"needs"`
	Locks  []string `yaml:"locks"`
	Gates  []Gate   `yaml:"gates"`
	Caps   rawCaps  `yaml:"caps"`
	Review bool     `yaml:"review"`
}

type rawCaps struct {
	USD    *strict.USD    `yaml:"usd" strict:"positive"`
	Tokens *int64         `yaml:"tokens" strict:"positive"`
	Turns  *int64         `yaml:"turns" strict:"positive"`
	Calls  *int64         `yaml:"calls" strict:"positive"`
	Wall   *time.Duration `yaml:"wall" strict:"positive"`
}

// Parse reads a plan and checks all of it but its cards; all faults come at once, by place. A task without a
// title has its id for one. With faults the plan is what could be read, for showing only.
func Parse(file string, data []byte) (Plan, strict.Faults) {
	doc, faults := strict.Parse(file, data)
	if doc == nil {
		return Plan{}, faults
	}
	var raw rawPlan
	faults = append(faults, doc.Decode(&raw)...)
	p := Plan{Goal: raw.Goal, Why: raw.Why, Tasks: make([]Task, len(raw.Tasks)), doc: doc}
	for i, t := range raw.Tasks {
		p.Tasks[i] = t.task()
	}
	c := check{plan: p, doc: doc, index: map[string]int{}}
	c.ids()
	c.needs()
	c.cycles()
	c.globs()
	return p, append(faults, c.faults...).Sorted()
}

func (t rawTask) task() Task {
	task := Task{ID: t.ID, Title: t.Title, Prompt: t.Prompt, Card: t.Card, Needs: t.Needs, Gates: t.Gates,
		Files: t.Files, Locks: t.Locks, Review: t.Review,
		Caps: Caps{PicoUSD: (*int64)(t.Caps.USD), Tokens: t.Caps.Tokens, Turns: t.Caps.Turns, Calls: t.Caps.Calls, Wall: t.Caps.Wall}}
	if task.Title == "" {
		task.Title = t.ID
	}
	return task
}

// Check names each task's card that is not among cards, with the nearest that is.
func (p Plan) Check(cards []string) strict.Faults {
	known := map[string]bool{"": true}
	for _, card := range cards {
		known[card] = true
	}
	var faults strict.Faults
	for i, t := range p.Tasks {
		if !known[t.Card] {
			faults = append(faults, p.Fault(fmt.Sprintf("tasks[%d].card", i), unknown("card", t.Card, cards)))
		}
	}
	return faults.Sorted()
}

// Fault is a fault at the place of the path, such as tasks[1].card, in the file the plan was read from.
func (p Plan) Fault(path, text string) strict.Fault {
	if p.doc == nil {
		return strict.Fault{File: "plan", Text: path + ": " + text}
	}
	return p.doc.Fault(path, text)
}

func unknown(what, name string, among []string) string {
	if near := strict.Nearest(name, among); near != "" {
		return fmt.Sprintf("unknown %s %q: did you mean %s?", what, name, near)
	}
	if len(among) == 0 {
		return fmt.Sprintf("unknown %s %q", what, name)
	}
	return fmt.Sprintf("unknown %s %q: there are %s", what, name, strings.Join(among[:min(len(among), 20)], ", "))
}

// check finds what is wrong between tasks.
type check struct {
	plan   Plan
	doc    *strict.Doc
	index  map[string]int // the first task of each id
	faults strict.Faults
}

func (c *check) fault(text, path string, args ...any) {
	c.faults = append(c.faults, c.doc.Fault(fmt.Sprintf(path, args...), text))
}

// ids finds ids that cannot be part of a ref or a path, and ids that are there twice.
func (c *check) ids() {
	form := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	for i, t := range c.plan.Tasks {
		first, twice := c.index[t.ID]
		switch {
		case t.ID == "":
			continue
		case !form.MatchString(t.ID) || strings.Contains(t.ID, "..") || strings.HasSuffix(t.ID, ".") || strings.HasSuffix(t.ID, ".lock"):
			c.fault("an id is a-z, 0-9, dot, dash and underscore, at most 64, begins with a letter or digit, and has no double dot, no dot or .lock at its end", "tasks[%d].id", i)
		case twice:
			line, _ := c.doc.At(fmt.Sprintf("tasks[%d].id", first))
			c.fault(fmt.Sprintf("task %s is here twice: the first is on line %d", t.ID, line), "tasks[%d].id", i)
		}
		if !twice {
			c.index[t.ID] = i
		}
		if strings.Contains(t.Title, "\n") {
			c.fault("title must be one line", "tasks[%d].title", i)
		}
	}
}

// needs finds needs that are no task, and needs that are there twice.
func (c *check) needs() {
	ids := make([]string, 0, len(c.index))
	for i, t := range c.plan.Tasks {
		if t.ID != "" && c.index[t.ID] == i {
			ids = append(ids, t.ID)
		}
	}
	for i, t := range c.plan.Tasks {
		seen := map[string]bool{}
		for j, need := range t.Needs {
			if _, ok := c.index[need]; !ok {
				c.fault(unknown("task", need, ids), "tasks[%d].needs[%d]", i, j)
			} else if seen[need] {
				c.fault(need+" is here twice: keep one", "tasks[%d].needs[%d]", i, j)
			}
			seen[need] = true
		}
	}
}
