package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"colony/event"
	"colony/hatch"

	"github.com/spf13/cobra"
)

func (a *app) stopCmd() *cobra.Command {
	var state, ant string
	cmd := &cobra.Command{
		Use: "stop [RUN]", Short: "stop a run, or one ant of it", Args: exactArgs(0, 1),
		Long:    "Ask the owner of a run to stop it as an interrupt would, or to stop one ant only; what it did is kept.\n" + exitHelp,
		Example: "  colony stop\n  colony stop @ --ant worker-2",
		RunE: func(cmd *cobra.Command, args []string) error {
			past, err := a.running(state, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return a.leave(past, event.Wish{Kind: "stop", Ant: ant})
		},
	}
	cmd.Flags().StringVar(&ant, "ant", "", "only this `ANT`")
	a.stateFlag(cmd, &state)
	return cmd
}

func (a *app) pauseCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "pause [RUN]", Short: "let a run ask nothing of its models for a while", Args: exactArgs(0, 1),
		Long: "Let the ants of a run finish the calls they are at and ask nothing more of their models; gates and landings go on. The\n" +
			"time does not count under wall caps. colony resume lets it go on.\n" + exitHelp,
		Example: "  colony pause\n  colony resume",
		RunE: func(cmd *cobra.Command, args []string) error {
			past, err := a.running(state, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return a.leave(past, event.Wish{Kind: "pause"})
		},
	}
	a.stateFlag(cmd, &state)
	return cmd
}

