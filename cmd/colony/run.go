package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"colony/event"
	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// runOptions are the flags of `colony run`.
type runOptions struct {
	file, card, budget, unseen, maxTokens, wall, mode, sandbox, base, ants, state, id, redBase string
	models, gates, labels, trusted                                                             []string
	report, from, land, onAsk, issue                                                           string
	noGate, review, dirty, yes, detach, one                                                    bool
}

const runExample = `  colony run 'make the date parser accept ISO weeks'
  colony run -f plan.yaml
  colony run --one 'fix the failing test in ./parse' --gate 'go test ./...'
  colony run -f plan.yaml --model openai/gpt-5-mini --budget 2.50
  gh issue view 7 --json title,body,url | colony run --issue -
  colony run -f plan.yaml --json --ants 4 --gate 'go test ./...'`

func (a *app) runCmd() *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use: "run GOAL | -f PLAN", Short: "plan a goal, or take a plan, carry it out and land it on branch colony/RUN",
		Long: "Carry out a goal, which the queen plans, or a plan: an ant for each task, gates on the combined tree, the result on\n" +
			"branch colony/RUN. `run -` reads the goal, `run -f -` a plan from stdin. On a terminal the queen's plan and what it\n" +
			"may cost are shown before ants start; without one it starts if its high estimate is within the budget.\n" + exitHelp,
		Example: runExample, Args: exactArgs(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runPlan(cmd, o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", "the `PLAN` to carry out; - is stdin")
	f.StringVar(&o.issue, "issue", "", "the goal is an issue, from a `FILE` as gh issue view --json prints it; - is stdin")
	f.BoolVar(&o.one, "one", false, "no queen: GOAL is the only task")
	f.StringVar(&o.ants, "ants", "", "ants at once: a `NUMBER`, or auto")
	f.StringVar(&o.card, "card", "", "the card `NAME` for tasks that name none")
	f.StringArrayVar(&o.models, "model", nil, "`MODEL` for every card, or CARD=MODEL (repeatable)")
	f.StringArrayVar(&o.gates, "gate", nil, "a `COMMAND` that must pass (repeatable)")
	f.BoolVar(&o.noGate, "no-gate", false, "allow tasks that nothing verifies")
	f.BoolVar(&o.review, "review", false, "a reviewer reads all work before it lands")
	f.StringVar(&o.redBase, "red-base", "", "allow: a gate that is red on the base advises until it first passes")
	f.StringVar(&o.budget, "budget", "", "spend at most this many `USD`, or none")
	f.StringVar(&o.unseen, "approve-over", "", "show a plan before it starts only if it may cost over this many `USD`")
	f.StringVar(&o.maxTokens, "max-tokens", "", "use at most this many `TOKENS`, or none")
	f.StringVar(&o.wall, "wall", "", "take at most this `DURATION`")
	f.StringVar(&o.mode, "mode", "", "plan, ask, auto-edit or auto")
	f.StringVar(&o.sandbox, "sandbox", "", "read-only, workspace, workspace+net or off")
	f.StringVar(&o.base, "base", "", "the `REF` to begin at")
	f.BoolVar(&o.dirty, "include-dirty", false, "begin with the uncommitted files, as a commit that never lands")
	f.StringVar(&o.id, "run-id", "", "the run's `ID`")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before the plan starts")
	f.StringArrayVar(&o.labels, "label", nil, "`K=V` kept with the run (repeatable)")
	f.StringVar(&o.report, "report", "", "write what came of it to `FILE`, .md or .html")
	f.BoolVarP(&o.detach, "detach", "d", false, "go on by itself, without this terminal")
	f.StringVar(&o.from, "from", "", "go on from the branch of `RUN`, its plan and receipts known")
	f.StringVar(&o.onAsk, "on-ask", "", onAskHelp)
	f.StringVar(&o.land, "land", "", "take it over into `BRANCH` when everything landed")
	f.StringArrayVar(&o.trusted, "trust", nil, "use the repository's files with this `DIGEST` in this run (repeatable)")
	a.stateFlag(cmd, &o.state)
	a.jsonFlag(cmd)
	laterFlags(cmd, "watch", "web", "cluster")
	return cmd
}

func (a *app) stateFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "state-dir", "", "keep colony's state in `DIR`")
}

