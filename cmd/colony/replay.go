package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"colony/event"
	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) replayCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "replay [RUN]", Short: "carry a recorded run out again, offline", Args: exactArgs(0, 1),
		Long: "Carry the plan of a run out again from its base, with a model that says what was said then: in a scratch repository,\n" +
			"without network and keys. The checkout, its branches and the run stay as they are. It says whether the final tree is\n" +
			"the same, and where it first differs. What the base's history holds is not there; commands run confined, whatever the\n" +
			"run's sandbox was, and hooks tell nobody of the end.\n" +
			"RUN is a unique prefix or suffix of an id; @, the default, is the latest.\n" + exitHelp,
		Example: "  colony replay\n  colony replay @ --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			house, err := a.house(state, nil)
			if err != nil {
				return err
			}
			past, err := house.Find(word(args))
			if err != nil {
				return err
			}
			scratch, err := os.MkdirTemp("", "colony-replay-")
			if err != nil {
				return fmt.Errorf("make the replay's directory: %w", err)
			}
			v := verdict{Run: past.ID}
			trees, difference, err := house.Replay(cmd.Context(), hatch.Parts{
				Version: version, Getenv: a.getenv, Now: time.Now, Slept: a.slept, Stuck: a.stuck, Diagnostics: a.diagnostics(), Person: hatch.Nobody,
			}, past, scratch, func(c *hatch.Colony) (event.RunFinished, error) { return a.again(cmd.Context(), c) })
			if err = errors.Join(err, os.RemoveAll(scratch)); err != nil {
				return err
			}
			v.Then, v.Now, v.Difference = trees[0], trees[1], difference
			return a.judged(v)
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

// verdict says what a replay came to.
type verdict struct {
	Run        string `json:"run"`
	Same       bool   `json:"same"`
	Then       string `json:"tree_then"`
	Now        string `json:"tree_now"`
	Difference string `json:"difference,omitempty"`
}

// again carries a replay out. Its events are progress.
func (a *app) again(ctx context.Context, c *hatch.Colony) (finished event.RunFinished, err error) {
	var show printer = noPrinter{}
	if !a.json && !a.quiet {
		show = linePrinter{a.err, a.verbose, a.palette(a.err)}
	}
	err = watched(ctx, c, show, func(ctx context.Context) (err error) {
		finished, err = c.Run(ctx)
		return err
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return finished, err
}

// judged says what a replay came to.
func (a *app) judged(v verdict) error {
	if v.Same = v.Then == v.Now; !v.Same {
		a.exit = 3
	}
	if a.json {
		return printJSON(a.out, v)
	}
	if v.Same {
		_, err := fmt.Fprintf(a.out, "the same: %s comes to the tree %.12s again\n", view.Line(v.Run), v.Now)
		return err
	}
	_, err := fmt.Fprintf(a.out, "not the same: %s came to the tree %.12s, and comes to %.12s now\nfirst difference: %s\nnext: colony log %s shows what happened then\n",
		view.Line(v.Run), v.Then, v.Now, view.Line(v.Difference), view.Line(v.Run))
	return err
}