func (a *app) retryCmd() *cobra.Command {
	var state, run string
	cmd := &cobra.Command{
		Use: "retry TASK", Short: "let a task that did not land begin again", Args: exactArgs(1, 1),
		Long: "Let a task of a run that is at work begin again with another ant, which is told where the work of the earlier one is\n" +
			"kept. What was blocked for it waits for it again. A run that has ended tries again what did not land with colony resume.\n" + exitHelp,
		Example: "  colony retry limiter",
		RunE: func(cmd *cobra.Command, args []string) error {
			past, err := a.running(state, run)
			if err != nil {
				return err
			}
			return a.leave(past, event.Wish{Kind: "retry", Task: args[0]})
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the `RUN` of the task")
	a.stateFlag(cmd, &state)
	return cmd
}

func (a *app) steerCmd() *cobra.Command {
	var state, run string
	cmd := &cobra.Command{
		Use: "steer ANT TEXT", Short: "tell an ant something", Args: exactArgs(2, -1),
		Long:    "Tell an ant something: it reads the text after the calls it is at.\n" + exitHelp,
		Example: "  colony steer worker-1 'leave the old API as it is'",
		RunE: func(cmd *cobra.Command, args []string) error {
			past, err := a.running(state, run)
			if err != nil {
				return err
			}
			return a.leave(past, event.Wish{Kind: "steer", Ant: args[0], Text: strings.Join(args[1:], " ")})
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the `RUN` of the ant")
	a.stateFlag(cmd, &state)
	return cmd
}

func (a *app) answerCmd() *cobra.Command {
	var state, run string
	cmd := &cobra.Command{
		Use: "answer ASK allow|deny|TEXT", Short: "answer an open question", Args: exactArgs(2, -1),
		Long: "Answer a question that colony inbox lists. That of a run that nobody carries out now waits for colony resume. Where the\n" +
			"question offers it, `for this run` allows the call now and whenever the very same comes again.\n" + exitHelp,
		Example: "  colony answer worker-1.1 allow\n  colony answer worker-1.1 for this run\n  colony answer worker-2.1 'use the second table'",
		RunE: func(cmd *cobra.Command, args []string) error {
			past, err := a.asking(cmd, state, run, args[0])
			if err != nil {
				return err
			}
			return a.leave(past, event.Wish{Kind: "answer", Ask: args[0], Text: strings.Join(args[1:], " ")})
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the `RUN` of the question")
	a.stateFlag(cmd, &state)
	return cmd
}

// asking is the run whose question is to be answered: the one that is at work, else the last that ended with it open. Its
// answer then waits for a resume.
func (a *app) asking(cmd *cobra.Command, state, word, ask string) (hatch.Past, error) {
	past, idle := a.running(state, word)
	if idle == nil {
		open, err := openAsks(cmd, past)
		if err == nil && len(withoutAsk(open, ask)) == len(open) {
			err = &hatch.Problem{Exit: 2, Code: "no_ask", Message: fmt.Sprintf("no question %s is open in the run %s", ask, past.ID), Next: "colony inbox lists those that are"}
		}
		return past, err
	}
	house := hatch.Locate(a.where(state))
	runs, err := house.Runs()
	if err != nil {
		return past, err
	}
	if word != "" {
		one, err := house.Find(word)
		if err != nil {
			return past, err
		}
		runs = []hatch.Past{one}
	}
	for _, run := range slices.Backward(runs) {
		open, err := openAsks(cmd, run)
		if err != nil {
			return past, err
		}
		if len(withoutAsk(open, ask)) < len(open) {
			return run, nil
		}
	}
	return past, idle
}

// running is the run that was named, else the one that is at work; its owner is there.
func (a *app) running(state, word string) (hatch.Past, error) {
	house := hatch.Locate(a.where(state))
	if word == "" {
		return a.atWork(house)
	}
	past, err := house.Find(word)
	if err != nil {
		return past, err
	}
	if !past.Owned() {
		return past, &hatch.Problem{Exit: 2, Code: "not_running", Message: fmt.Sprintf("nobody carries out the run %s now", past.ID), Next: "colony status lists the runs"}
	}
	return past, nil
}

func (a *app) atWork(house *hatch.House) (hatch.Past, error) {
	runs, err := house.Runs()
	if err != nil {
		return hatch.Past{}, err
	}
	var busy []hatch.Past
	for _, past := range runs {
		if past.Owned() {
			busy = append(busy, past)
		}
	}
	if len(busy) != 1 {
		return hatch.Past{}, &hatch.Problem{Exit: 2, Code: "not_running", Message: fmt.Sprintf("%d runs are at work in this repository", len(busy)), Next: "name one; colony status lists the runs"}
	}
	return busy[0], nil
}

// leave puts a wish on the run's desk, signed by who typed it.
func (a *app) leave(past hatch.Past, w event.Wish) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	w.By = event.By{User: a.getenv("USER"), Host: host, PID: os.Getpid(), Via: "command"}
	if err := event.Leave(past.Dir, w); err != nil {
		return err
	}
	if !a.quiet {
		fmt.Fprintf(a.err, "left for the owner of %s; colony log %s --follow shows what comes of it\n", past.ID, past.ID)
	}
	return nil
}

// openAsk is a question without an answer.
type openAsk struct {
	Run      string    `json:"run"`
	Ant      string    `json:"ant"`
	Ask      string    `json:"ask"`
	Kind     string    `json:"kind"`
	Text     string    `json:"text"`
	Choices  []string  `json:"choices"`
	Default  string    `json:"default"`
	Deadline time.Time `json:"deadline"`
}

func (a *app) inboxCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "inbox", Short: "the open questions of all ants", Args: exactArgs(0, 0),
		Long:    "List the questions of this repository's runs that wait for a person, also of runs that ended with them open.\n" + exitHelp,
		Example: "  colony inbox\n  colony inbox --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			runs, err := hatch.Locate(a.where(state)).Runs()
			if err != nil {
				return err
			}
			asks := []openAsk{}
			for _, past := range runs {
				open, err := openAsks(cmd, past)
				if err != nil {
					return err
				}
				asks = append(asks, open...)
			}
			return a.listAsks(asks)
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

func openAsks(cmd *cobra.Command, past hatch.Past) ([]openAsk, error) {
	var open []openAsk
	for e, err := range past.Events(cmd.Context()) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case event.AskOpened:
			open = append(withoutAsk(open, b.Ask), openAsk{e.Run, e.Ant, b.Ask, b.Kind, b.Text, b.Choices, b.Default, b.Deadline})
		case event.AskAnswered:
			open = withoutAsk(open, b.Ask)
		}
	}
	return open, nil
}

func withoutAsk(asks []openAsk, ask string) []openAsk {
	var left []openAsk
	for _, o := range asks {
		if o.Ask != ask {
			left = append(left, o)
		}
	}
	return left
}

func (a *app) listAsks(asks []openAsk) error {
	if a.json {
		return printJSON(a.out, map[string]any{"asks": asks})
	}
	if len(asks) == 0 {
		_, err := fmt.Fprintln(a.out, "no question is open")
		return err
	}
	w := table(a.out, "ASK", "RUN", "KIND", "UNTIL", "DEFAULT", "TEXT")
	for _, o := range asks {
		row(w, o.Ask, o.Run, o.Kind, o.Deadline.Local().Format(time.TimeOnly), o.Default, o.Text)
	}
	return w.Flush()
}
