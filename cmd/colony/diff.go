package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) diffCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "diff [RUN] [TASK]", Short: "what a run, or one of its tasks, changed", Args: exactArgs(0, 2),
		Long: "Show what differs between the base of a run and its branch; with TASK, what that task landed, or the work of it that\n" +
			"was kept. RUN is a unique prefix or suffix of an id; @, the default, is the latest. On a terminal the output goes\n" +
			"through PAGER.\n" + exitHelp,
		Example: "  colony diff\n  colony diff @ limiter\n  colony diff --json | jq '.files[].path'\n  colony diff | git apply",
		RunE: func(cmd *cobra.Command, args []string) error {
			house := hatch.Locate(a.where(state))
			past, task, err := runAndTask(cmd.Context(), house, args)
			if err != nil {
				return err
			}
			shown, err := house.Show(cmd.Context(), past, task)
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.out, shown)
			}
			return a.page(cmd.Context(), shown.Diff)
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

// runAndTask reads [RUN] [TASK]. A single word that names no run may be a task of the latest.
func runAndTask(ctx context.Context, house *hatch.House, args []string) (hatch.Past, string, error) {
	past, err := house.Find(word(args))
	if len(args) == 2 {
		return past, args[1], err
	}
	if err == nil || len(args) == 0 {
		return past, "", err
	}
	if latest, none := house.Find("@"); none == nil && latest.HasTask(ctx, args[0]) {
		return latest, args[0], nil
	}
	return past, "", err
}

// page writes a diff: as it is to a file or pipe, so that it can be applied; coloured and escaped, a page at a time, to
// a terminal.
func (a *app) page(ctx context.Context, diff string) error {
	if !terminal(a.out) {
		_, err := io.WriteString(exactly(a.out), diff)
		return err
	}
	p := a.palette(a.out)
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(p.paint(toneOfLine(line), view.Line(strings.TrimSuffix(line, "\n"))) + "\n")
	}
	pager := a.getenv("PAGER")
	if pager == "" {
		pager = "less"
	}
	words := strings.Fields(pager)
	if pager == "cat" || len(words) == 0 || a.getenv("TERM") == "dumb" {
		_, err := io.WriteString(a.out, b.String())
		return err
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		_, err := io.WriteString(a.out, b.String())
		return err
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(a.detector().Redact(b.String())), exactly(a.out), exactly(a.err)
	cmd.Env = append(os.Environ(), "LESS=FRX")
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("page the diff with %s: %w", pager, err)
	}
	return nil
}
