package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"colony/cards"
	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// agentDirs are where other tools keep their agent files.
var agentDirs = []string{".claude/agents", ".codex/agents", ".gemini/agents"}

const (
	mostAgents   = 200
	agentMaximum = 1 << 20
)

// broughtCard is a card that was imported, and where it went.
type broughtCard struct {
	cards.Imported
	File  string `json:"file"` // empty where it was only printed
	Wrote bool   `json:"wrote"`
}

func (a *app) cardsImport() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use: "import PATH", Short: "other tools' agent files as cards", Args: exactArgs(1, 1),
		Long: "Read an agent file of Claude Code, Codex or Gemini, a directory of them, or all of a repository, and write each as a\n" +
			"card, with a report of what could not be carried over. Cards go to .colony/cards of this repository, or to another\n" +
			"directory with -o; -o - prints them. A card that is there already is not changed. Cards of a repository wait for\n" +
			"colony trust.\n" + exitHelp,
		Example: "  colony cards import .\n  colony cards import .claude/agents/reviewer.md -o -\n  colony cards import ~/.codex/agents -o ~/.config/colony/cards",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := a.agents(args[0])
			if err != nil {
				return err
			}
			return a.bring(found, into, cmd.Flags().Changed("output"))
		},
	}
	cmd.Flags().StringVarP(&into, "output", "o", "", "write the cards to `DIR`; - prints them")
	a.jsonFlag(cmd)
	return cmd
}

// agents reads all agent files of a path. No link is followed out of the directory that they lie in.
func (a *app) agents(typed string) ([]broughtCard, error) {
	none := &hatch.Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("there is no agent file at %s", typed), Next: "name a file such as .claude/agents/NAME.md, a directory of them, or a repository"}
	at := a.path(typed)
	info, err := os.Stat(at)
	if err != nil {
		return nil, none
	}
	dir, names := at, []string{}
	if !info.IsDir() {
		dir, names = filepath.Dir(at), []string{filepath.Base(at)}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, none
	}
	defer root.Close()
	if info.IsDir() {
		names = agentFiles(root)
	}
	if len(names) == 0 {
		return nil, none
	}
	return readAgents(root, at, names, info.IsDir())
}

// agentFiles are the agent files of a repository, else those of the directory itself.
func agentFiles(root *os.Root) []string {
	var names []string
	for _, dir := range append(slices.Clone(agentDirs), ".") {
		if dir == "." && len(names) > 0 {
			break
		}
		entries, err := fs.ReadDir(root.FS(), dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			ext := path.Ext(e.Name())
			if (ext == ".md" || ext == ".toml") && !strings.EqualFold(e.Name(), "README.md") && len(names) < mostAgents {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
	}
	return names
}

// readAgents imports the files; what is wrong with any of them comes at once, and then nothing is imported.
func readAgents(root *os.Root, at string, names []string, inside bool) ([]broughtCard, error) {
	var (
		found []broughtCard
		wrong []string
	)
	for _, name := range names {
		shown := at
		if inside {
			shown = filepath.Join(at, name)
		}
		data, err := readAgent(root, name)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", shown, err))
			continue
		}
		card, err := cards.Import(shown, data, hatch.ToolNames())
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		if i := slices.IndexFunc(found, func(b broughtCard) bool { return b.Name == card.Name }); i >= 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s is a card of the same name, %s: import them one by one", shown, found[i].From, card.Name))
			continue
		}
		found = append(found, broughtCard{Imported: card})
	}
	if len(wrong) > 0 {
		return nil, &hatch.Problem{Exit: 2, Code: "bad_file", Message: strings.Join(wrong, "\n"), Next: "mend or move what is named and import again"}
	}
	return found, nil
}

// readAgent reads a plain file that lies in the root, also where a link leads to it.
func readAgent(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	return io.ReadAll(io.LimitReader(f, agentMaximum))
}

// reason is an error without the path that it names.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// bring writes or prints the cards and says what was lost.
func (a *app) bring(found []broughtCard, into string, typed bool) error {
	if into != "-" {
		if err := a.writeCards(found, into, typed); err != nil {
			return err
		}
	}
	if a.json {
		return printJSON(a.out, map[string]any{"cards": found})
	}
	for i, card := range found {
		if into == "-" {
			if i > 0 {
				fmt.Fprintln(a.out, "---")
			}
			fmt.Fprint(a.out, card.Text)
		}
		a.sayBrought(card)
	}
	if into != "-" {
		fmt.Fprintln(a.err, "next: read the cards, check them with colony cards lint, and allow those of this repository with colony trust")
	}
	return nil
}

func (a *app) sayBrought(card broughtCard) {
	switch {
	case card.Wrote:
		fmt.Fprintf(a.out, "wrote %s\n", view.Line(card.File))
	case card.File != "":
		fmt.Fprintf(a.out, "kept %s as it is: it is there already\n", view.Line(card.File))
	}
	for _, l := range card.Lost {
		fmt.Fprintf(a.err, "%s: not carried over: %s: %s (%s)\n", view.Line(card.Name), view.Line(l.Key), view.Line(l.Value), view.Line(l.Why))
	}
}

// writeCards writes each card as NAME.yaml, to .colony/cards where no directory was typed. What is there stays.
func (a *app) writeCards(found []broughtCard, into string, typed bool) error {
	dir, prefix := a.path(into), ""
	if !typed {
		house := hatch.Locate(a.where(""))
		if house.Root == "" {
			return hatch.NoRepository(house.Dir)
		}
		dir, prefix = house.Root, ".colony/cards"
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return notWritten(err, dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return notWritten(err, dir)
	}
	defer root.Close()
	for i := range found {
		name := path.Join(prefix, found[i].Name+".yaml")
		if found[i].Wrote, err = create(root, name, found[i].Text); err != nil {
			return notWritten(err, dir)
		}
		found[i].File = filepath.Join(dir, name)
	}
	return nil
}

func notWritten(err error, dir string) error {
	return &hatch.Problem{Exit: 2, Code: "not_written", Message: fmt.Sprintf("write cards: %v", err), Next: "name a directory that you can write to with -o, not " + dir}
}
