package cards

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Imported is another tool's agent file as a card.
type Imported struct {
	Name string `json:"name"`
	From string `json:"from"` // the agent file
	Tool string `json:"tool"` // whose it was: claude, codex or gemini
	Text string `json:"text"` // the card's YAML
	Lost []Loss `json:"lost"` // what could not be carried over, in the order of the file
}

// Loss is something of an agent file that the card does not have, or has otherwise.
type Loss struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// importLimit is the largest agent file that is read.
const importLimit = 256 << 10

// Import reads an agent file of Claude Code (.claude/agents/NAME.md), Codex (.codex/agents/NAME.toml) or Gemini
// (.gemini/agents/NAME.md) as a card. tools are the names of all tools there are. The card has no faults, lists nothing
// that is not there, and begins with what was lost, which is what the file says and colony has no word for.
func Import(file string, data []byte, tools []string) (Imported, error) {
	if len(data) > importLimit {
		return Imported{}, fmt.Errorf("%s: %d bytes: an agent file may have at most %d", file, len(data), importLimit)
	}
	var (
		a   agent
		err error
	)
	switch strings.ToLower(filepath.Ext(file)) {
	case ".toml":
		a, err = readTOML(data)
	case ".md":
		a, err = readMarkdown(data)
	default:
		err = errors.New("an agent file ends in .md or .toml")
	}
	if err != nil {
		return Imported{}, fmt.Errorf("%s: %w", file, err)
	}
	d := draft{tool: toolOf(file, a), there: tools}
	for _, f := range a.fields {
		d.take(f)
	}
	d.settle(file, a.body)
	if d.err != nil {
		return Imported{}, fmt.Errorf("%s: %w", file, d.err)
	}
	text, err := d.render(file)
	if err != nil {
		return Imported{}, fmt.Errorf("%s: %w", file, err)
	}
	return Imported{Name: d.name, From: file, Tool: d.tool, Text: text, Lost: append([]Loss{}, d.lost...)}, nil
}

// toolOf says whose agent file this is, by its directory, its ending or the keys that only one has.
func toolOf(file string, a agent) string {
	path := filepath.ToSlash(file)
	switch {
	case strings.HasSuffix(strings.ToLower(path), ".toml"):
		return "codex"
	case strings.Contains(path, ".gemini/"):
		return "gemini"
	case strings.Contains(path, ".claude/"):
		return "claude"
	}
	for _, f := range a.fields {
		switch f.key {
		case "kind", "max_turns", "timeout_mins", "temperature", "display_name":
			return "gemini"
		}
	}
	return "claude"
}

var notName = lazily(`[^a-z0-9_-]+`)

// slug is a text as a card's name; empty where nothing of it can be one.
func slug(text string) string {
	text = strings.Trim(notName().ReplaceAllString(strings.ToLower(text), "-"), "-_")
	return strings.TrimRight(text[:min(len(text), 64)], "-_")
}

// settle names the card after its file where it has no name, gives it the tools that an agent without a list has, and
// the means to end.
func (d *draft) settle(file, body string) {
	if d.name == "" {
		base := filepath.Base(file)
		d.name = slug(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	if d.prompt == "" {
		d.prompt = body
	}
	d.prompt = d.clean("prompt", strings.Trim(d.prompt, "\n"))
	switch {
	case d.err != nil:
	case d.name == "":
		d.err = errors.New("it has no name that a card can have")
	case strings.TrimSpace(d.prompt) == "":
		d.err = errors.New("it has no prompt: an agent file says below its head, or in developer_instructions, who the agent is")
	}
	d.settleTools()
}
