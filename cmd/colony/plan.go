package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"colony/event"
	"colony/hatch"
	"colony/plan"
	"colony/queen"
	"colony/strict"
	"colony/view"

	"github.com/spf13/cobra"
)

// planOptions are the flags of `colony plan` that run does not have.
type planOptions struct {
	output, check, graph, update string
	before                       []byte // of the file to update
}

func (a *app) planCmd() *cobra.Command {
	o, p := &runOptions{}, &planOptions{}
	cmd := &cobra.Command{
		Use: "plan GOAL | --update FILE [GOAL] | --check FILE | --graph FILE", Short: "plan a goal and do nothing else; check or draw a plan",
		Long: "Have the queen plan a goal: YAML on stdout, or in a file, with what it may cost as a comment. No gate runs and no branch\n" +
			"is made. --check looks for all faults of a plan file without a model, exit 3 where there is one. --graph draws a plan\n" +
			"file, or the plan of a goal, as text or as a Mermaid chart. --update writes into a\n" +
			"plan file what it may cost now, and with a GOAL has the queen change the plan; comments stay.\n" + exitHelp,
		Example: "  colony plan 'make the date parser accept ISO weeks' -o plan.yaml\n  colony plan --check plan.yaml\n  colony plan --graph=mermaid plan.yaml\n" +
			"  colony plan --update plan.yaml 'and write a page about it'",
		Args: exactArgs(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch graph := cmd.Flags().Changed("graph"); {
			case graph && p.graph != "text" && p.graph != "mermaid":
				return usage(cmd, fmt.Errorf("--graph=%s: there are text and mermaid", p.graph))
			case p.check != "" && (len(args) > 0 || graph || p.output != ""):
				return usage(cmd, errors.New("--check takes a file and nothing else"))
			case p.check != "":
				return a.checkPlan(p.check)
			case p.update != "" && (graph || p.output != "" || p.update == "-"):
				return usage(cmd, errors.New("--update takes a file, which it changes, and a GOAL"))
			case p.update != "":
				return a.updatePlan(cmd, o, p, args)
			case graph && len(args) == 1 && a.isFile(args[0]):
				return a.drawFile(args[0], p)
			}
			return a.planGoal(cmd, o, p, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.output, "output", "o", "", "write the plan to `FILE`")
	f.StringVar(&p.check, "check", "", "look for all faults of the plan `FILE`; - is stdin")
	f.StringVar(&p.update, "update", "", "write into the plan `FILE`; its comments stay")
	f.StringVar(&p.graph, "graph", "", "draw it as `text` or mermaid")
	f.Lookup("graph").NoOptDefVal = "text"
	f.StringVar(&o.card, "card", "", "the card `NAME` for tasks that name none")
	f.StringArrayVar(&o.models, "model", nil, "`MODEL` for every card, or CARD=MODEL (repeatable)")
	f.StringArrayVar(&o.gates, "gate", nil, "a `COMMAND` that must pass (repeatable)")
	f.BoolVar(&o.noGate, "no-gate", false, "allow tasks that nothing verifies")
	f.StringVar(&o.budget, "budget", "", "spend at most this many `USD` on planning, or none")
	f.StringVar(&o.maxTokens, "max-tokens", "", "use at most this many `TOKENS` for planning, or none")
	f.StringVar(&o.base, "base", "", "the `REF` to plan on")
	f.StringVar(&o.id, "run-id", "", "the `ID` under which the planning is logged and billed")
	a.stateFlag(cmd, &o.state)
	a.jsonFlag(cmd)
	return cmd
}

// checkPlan names all faults of a plan file.
func (a *app) checkPlan(file string) error {
	data, shown, err := a.input(file)
	if err != nil {
		return err
	}
	house, err := a.house("", nil)
	if err != nil {
		return err
	}
	p, faults := plan.Parse(shown, data)
	faults = append(faults, house.CheckCards(p)...).Sorted()
	if len(faults) > 0 {
		problem := hatch.FileProblem(faults)
		problem.Exit = 3
		return problem
	}
	if a.json {
		return printJSON(a.out, map[string]any{"checks": []strict.Fault{}})
	}
	return nil
}

func (a *app) isFile(name string) bool {
	info, err := os.Stat(a.path(name))
	return err == nil && info.Mode().IsRegular()
}

func (a *app) drawFile(name string, o *planOptions) error {
	p, err := a.planFile(name)
	if err != nil {
		return err
	}
	return a.showPlan("", p, nil, o)
}

// planGoal has the queen plan.
func (a *app) planGoal(cmd *cobra.Command, o *runOptions, p *planOptions, args []string) error {
	parts, err := a.partsOf(cmd, o, args)
	if err != nil {
		return err
	}
	return a.draft(cmd, parts, p)
}

// updatePlan writes into a plan file what it may cost now, or has the queen change it for a goal.
func (a *app) updatePlan(cmd *cobra.Command, o *runOptions, p *planOptions, args []string) error {
	before, _, err := a.input(p.update)
	if err != nil {
		return err
	}
	known, err := a.planFile(p.update)
	if err != nil {
		return err
	}
	p.before, p.output = before, p.update
	if len(args) > 0 {
		parts, err := a.partsOf(cmd, o, args)
		if err != nil {
			return err
		}
		parts.Plan = known
		return a.draft(cmd, parts, p)
	}
	o.file = p.update
	parts, err := a.partsOf(cmd, o, nil)
	if err != nil {
		return err
	}
	colony, err := hatch.Open(cmd.Context(), parts)
	if err != nil {
		return err
	}
	estimate := colony.Expect(cmd.Context())
	if err := colony.Close(); err != nil {
		return err
	}
	return a.showPlan("", known, estimate, p)
}

// draft has the queen plan what parts say.
func (a *app) draft(cmd *cobra.Command, parts hatch.Parts, p *planOptions) error {
	parts.Only = true
	var show printer = noPrinter{}
	if !a.json {
		show = a.printer()
	}
	if !parts.Headless {
		s := newScreen(show, a.in, a.err)
		show, parts.Person = s, s.ask
	}
	colony, err := hatch.Open(cmd.Context(), parts)
	if err != nil {
		return err
	}
	if !a.json && !a.quiet {
		printBrief(a.err, colony.Brief())
	}
	var made plan.Plan
	var estimate *event.Estimate
	err = watched(cmd.Context(), colony, show, func(ctx context.Context) (err error) {
		made, estimate, err = colony.Plan(ctx)
		return err
	})
	if err := errors.Join(err, colony.Close()); err != nil {
		return err
	}
	return a.showPlan(colony.Brief().Run, made, estimate, p)
}

// estimated is an estimate on top of a plan.
var estimated = regexp.MustCompile(`\A# estimate: .*\n`)

// showPlan writes the plan as it was asked for.
func (a *app) showPlan(run string, p plan.Plan, estimate *event.Estimate, o *planOptions) error {
	text := string(plan.Write(p))
	if o.before != nil {
		text = estimated.ReplaceAllString(string(plan.Update(o.before, p)), "")
	}
	if estimate != nil {
		text = "# estimate: " + view.Line(estimate.Words()) + "\n" + text
	}
	if o.output != "" {
		if err := os.WriteFile(a.path(o.output), []byte(text), 0o644); err != nil {
			return &hatch.Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("the plan cannot be written: %v", err), Next: "name another file with -o"}
		}
	}
	var err error
	switch {
	case a.json:
		made := queen.Made(p, estimate)
		err = printJSON(a.out, map[string]any{"run": run, "goal": p.Goal, "why": p.Why, "tasks": made.Tasks, "estimate": estimate})
	case o.graph == "mermaid":
		_, err = fmt.Fprint(a.out, view.Text(p.Mermaid()))
	case o.graph == "text":
		_, err = fmt.Fprint(a.out, view.Text(p.Tree()))
	case o.output != "":
		_, err = fmt.Fprintf(a.out, "%s: %s; next: colony run -f %s\n", view.Line(o.output), counted(len(p.Tasks), "task"), view.Line(strings.TrimSpace(o.output)))
	default:
		_, err = fmt.Fprint(a.out, view.Text(text))
	}
	return err
}