func (a *app) runPlan(cmd *cobra.Command, o *runOptions, args []string) error {
	parts, err := a.partsOf(cmd, o, args)
	if err != nil {
		return err
	}
	if err := onAsk(cmd, o.onAsk, &parts); err != nil {
		return err
	}
	if err := goOnFrom(cmd, o, &parts); err != nil {
		return err
	}
	if o.detach && a.getenv(detachedVar) == "" {
		if parts.Run == "" {
			parts.Run = hatch.NewRunID(time.Now())
		}
		return a.detach(cmd.Context(), parts.House, parts.Run)
	}
	after := func(f event.RunFinished, b hatch.Brief) error { return nil }
	if o.report != "" {
		after = func(f event.RunFinished, b hatch.Brief) error {
			return writeReport(a.path(o.report), a.detector(), f, b)
		}
	}
	return a.carryOut(cmd.Context(), parts, nextSteps, after)
}

// partsOf reads all that the run is made of: the goal or the plan, the settings of every tier and the cards.
func (a *app) partsOf(cmd *cobra.Command, o *runOptions, args []string) (hatch.Parts, error) {
	p, goal, err := a.wanted(cmd, o, args)
	if err != nil {
		return hatch.Parts{}, err
	}
	models, err := modelFlags(o.models)
	if err != nil {
		return hatch.Parts{}, usage(cmd, err)
	}
	labels, err := labelFlags(o.labels)
	if err != nil {
		return hatch.Parts{}, usage(cmd, err)
	}
	if ext := filepath.Ext(o.report); o.report != "" && ext != ".md" && ext != ".html" {
		return hatch.Parts{}, usage(cmd, fmt.Errorf("--report %s: the file must end with .md or .html", o.report))
	}
	house, err := a.house(o.state, flagSettings(cmd, o), o.trusted...)
	if err != nil {
		return hatch.Parts{}, err
	}
	return hatch.Parts{
		Version: version, House: house, Run: o.id, Plan: p, Goal: goal, Models: models, Labels: labels, Getenv: a.getenv,
		NoGate: o.noGate, Dirty: o.dirty, AllowRed: o.redBase == "allow", Yes: o.yes, Edit: a.edit, Save: a.savePlan, Headless: a.headless(), Now: time.Now, Diagnostics: a.diagnostics(), Person: hatch.Nobody,
	}, redBase(cmd, o.redBase)
}

func redBase(cmd *cobra.Command, word string) error {
	if word != "" && word != "allow" {
		return usage(cmd, fmt.Errorf("--red-base %s: only allow is known", word))
	}
	return nil
}

// flagSettings are the typed flags that override settings.
func flagSettings(cmd *cobra.Command, o *runOptions) map[string]string {
	out := map[string]string{}
	for flag, pair := range map[string][2]string{
		"ants": {"run.ants", o.ants}, "card": {"run.card", o.card}, "budget": {"run.budget", o.budget}, "approve-over": {"run.approve_over", o.unseen},
		"max-tokens": {"run.max_tokens", o.maxTokens}, "wall": {"run.wall", o.wall}, "mode": {"run.mode", o.mode},
		"sandbox": {"sandbox.level", o.sandbox}, "base": {"run.base", o.base},
	} {
		if cmd.Flags().Changed(flag) {
			out[pair[0]] = pair[1]
		}
	}
	if cmd.Flags().Changed("review") {
		out["run.review"] = strconv.FormatBool(o.review)
	}
	if cmd.Flags().Changed("gate") {
		out["run.gates"] = flow(o.gates)
	}
	return out
}

// modelFlags reads MODEL and CARD=MODEL.
func modelFlags(typed []string) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range typed {
		card, name, both := strings.Cut(t, "=")
		if !both {
			card, name = "", t
		}
		if name == "" {
			return nil, fmt.Errorf("--model %q names no model", t)
		}
		out[card] = name
	}
	return out, nil
}

