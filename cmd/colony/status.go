package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) statusCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "status [RUN]", Aliases: []string{"ps"}, Short: "runs of this repository, or one run's tasks and ants", Args: exactArgs(0, 1),
		Long: "List the runs of this repository, or one run's tasks and ants: state, last action, tokens, cost.\n" +
			"RUN is a unique prefix or suffix of an id, or @ for the latest. A run whose log is damaged is shown as far as its\n" +
			"log is whole; the exit code is 3 then.\n" + exitHelp,
		Example: "  colony status\n  colony status @ --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			house := hatch.Locate(a.where(state))
			if len(args) == 0 {
				return a.listRuns(cmd, house)
			}
			past, err := house.Find(args[0])
			if err != nil {
				return err
			}
			p, err := read(cmd, past)
			if err != nil && !p.broken(err) {
				return err
			}
			if printed := a.printRun(p); printed != nil {
				return printed
			}
			return a.found(err)
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

// read folds a run's log into what a screen knows of it. A run whose owner is gone without an end is stopped. Beside an
// error stands what was read before it.
func read(cmd *cobra.Command, past hatch.Past) (*progress, error) {
	p := newProgress()
	p.Run = past.ID
	for e, err := range past.Events(cmd.Context()) {
		if err != nil {
			return p, err
		}
		p.apply(e)
	}
	if p.finished == nil && !past.Owned() {
		p.Status = "stopped"
	}
	return p, nil
}

func (a *app) listRuns(cmd *cobra.Command, house *hatch.House) error {
	pasts, err := house.Runs()
	if err != nil {
		return err
	}
	runs := []*progress{}
	var broken error
	for _, past := range pasts {
		p, err := read(cmd, past)
		if err != nil && !p.broken(err) {
			return err
		}
		if err != nil {
			broken, a.exit = err, 3
		}
		runs = append(runs, p)
	}
	if a.json {
		return printJSON(a.out, map[string]any{"runs": runs})
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintln(a.out, "no runs in this repository yet; next: colony run -f plan.yaml")
		return err
	}
	w := table(a.out, "RUN", "STATUS", "TASKS", "TOKENS", "COST", "STARTED", "GOAL")
	for _, p := range runs {
		row(w, p.Run, p.Status, p.landed(), fmt.Sprint(p.Usage.Input+p.Usage.Output), money(p.USD, p.Price),
			p.began(), p.Goal)
	}
	if err := w.Flush(); err != nil || broken == nil {
		return err
	}
	for _, p := range runs {
		if p.Error != "" {
			fmt.Fprintf(a.out, "%s: %s\n", p.Status, view.Line(p.Error))
		}
	}
	a.advise(broken)
	return nil
}

func (p *progress) began() string {
	if p.Started.IsZero() {
		return "-"
	}
	return p.Started.Local().Format(time.DateTime)
}

func (p *progress) landed() string {
	n := 0
	for _, t := range p.Tasks {
		if t.Status == "landed" || t.Status == "no_change" {
			n++
		}
	}
	return fmt.Sprintf("%d/%d", n, len(p.Tasks))
}

func (a *app) printRun(p *progress) error {
	if a.json {
		return printJSON(a.out, p)
	}
	fmt.Fprintf(a.out, "%s  %s  %s\n\n", view.Line(p.Run), p.Status, view.Line(p.Goal))
	w := table(a.out, "TASK", "STATUS", "NEEDS", "TITLE")
	for _, t := range p.Tasks {
		row(w, t.ID, withReason(t.Status, t.Reason), strings.Join(t.Needs, ","), t.Title)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	w = table(a.out, "ANT", "TASK", "MODEL", "TOKENS", "COST", "LAST")
	for _, n := range p.Ants {
		row(w, n.ID, n.Task, n.Model, fmt.Sprint(n.Usage.Input+n.Usage.Output), money(n.USD, n.Price), clip(view.Line(n.Last), 60))
	}
	return w.Flush()
}

// table is a table of columns with a head.
func table(w io.Writer, head ...string) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	row(t, head...)
	return t
}

// row writes cells that hold text from outside.
func row(w io.Writer, cells ...string) {
	safe := make([]string, len(cells))
	for i, c := range cells {
		safe[i] = view.Line(c)
	}
	fmt.Fprintln(w, strings.Join(safe, "\t"))
}

func printJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", view.EscapeJSON(data))
	return err
}
