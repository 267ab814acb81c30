package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"colony/hatch"
	"colony/strict"
	"colony/view"

	"github.com/spf13/cobra"
)

// fail prints why the command ends, once, and returns its exit code.
func (a *app) fail(ctx context.Context, err error) int {
	p := problemOf(ctx, err)
	if a.json || slices.Contains(a.args, "--json") {
		line, _ := json.Marshal(struct {
			Type string `json:"type"`
			*hatch.Problem
		}{"error", p})
		fmt.Fprintf(a.out, "%s\n", view.EscapeJSON(line))
		return p.Exit
	}
	fmt.Fprintf(a.err, "colony: %s\n", view.Text(p.Message))
	if p.Next != "" {
		fmt.Fprintf(a.err, "next: %s\n", view.Text(p.Next))
	}
	return p.Exit
}

func problemOf(ctx context.Context, err error) *hatch.Problem {
	if p := diskProblem(err); p != nil {
		return p
	}
	var p *hatch.Problem
	if errors.As(err, &p) {
		return p
	}
	var sig *signalError
	if errors.As(context.Cause(ctx), &sig) {
		return &hatch.Problem{Exit: sig.ExitCode(), Code: "signal", Message: "stopped by " + sig.Error()}
	}
	var faults strict.Faults
	if errors.As(err, &faults) {
		return hatch.FileProblem(faults)
	}
	return &hatch.Problem{Exit: 1, Code: "internal", Message: err.Error(), Next: "report this with the output of `colony version`"}
}

func usage(cmd *cobra.Command, err error) error {
	var p *hatch.Problem
	if errors.As(err, &p) {
		return p
	}
	return &hatch.Problem{Exit: 2, Code: "usage", Message: err.Error(), Next: cmd.CommandPath() + " --help"}
}

func unknownVerb(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	next := "colony --help"
	if near := strict.Nearest(word, names); near != "" {
		next = "colony " + near
	}
	return &hatch.Problem{Exit: 2, Code: "usage", Message: fmt.Sprintf("there is no verb %q", word), Next: next}
}

func notBuilt(what string) error {
	return &hatch.Problem{Exit: 2, Code: "not_built", Message: what + ": not built yet", Next: "colony --help lists what is there"}
}

// exactArgs wants between least and most arguments; most -1 is any number.
func exactArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || (most >= 0 && len(args) > most) {
			return usage(cmd, fmt.Errorf("%s does not take %d arguments: %s", cmd.Name(), len(args), strings.Join(args, " ")))
		}
		return nil
	}
}
