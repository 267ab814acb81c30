package event

import "time"

// AskOpened is a question to a person. Kind is permission, question, scope, budget, trust or plan.
type AskOpened struct {
	Ask      string    `json:"ask"`
	Kind     string    `json:"kind"`
	Text     string    `json:"text"`
	Call     string    `json:"call"`
	Digest   string    `json:"digest"`
	Choices  []string  `json:"choices"`
	Default  string    `json:"default"`
	Deadline time.Time `json:"deadline"`
	Grant    string    `json:"grant,omitempty"` // the rule that the answer "for this run" stores
	Files    string    `json:"files,omitempty"` // one hash over the files that the call names, as they were
}

// By is who acted, and from where.
type By struct {
	User string `json:"user"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	Via  string `json:"via"`
}

// AskAnswered closes a question.
type AskAnswered struct {
	Ask    string `json:"ask"`
	Answer string `json:"answer"`
	By     By     `json:"by"`
	Late   bool   `json:"late"`
}

// Granted is a permission or scope that a person or the queen gave.
type Granted struct {
	Rule  string `json:"rule"`
	Scope string `json:"scope"`
}

// GoOn is what a paused run is told when it is to go on.
const GoOn = "go on"

// Steered is a text for an ant.
type Steered struct {
	By   By     `json:"by"`
	Text string `json:"text"`
}

// Cancelled is something that was stopped.
type Cancelled struct {
	By   By     `json:"by"`
	What string `json:"what"`
}
