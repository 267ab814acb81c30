package hatch

import (
	"context"
	"errors"
	"net"
	"path"
	"strings"

	"colony/ant"
	"colony/cards"
)

// instructionFiles are the names by which repositories advise agents; of one directory the first is read.
var instructionFiles = []string{"AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"}

// readAdvice reads the repository's instructions from the base commit, the root's first, within the setting's bound.
func (c *Colony) readAdvice(ctx context.Context) error {
	files, err := c.repo.Named(ctx, c.base, instructionFiles)
	if err != nil {
		return err
	}
	left := c.settings.limits.Instructions
	for _, name := range foremost(files) {
		data, ok, err := c.repo.File(ctx, c.base, name)
		if err != nil {
			return err
		}
		if !ok || len(data) > left {
			continue
		}
		left -= len(data)
		c.advice = append(c.advice, ant.Instructions{Path: name, Text: c.redact(strings.ToValidUTF8(string(data), "\uFFFD"))})
	}
	return nil
}

// foremost picks, for each directory, the file that counts, in the order of the paths.
func foremost(files []string) []string {
	best := map[string]int{}
	var dirs []string
	for _, f := range files {
		dir := path.Dir(f)
		rank := rankOf(path.Base(f))
		have, seen := best[dir]
		if !seen {
			dirs = append(dirs, dir)
		}
		if !seen || rank < have {
			best[dir] = rank
		}
	}
	out := make([]string, len(dirs))
	for i, dir := range dirs {
		out[i] = path.Join(dir, instructionFiles[best[dir]])
	}
	return out
}

func rankOf(name string) int {
	for i, n := range instructionFiles {
		if n == name {
			return i
		}
	}
	return len(instructionFiles)
}

// system is the system prompt of a card: the same for all its ants.
func (c *Colony) system(card cards.Card) string {
	return ant.System(card.Name, c.redact(c.parts.prompt(card)), c.advice)
}

// noDial is the dialler of tools in a run without network.
func noDial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("this ant has no network")
}
