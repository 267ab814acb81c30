package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"colony/hatch"
	"colony/plan"
	"colony/strict"

	"github.com/spf13/cobra"
)

// wanted is what a run is to carry out: a plan from a file, the goal as the only task, or a goal for the queen.
func (a *app) wanted(cmd *cobra.Command, o *runOptions, args []string) (plan.Plan, string, error) {
	switch {
	case o.file != "" && len(args) > 0:
		return plan.Plan{}, "", usage(cmd, errors.New("a GOAL and a plan with -f are there both: give one of them"))
	case o.file != "" && o.issue != "":
		return plan.Plan{}, "", usage(cmd, errors.New("a plan with -f and an issue with --issue are there both: give one of them"))
	case o.file != "" && o.one:
		return plan.Plan{}, "", usage(cmd, errors.New("--one takes a GOAL, not a plan"))
	case o.file != "":
		p, err := a.planFile(o.file)
		return p, "", err
	}
	read := a.goal
	if o.issue != "" {
		read = func(cmd *cobra.Command, args []string) (string, error) { return a.issueGoal(cmd, o, args) }
	}
	goal, err := read(cmd, args)
	if err != nil || !o.one {
		return plan.Plan{}, goal, err
	}
	return plan.One(goal), "", nil
}

// planFile reads a plan that has no fault.
func (a *app) planFile(name string) (plan.Plan, error) {
	data, shown, err := a.input(name)
	if err != nil {
		return plan.Plan{}, err
	}
	p, faults := plan.Parse(shown, data)
	if len(faults) > 0 {
		return plan.Plan{}, faults
	}
	return p, nil
}

// input is a plan's text, and the name under which its faults are shown; the file - is stdin.
func (a *app) input(name string) (data []byte, shown string, err error) {
	if name == "-" {
		data, err = a.stdin()
		return data, "stdin", err
	}
	if data, err = os.ReadFile(a.path(name)); err != nil {
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, name, &hatch.Problem{Exit: 2, Code: "no_plan", Message: fmt.Sprintf("the plan %s cannot be read: %v", name, err), Next: "name a plan file with -f"}
	}
	return data, name, nil
}

// goal is the one argument; - is stdin.
func (a *app) goal(cmd *cobra.Command, args []string) (string, error) {
	switch len(args) {
	case 0:
		return "", usage(cmd, fmt.Errorf("%s needs a GOAL, or a plan file", cmd.Name()))
	case 1:
	default:
		return "", usage(cmd, fmt.Errorf("the goal is %d words: put it in quotes", len(args)))
	}
	goal := args[0]
	if goal == "-" {
		data, err := a.stdin()
		if err != nil {
			return "", err
		}
		goal = string(data)
	}
	goal = strings.TrimSpace(goal)
	if goal == "" {
		return "", usage(cmd, errors.New("the goal is empty"))
	}
	if _, faults := plan.Parse("goal", plan.Write(plan.One(goal))); len(faults) > 0 {
		return "", usage(cmd, errors.New("the goal cannot be read: "+faults[0].Text))
	}
	return goal, nil
}

// stdin reads all of the standard input, once, as much as a plan may have.
func (a *app) stdin() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(a.in, strict.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read stdin: %w", err)
	}
	a.typed = data
	return data, nil
}

// edit lets the person change a text in $VISUAL or $EDITOR.
func (a *app) edit(ctx context.Context, text []byte) ([]byte, error) {
	file, err := os.CreateTemp("", "colony-plan-*.yaml")
	if err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	words := strings.Fields(a.getenv("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(a.getenv("EDITOR"))
	}
	if len(words) == 0 {
		words = []string{"vi"}
	}
	editor := exec.CommandContext(ctx, words[0], append(words[1:], file.Name())...)
	editor.Stdin, editor.Stdout, editor.Stderr = a.in, exactly(a.err), exactly(a.err)
	if err := editor.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s: %w: set EDITOR to another", words[0], err)
	}
	data, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, fmt.Errorf("read what was edited: %w", err)
	}
	return data, nil
}

// savePlan keeps a plan beside the person for later; it replaces no file.
func (a *app) savePlan(run string, text []byte) (string, error) {
	name := "plan-" + run + ".yaml"
	file, err := os.OpenFile(a.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", fmt.Errorf("save the plan: %w", err)
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("save the plan in %s: %w", name, err)
	}
	return name, nil
}
