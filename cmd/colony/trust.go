package main

import (
	"bufio"
	"fmt"
	"io"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) trustCmd() *cobra.Command {
	var print bool
	cmd := &cobra.Command{
		Use: "trust", Short: "allow the commands, cards, skills and tools that this repository brings", Args: exactArgs(0, 0),
		Long: "Show the project files that name commands or bring cards, skills or tools, and trust exactly their present content. A file that\n" +
			"changes is not trusted any more. Your yes is kept in your own configuration, outside the repository.\n" +
			"The digest that it shows stands for all of these files as they are now. For a machine where nobody answers, give it to\n" +
			"run --trust, put it into COLONY_TRUST (several with blanks between), or let the machine's owner put it, one a line,\n" +
			"into /etc/colony/trust.\n" + exitHelp,
		Example: "  colony trust --print\n  colony trust\n  colony run -f plan.yaml --trust sha256:…",
		RunE: func(*cobra.Command, []string) error {
			house := hatch.Locate(a.where(""))
			if house.Root == "" {
				return hatch.NoRepository(house.Dir)
			}
			files, err := house.Files(a.environ())
			if err != nil {
				return err
			}
			if a.json {
				return a.trustJSON(house, files, print)
			}
			return a.trust(house, files, print)
		},
	}
	cmd.Flags().BoolVar(&print, "print", false, "only show what would run")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) trustJSON(house *hatch.House, files []hatch.ProjectFile, print bool) error {
	if len(files) == 0 {
		return printJSON(a.out, map[string]any{"files": []hatch.ProjectFile{}})
	}
	if !print {
		if err := house.Trust(files); err != nil {
			return err
		}
		for i := range files {
			files[i].Trusted = true
		}
	}
	return printJSON(a.out, map[string]any{"files": files, "digest": house.Digest(files)})
}

func (a *app) trust(house *hatch.House, files []hatch.ProjectFile, print bool) error {
	if len(files) == 0 {
		_, err := fmt.Fprintln(a.out, "this repository brings no settings, cards, skills or tools; next: colony init")
		return err
	}
	for _, f := range files {
		fmt.Fprintf(a.out, "%s  sha256:%s  %s\n", view.Line(f.Name), f.SHA256, waits(f))
		for _, run := range f.Runs {
			fmt.Fprintf(a.out, "  runs: %s\n", view.Line(run))
		}
	}
	fmt.Fprintf(a.out, "all of it, for run --trust or COLONY_TRUST: %s\n", house.Digest(files))
	if print || (terminal(a.in) && !a.agrees("Trust these files as they are? [y/N] ")) {
		return nil
	}
	if err := house.Trust(files); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, "trusted; a change of any of them asks again")
	return err
}

// waits says whether a file waits for its user's yes.
func waits(f hatch.ProjectFile) string {
	switch {
	case !f.Trusted:
		return "not trusted"
	case len(f.Runs) == 0:
		return "names nothing that runs"
	}
	return "trusted"
}

// agrees asks a person.
func (a *app) agrees(question string) bool {
	fmt.Fprint(a.err, question)
	text, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && err != io.EOF {
		return false
	}
	return yes(text)
}
