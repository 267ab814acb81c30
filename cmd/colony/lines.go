package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"colony/event"
	"colony/view"
)

// line is one event as a person reads it; empty where it is of no interest without --verbose.
func line(e event.Event, verbose bool) string {
	text := told(e)
	if text == "" && verbose {
		text = e.Body.Type() + thought(e.Body)
	}
	if text == "" {
		return ""
	}
	who := e.Ant
	if who == "" {
		who = e.Task
	}
	if who == "" {
		who = "colony"
	}
	return fmt.Sprintf("%s  %-12s %s", e.Time.Local().Format("15:04:05"), view.Line(who), view.Line(text))
}

func told(e event.Event) string {
	switch b := e.Body.(type) {
	case event.PlanMade:
		return planned(b)
	case event.AntHatched:
		if e.Task == "" {
			return "hatched to plan on " + b.Model
		}
		return fmt.Sprintf("hatched for %s on %s", e.Task, b.Model)
	case event.AntEnded:
		return "ended: " + b.Reason
	case event.GateDone:
		return fmt.Sprintf("gate %s (%s) %s", b.Command, b.Where, gateWord(b))
	case event.LandingDone:
		return "landing: " + withFiles(b.Outcome, b.Files) + changedInputs(b.GateInputsChanged)
	case event.ReviewDone:
		return fmt.Sprintf("review, round %d: %s, %d findings", b.Round, b.Verdict, len(b.Findings))
	case event.TaskDone:
		return "task " + e.Task + " " + withReason(b.Status, b.Reason)
	case event.AskOpened:
		if b.Kind == "plan" {
			return "asks whether the plan starts"
		}
		return "asks: " + b.Text
	case event.AskAnswered:
		return "answered " + b.Ask + ": " + b.Answer
	case event.Steered:
		return "told by " + b.By.User + ": " + b.Text
	case event.Cancelled:
		return b.What + " stopped by " + b.By.User
	case event.Warned:
		return b.Text + ". " + b.Next
	case event.RunPaused:
		return "paused: " + b.Why
	case event.Throttled:
		if b.AntsFrom != b.AntsTo {
			return fmt.Sprintf("%d ants at once, %d before: %s", b.AntsTo, b.AntsFrom, b.Why)
		}
		return "waits: " + b.Why
	case event.RunFinished:
		return "run " + withReason(b.Status, b.Reason)
	case event.ToolDone:
		if b.Fault == "permission_denied" {
			return "denied " + b.Tool + ": " + b.Rule
		}
	}
	return ""
}

// thought is what the model was shown to think before a reply.
func thought(b event.Body) string {
	var said struct {
		Thought string `json:"thought"`
	}
	replied, _ := b.(event.ModelReplied)
	if json.Unmarshal(replied.Content, &said) != nil || said.Thought == "" { // no reply has no thought
		return ""
	}
	return ": " + strings.Join(strings.Fields(said.Thought), " ")
}

// planned says how many tasks a plan has and what it may cost.
func planned(b event.PlanMade) string {
	word := "plan of " + counted(len(b.Tasks), "task")
	if b.Edited {
		word += ", edited"
	}
	if b.Estimate != nil {
		word += "; estimate: " + b.Estimate.Words()
	}
	return word
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func gateWord(b event.GateDone) string {
	word := fmt.Sprintf("failed with exit %d", b.Exit)
	if b.Exit == 0 {
		word = "passed"
	}
	if b.Flaky {
		word = "is flaky, red and then green on one tree, and " + word
	}
	if b.Reused {
		return word + " before on this tree"
	}
	return word + " in " + (time.Duration(b.Ms) * time.Millisecond).String()
}

func withReason(status, reason string) string {
	if reason == "" {
		return status
	}
	return status + " (" + reason + ")"
}

// changedInputs names what a landing changed of that which gates run.
func changedInputs(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return "; it changes what gates run: " + strings.Join(files, ", ")
}

func withFiles(outcome string, files []string) string {
	if outcome != "conflict" || len(files) == 0 {
		return outcome
	}
	return outcome + " in " + strings.Join(files, ", ")
}

// printer shows a run's events as they come.
type printer interface {
	show(event.Event) error
	said(ant, line string) // what a command of an ant's prints, while it runs: may be dropped, and comes from any goroutine
	close()
}

type linePrinter struct {
	w       io.Writer
	verbose bool
	palette palette
}

func (p linePrinter) show(e event.Event) error {
	text := line(e, p.verbose)
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(p.w, p.palette.paint(tone(e), text))
	return err
}

func (p linePrinter) said(ant, line string) {
	if p.verbose {
		fmt.Fprintf(p.w, "%s | %s\n", view.Line(ant), view.Line(line))
	}
}

func (linePrinter) close() {}

type jsonPrinter struct{ w io.Writer }

func (p jsonPrinter) show(e event.Event) error {
	data, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.w, "%s\n", view.EscapeJSON(data))
	return err
}

func (jsonPrinter) said(string, string) {}
func (jsonPrinter) close()              {}

type noPrinter struct{}

func (noPrinter) show(event.Event) error { return nil }
func (noPrinter) said(string, string)    {}
func (noPrinter) close()                 {}
