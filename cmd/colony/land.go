package main

import (
	"fmt"
	"time"

	"colony/event"
	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) landCmd() *cobra.Command {
	var state, into string
	var pr bool
	cmd := &cobra.Command{
		Use: "land [RUN] [--into BRANCH] [--pr]", Short: "take a run over into a branch of yours", Args: exactArgs(0, 1),
		Long: "Take what a run landed on colony/RUN over into a branch: the one the run began on, or BRANCH. Where the branch has moved\n" +
			"since, the work is put on top of it, commit by commit, and the gates run again on the result. What does not join, or is\n" +
			"red there, leaves the branch as it is: exit 3. A checkout that has the branch, and is clean, goes along by git's own\n" +
			"fast-forward. Nothing is ever forced.\n" +
			"With --pr nothing here moves: the title and the text of a pull request are written, and where gh is there your git pushes\n" +
			"colony/RUN and gh makes it.\n" + exitHelp,
		Example: "  colony land\n  colony land r-20261130-8f3k --into release\n  colony land --pr\n  colony land --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			house, err := a.house(state, nil)
			if err != nil {
				return err
			}
			past, err := house.Find(word(args))
			if err != nil {
				return err
			}
			if pr {
				return a.propose(cmd.Context(), house, past, into)
			}
			landing, err := house.Land(cmd.Context(), past, hatch.Land{Into: into, Getenv: a.getenv, Now: time.Now, Diagnostics: a.diagnostics()})
			if err != nil {
				return err
			}
			return a.sayLanding(landing)
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "the `BRANCH` to take it over into")
	cmd.Flags().BoolVar(&pr, "pr", false, "propose the run as a pull request instead")
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) sayLanding(l hatch.Landing) error {
	why := l.Refused()
	if why != "" {
		a.exit = 3
	}
	switch {
	case a.json:
		return printJSON(a.out, l)
	case why != "":
		fmt.Fprintf(a.out, "%s; nothing was changed\n", view.Line(why))
		for _, f := range l.Files {
			fmt.Fprintln(a.out, "  "+view.Line(f))
		}
		if l.Output != "" {
			fmt.Fprintln(a.out, view.Text(l.Output))
		}
		_, err := fmt.Fprintf(a.out, "next: git merge colony/%s, and mend what does not join; or colony run --from %s\n", l.Run, l.Run)
		return err
	case l.Outcome == "empty":
		_, err := fmt.Fprintf(a.out, "%s has all of %s already\n", view.Line(l.Into), l.Run)
		return err
	}
	fmt.Fprintf(a.out, "landed %s on %s: %s to %s, %d files\n", l.Run, view.Line(l.Into), short(l.Onto), short(l.Commit), len(l.Files))
	if l.Rebased {
		fmt.Fprintf(a.out, "%s had moved: the work was put on top of it, and %s\n", view.Line(l.Into), regated(l.Gates))
	}
	if l.Checkout != "" {
		fmt.Fprintf(a.out, "the checkout %s went along\n", view.Line(l.Checkout))
	}
	_, err := fmt.Fprintln(a.out, "next: colony gc")
	return err
}

func regated(gates []event.GateReceipt) string {
	red := 0
	for _, g := range gates {
		if g.Exit != 0 {
			red++
		}
	}
	switch {
	case len(gates) == 0:
		return "no gate verifies it"
	case red > 0:
		return fmt.Sprintf("%d of %d gates passed again; the others are red without it too", len(gates)-red, len(gates))
	}
	return fmt.Sprintf("%d gates passed again", len(gates))
}
