package main

import (
	"time"

	"colony/event"
	"colony/hatch"

	"github.com/spf13/cobra"
)

func (a *app) resumeCmd() *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use: "resume [RUN]", Short: "go on with a stopped, crashed or paused run", Args: exactArgs(0, 1),
		Long: "Go on with a run that was stopped, capped, or whose process died: what landed stays, what waited to land lands, and an\n" +
			"ant that was at work goes on in its conversation and its worktree. A call that was cut off is looked after by its file's\n" +
			"content; where nobody can say whether it had an effect, the ant is told so. A task that had failed begins with another\n" +
			"ant, which is told where the work of the earlier one is kept. Plan, settings, cards and labels are the run's own; what\n" +
			"it has spent counts under its caps. Questions that were open are asked again; answers left meanwhile count. --yes starts\n" +
			"a plan that was not approved yet, also over the budget; it answers nothing else. A run that colony pause holds goes on in\n" +
			"the process that carries it out.\n" + exitHelp,
		Example: "  colony resume\n  colony resume @ --budget 20 --ants 2\n  colony resume @ --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := modelFlags(o.models)
			if err != nil {
				return usage(cmd, err)
			}
			house, err := a.house(o.state, nil)
			if err != nil {
				return err
			}
			past, err := house.Find(word(args))
			if err != nil {
				return err
			}
			if paused, err := a.unpause(cmd, past, o); paused || err != nil {
				return err
			}
			parts := hatch.Parts{
				Version: version, House: house, Models: models, Getenv: a.getenv, Headless: a.headless(), Yes: o.yes, Edit: a.edit, Save: a.savePlan,
				Now: time.Now, Diagnostics: a.diagnostics(), Person: hatch.Nobody,
			}
			if err := onAsk(cmd, o.onAsk, &parts); err != nil {
				return err
			}
			flags := flagSettings(cmd, o)
			return a.carry(cmd.Context(), parts, func(parts hatch.Parts) (*hatch.Colony, error) {
				return house.Resume(cmd.Context(), parts, past, flags)
			}, nextSteps, func(event.RunFinished, hatch.Brief) error { return nil })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.ants, "ants", "", "ants at once: a `NUMBER`, or auto")
	f.StringArrayVar(&o.models, "model", nil, "`MODEL` for every card, or CARD=MODEL (repeatable)")
	f.StringVar(&o.budget, "budget", "", "spend at most this many `USD` in all, or none")
	f.StringVar(&o.maxTokens, "max-tokens", "", "use at most this many `TOKENS` in all, or none")
	f.StringVar(&o.wall, "wall", "", "take at most this `DURATION` from now")
	f.StringVar(&o.onAsk, "on-ask", "", onAskHelp)
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before the plan starts, where it has not started yet")
	a.stateFlag(cmd, &o.state)
	a.jsonFlag(cmd)
	laterFlags(cmd, "watch")
	return cmd
}

// unpause lets a run go on that a person paused and whose owner is there. Its caps and models are not changed by it.
func (a *app) unpause(cmd *cobra.Command, past hatch.Past, o *runOptions) (bool, error) {
	if !past.Owned() || len(flagSettings(cmd, o)) > 0 || len(o.models) > 0 {
		return false, nil
	}
	paused, err := past.Paused(cmd.Context())
	if err != nil || !paused {
		return false, err
	}
	return true, a.leave(past, event.Wish{Kind: "resume"})
}
