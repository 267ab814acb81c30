// Package plan is a goal taken apart: tasks and what they need, the YAML of both, and the check of the whole.
package plan

import (
	"strings"
	"time"

	"colony/strict"
)

// Plan is the graph of a run's tasks.
type Plan struct {
	Goal  string
	Why   string
	Tasks []Task

	Edited bool // a person changed it after the queen made it

	doc *strict.Doc // where it was read from; nil for a plan made in code
}

// Task is one unit of work. ID becomes part of the names of refs and paths. An empty Card is the run's default card.
type Task struct {
	ID, Title, Prompt, Card string
	Files, Needs, Locks     []string
	Gates                   []Gate
	Caps                    Caps
	Review                  bool
}

// titleLimit is how many characters of a goal make a title.
const titleLimit = 72

// One is the plan in which the goal is the only task.
func One(goal string) Plan {
	title, _, _ := strings.Cut(strings.TrimSpace(goal), "\n")
	if runes := []rune(strings.TrimSpace(title)); len(runes) > titleLimit {
		title = strings.TrimSpace(string(runes[:titleLimit-1])) + "…"
	}
	return Plan{Goal: goal, Tasks: []Task{{ID: "t1", Title: strings.TrimSpace(title), Prompt: goal}}}
}

// Caps bound a task; a nil field does not.
type Caps struct {
	PicoUSD, Tokens, Turns, Calls *int64
	Wall                          *time.Duration
}
