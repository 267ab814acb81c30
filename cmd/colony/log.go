package main

import (
	"colony/hatch"

	"github.com/spf13/cobra"
)

func (a *app) logCmd() *cobra.Command {
	var state, ant, task string
	var following bool
	cmd := &cobra.Command{
		Use: "log [RUN]", Aliases: []string{"logs"}, Short: "a run's events", Args: exactArgs(0, 1),
		Long:    "Print a run's events, one a line.\nRUN is a unique prefix or suffix of an id; @, the default, is the latest.\n" + exitHelp,
		Example: "  colony log\n  colony log @ --follow --ant worker-1\n  colony log --json | jq .type",
		RunE: func(cmd *cobra.Command, args []string) error {
			house := hatch.Locate(a.where(state))
			past, err := house.Find(word(args))
			if err != nil {
				return err
			}
			show := a.logPrinter()
			events := past.Events(cmd.Context())
			if following {
				events = past.Follow(cmd.Context())
			}
			for e, err := range events {
				if err != nil {
					return err
				}
				if (ant != "" && e.Ant != ant) || (task != "" && e.Task != task) {
					continue
				}
				if err := show.show(e); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&ant, "ant", "", "only of this `ANT`")
	cmd.Flags().StringVar(&task, "task", "", "only of this `TASK`")
	cmd.Flags().BoolVarP(&following, "follow", "f", false, "go on until the run is finished")
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) logPrinter() printer {
	if a.json {
		return jsonPrinter{a.out}
	}
	return linePrinter{a.out, true, a.palette(a.out)}
}

// word is the RUN that was typed; @ where none was.
func word(args []string) string {
	if len(args) == 0 {
		return "@"
	}
	return args[0]
}
