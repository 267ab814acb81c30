package cards

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// draft is a card in the making, from one agent file.
type draft struct {
	tool  string   // whose file it is
	there []string // the tools there are

	name, description, model, effort, prompt string
	listed                                   bool // the file has a list of tools
	tools, dropped, allow, deny              []string
	turns                                    int64
	wall                                     time.Duration
	lost                                     []Loss
	err                                      error
}

func (d *draft) lose(key string, value any, why string) {
	text := strings.Join(strings.Fields(plain(plainText(value))), " ")
	if utf8.RuneCountInString(text) > 200 {
		text = string([]rune(text)[:200]) + "…"
	}
	d.lost = append(d.lost, Loss{plain(key), text, why})
}

const (
	notBuilt  = "not built yet"
	byName    = "a card names the servers that are started for it, as mcp: {servers: [NAME]}; colony mcp add brings one"
	ofTheUser = "what needs no question is the user's to say: colony run --mode, and permissions in the settings"
)

// known are keys that colony has no word for, each with the reason.
var known = map[string]string{
	"permissionMode": ofTheUser, "approval_policy": ofTheUser,
	"hooks": "hooks are " + notBuilt, "skills": "a card names skills that lie in .colony/skills or in your own configuration", "mcpServers": byName, "mcp_servers": byName,
	"memory": "an ant remembers its task only", "initialPrompt": "the task is the first thing that an ant is told",
	"color": "screens choose colours themselves", "display_name": "a card has one name", "nickname_candidates": "ants are named after their card, with a number",
	"temperature": "requests set no temperature", "web_search": "web search is " + notBuilt, "omitClaudeMd": "an ant always sees the repository's instructions",
	"model_provider": "write the model as provider/model", "autoCompactWindow": "compaction is not set by a card",
}

// take reads one key of the file.
func (d *draft) take(f field) {
	text := strings.TrimSpace(plainText(f.value))
	switch f.key {
	case "name":
		d.takeName(text)
	case "description":
		d.takeDescription(text)
	case "developer_instructions":
		d.prompt = plainText(f.value)
	case "model":
		d.takeModel(text)
	case "effort", "model_reasoning_effort":
		d.takeEffort(f.key, text)
	case "tools":
		d.listed = true
		d.takeTools(f.value)
	case "disallowedTools":
		d.dropTools(f.value)
	case "maxTurns", "max_turns":
		d.turns = d.count(f, 1_000_000)
	case "timeout_mins":
		d.wall = time.Duration(d.count(f, 100_000)) * time.Minute
	case "sandbox_mode":
		d.takeSandbox(text)
	case "kind":
		d.takeKind(text)
	case "background":
	case "isolation":
		if text != "worktree" {
			d.lose(f.key, text, "every ant has a worktree of its own")
		}
	default:
		why := known[f.key]
		if why == "" {
			why = "colony has no word for this"
		}
		d.lose(f.key, f.value, why)
	}
}

func (d *draft) takeName(text string) {
	d.name = slug(text)
	if d.name != text {
		d.lose("name", text, "the card is called "+d.name+": "+nameText)
	}
}

func (d *draft) takeDescription(text string) {
	text = strings.Join(strings.Fields(strings.ReplaceAll(d.clean("description", text), `\n`, " ")), " ")
	if runes := []rune(text); len(runes) > 400 {
		d.lose("description", "…"+string(runes[399:]), "a description is one line: it was cut after 400 characters")
		text = string(runes[:399]) + "…"
	}
	d.description = text
}

func (d *draft) takeModel(text string) {
	switch {
	case text == "" || text == "inherit" || text == "default":
	case d.tool == "codex" && !strings.ContainsAny(text, " /"):
		d.model = "openai/" + text
	case text == "haiku":
		d.model = "small"
		d.lose("model", text, "the card takes the small model of whichever provider is used")
	default:
		d.lose("model", text, "the card takes the default model; name another with colony run --model CARD=provider/model")
	}
}

func (d *draft) takeEffort(key, text string) {
	for _, one := range efforts {
		if text == one {
			d.effort = one
		}
	}
	if text == "max" {
		d.effort = "xhigh"
	}
	if d.effort != text {
		d.lose(key, text, "efforts are "+strings.Join(efforts, ", "))
	}
}

// count is a positive number; another value is lost and 0.
func (d *draft) count(f field, most int64) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(plainText(f.value)), 10, 64)
	if err != nil || n < 1 || n > most {
		d.lose(f.key, f.value, "it is no number from 1 to "+strconv.FormatInt(most, 10))
		return 0
	}
	return n
}

func (d *draft) takeSandbox(text string) {
	switch text {
	case "workspace-write":
	case "read-only":
		d.listed = true
		d.tools = []string{"read", "find"}
		d.lose("sandbox_mode", text, "the card lists no tool that writes: edit, write and sh are left out")
	default:
		d.lose("sandbox_mode", text, ofTheUser)
	}
}

func (d *draft) takeKind(text string) {
	if text != "local" {
		d.err = errKind
	}
}

// clean is the text without the characters that a card cannot hold: they steer a terminal or are seen by nobody.
func (d *draft) clean(key, text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	kept := plain(text)
	if n := utf8.RuneCountInString(text) - utf8.RuneCountInString(kept); n > 0 {
		d.lose(key, strconv.Itoa(n)+" characters", "they steer a terminal, turn the order of what is read or are no text: they were taken out")
	}
	return kept
}

// plain is the text without what a card cannot hold.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r == utf8.RuneError || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			return -1
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, text)
}
