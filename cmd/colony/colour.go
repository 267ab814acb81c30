package main

import "colony/event"

// palette says whether lines are coloured: on a terminal, unless NO_COLOR or --no-color says otherwise.
type palette bool

const (
	green = "\x1b[32m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

func (a *app) palette(w any) palette {
	return palette(terminal(w) && !a.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb")
}

// paint colours a line that is safe to print already.
func (p palette) paint(colour, line string) string {
	if !bool(p) || colour == "" || line == "" {
		return line
	}
	return colour + line + plain
}

// tone is the colour of an event: green for what passed or landed, red for what failed.
func tone(e event.Event) string {
	switch b := e.Body.(type) {
	case event.GateDone:
		if b.Exit != 0 {
			return red
		}
	case event.TaskDone:
		return toneOf(b.Status)
	case event.RunFinished:
		return toneOf(b.Status)
	case event.ToolDone:
		if b.Fault == "permission_denied" {
			return red
		}
	}
	return ""
}

// toneOfLine is the colour of a line of a diff.
func toneOfLine(line string) string {
	switch line[:1] {
	case "+":
		return green
	case "-":
		return red
	}
	return ""
}

func toneOf(status string) string {
	switch status {
	case "landed", "no_change":
		return green
	case "failed", "blocked", "capped":
		return red
	}
	return ""
}
