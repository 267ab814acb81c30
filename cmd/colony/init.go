package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) initCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "init", Short: "set this repository up", Args: exactArgs(0, 0),
		Long: "Write .colony/config.yaml with the gates that were found, and .colony/cards/ for cards of your own. What exists is\n" +
			"not changed. What init wrote is trusted.\n" + exitHelp,
		Example: "  colony init",
		RunE: func(*cobra.Command, []string) error {
			house := hatch.Locate(a.where(""))
			if house.Root == "" {
				return hatch.NoRepository(house.Dir)
			}
			return a.setUp(house)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) setUp(house *hatch.House) error {
	found := survey(house.Root)
	wrote := []string{}
	root, err := os.OpenRoot(house.Root)
	if err != nil {
		return fmt.Errorf("set up the repository: %w", err)
	}
	defer root.Close()
	for _, f := range []struct{ name, text string }{
		{".colony/config.yaml", found.config()},
		{".colony/cards/README.md", cardsReadme},
	} {
		made, err := create(root, f.name, f.text)
		if err != nil {
			return &hatch.Problem{Exit: 2, Code: "not_written", Message: err.Error(), Next: "make .colony a plain directory that you can write to"}
		}
		if made {
			wrote = append(wrote, f.name)
		}
	}
	if err := trustWritten(house, a.environ(), wrote); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.out, map[string]any{"wrote": wrote, "gates": found.gates, "instructions": found.instructions, "agents": found.agents})
	}
	return a.saySurvey(found, wrote)
}

func (a *app) saySurvey(found surveyed, wrote []string) error {
	for _, name := range wrote {
		fmt.Fprintln(a.out, "wrote "+name)
	}
	if len(wrote) == 0 {
		fmt.Fprintln(a.out, "nothing written: .colony is there already")
	}
	for _, g := range found.gates {
		fmt.Fprintln(a.out, "gate found: "+g)
	}
	if len(found.gates) == 0 {
		fmt.Fprintln(a.out, "no gate found: write the command that checks this repository into .colony/config.yaml, or give --gate")
	}
	for _, f := range found.instructions {
		fmt.Fprintln(a.out, "ants read "+view.Line(f))
	}
	for _, f := range found.agents {
		fmt.Fprintln(a.out, "agent file of another tool, not used: "+view.Line(f))
	}
	_, err := fmt.Fprintln(a.out, "next: write a plan and start it with colony run -f plan.yaml")
	return err
}

// trustWritten trusts the files that init wrote itself just now, and no others.
func trustWritten(house *hatch.House, environ, wrote []string) error {
	files, err := house.Files(environ)
	if err != nil {
		return err
	}
	var ours []hatch.ProjectFile
	for _, f := range files {
		for _, name := range wrote {
			if f.Name == name {
				ours = append(ours, f)
			}
		}
	}
	return house.Trust(ours)
}

// create writes a new file of the repository; false where one is there already. A link that leads out is an error.
func create(root *os.Root, name, text string) (bool, error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, fmt.Errorf("make the directory of %s: %w", name, err)
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	return true, f.Close()
}

const cardsReadme = `# Cards of this repository

A card is a role: who an ant is, what it may use, how it is checked, what it may spend. Put one into NAME.yaml here to
add it, or to replace the built-in card of that name. Start from a built-in one:

    colony cards show worker > .colony/cards/worker.yaml

Check with colony cards lint; allow with colony trust: a card is not used before you trusted it as it is.
`