// labelFlags reads K=V.
func labelFlags(typed []string) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range typed {
		key, value, ok := strings.Cut(t, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--label %q is not K=V", t)
		}
		out[key] = value
	}
	return out, nil
}

// headless reports that nobody is there to answer.
func (a *app) headless() bool { return a.json || !terminal(a.in) }

// carryOut opens the colony, says what is about to be spent, runs it and says what came of it.
func (a *app) carryOut(ctx context.Context, parts hatch.Parts, next func(event.RunFinished) []string, after func(event.RunFinished, hatch.Brief) error) error {
	return a.carry(ctx, parts, func(parts hatch.Parts) (*hatch.Colony, error) { return hatch.Open(ctx, parts) }, next, after)
}

// carry is carryOut for a colony that is opened in its own way.
func (a *app) carry(ctx context.Context, parts hatch.Parts, open func(hatch.Parts) (*hatch.Colony, error), next func(event.RunFinished) []string,
	after func(event.RunFinished, hatch.Brief) error) error {
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away ends the printing, not the run
	show := a.printer()
	parts.Stuck, parts.Slept = a.stuck, a.slept
	if !parts.Headless {
		s := newScreen(show, a.in, a.err)
		show, parts.Person = s, s.ask
	}
	parts.Progress = show.said
	colony, err := open(parts)
	if err != nil {
		return err
	}
	if !a.json && !a.quiet {
		printBrief(a.err, colony.Brief())
	}
	var finished event.RunFinished
	err = watched(ctx, colony, show, func(ctx context.Context) (err error) {
		finished, err = colony.Run(ctx)
		return err
	})
	if closed := colony.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if !a.json {
		printSummary(a.out, a.palette(a.out), finished, colony.Brief(), next(finished))
		for _, dir := range colony.Held() {
			fmt.Fprintf(a.out, "kept: %s holds files that are in no commit; colony gc says more\n", view.Line(dir))
		}
	}
	a.exit = finished.Exit
	return after(finished, colony.Brief())
}

// stuck tells the person that the run waits for the disk.
func (a *app) stuck(e *event.StuckError) {
	next := "mend the disk"
	if e.Full() {
		next = "free some space"
	}
	fmt.Fprintf(a.err, "colony: the run waits: %s\nnext: %s; it goes on by itself\n", view.Line(e.Error()), next)
}

// watched lets the colony carry out what it is for while its events are printed as they come.
func watched(ctx context.Context, colony *hatch.Colony, show printer, carry func(context.Context) error) error {
	defer show.close()
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	printed := make(chan error, 1)
	go func() { printed <- follow(following, colony, show) }()
	if err := carry(ctx); err != nil {
		stop()
		<-printed
		return err
	}
	return <-printed
}

// follow prints events until the run is finished.
func follow(ctx context.Context, colony *hatch.Colony, show printer) error {
	for e, err := range colony.Log().Follow(ctx, colony.Since()) {
		if err != nil {
			return err
		}
		if err := show.show(e); errors.Is(err, syscall.EPIPE) {
			return nil
		} else if err != nil {
			return err
		}
		if _, ok := e.Body.(event.RunFinished); ok {
			return nil
		}
	}
	return nil
}

func (a *app) printer() printer {
	lines := linePrinter{a.err, a.verbose, a.palette(a.err)}
	switch {
	case a.json:
		return jsonPrinter{a.out}
	case a.quiet:
		return noPrinter{}
	case terminal(a.err) && a.getenv("TERM") != "dumb":
		return &livePrinter{w: a.err, width: width(a.err), lines: lines, state: newProgress()}
	}
	return lines
}

// width measures a terminal each time it is asked; 0 where it is none.
func width(w io.Writer) func() int {
	return func() int {
		f, ok := exactly(w).(*os.File)
		if !ok {
			return 0
		}
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return columns
	}
}
