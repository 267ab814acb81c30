package cards

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errKind = errors.New("only agents of kind local can be cards: a remote one runs elsewhere")

// ours are other tools' names for what a tool of colony's does.
var ours = map[string]string{
	"Read": "read", "NotebookRead": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "Bash": "sh", "BashOutput": "sh", "KillShell": "sh",
	"KillBash": "sh", "Grep": "find", "Glob": "find", "LS": "find", "WebFetch": "fetch", "WebSearch": "search", "ToolSearch": "tool_search",
	"AskUserQuestion": "ask", "LSP": "symbols", "Skill": "skill", "Task": "hatch", "Agent": "hatch",
	"read_file": "read", "read_many_files": "read", "write_file": "write", "replace": "edit", "run_shell_command": "sh", "glob": "find", "grep_search": "find",
	"search_file_content": "find", "list_directory": "find", "web_fetch": "fetch", "google_web_search": "search", "ask_user": "ask", "activate_skill": "skill",
}

// noneOfOurs are tools that no tool of colony's stands for, each with the reason.
var noneOfOurs = map[string]string{
	"TodoWrite": "the plan and the log say what is open", "write_todos": "the plan and the log say what is open", "NotebookEdit": "there is no tool for notebooks",
	"save_memory": "an ant remembers its task only", "ExitPlanMode": "the queen plans", "EnterWorktree": "every ant has a worktree of its own",
	"SlashCommand": "there are no slash commands",
}

// everything is what an agent without a list of tools gets: the worker's.
var everything = []string{"read", "find", "edit", "write", "sh", "tool_search", "ask"}

func entriesOf(value any) []string {
	list, ok := value.([]any)
	if !ok {
		return words(plainText(value))
	}
	var out []string
	for _, one := range list {
		out = append(out, strings.TrimSpace(plainText(one)))
	}
	return out
}

func (d *draft) takeTools(value any) {
	for _, entry := range entriesOf(value) {
		name, content, has := strings.Cut(entry, "(")
		our := ours[name]
		switch {
		case entry == "*":
			d.tools = append(d.tools, everything...)
		case strings.HasPrefix(name, "mcp_"):
			d.lose("tools", entry, "a card names the servers that are started for it: add mcp: {servers: [NAME]}, and "+entry+" to its tools")
		case our == "" && noneOfOurs[name] != "":
			d.lose("tools", entry, noneOfOurs[name])
		case our == "":
			d.lose("tools", entry, "there is no such tool")
		case our == "hatch":
			d.lose("tools", entry, "a card names the cards that its ants may hatch: add hatch to its tools, and hatch: [scout]")
		case !slices.Contains(d.there, our):
			d.lose("tools", entry, our+" is "+notBuilt)
		default:
			d.tools = append(d.tools, our)
			if has {
				d.rule(&d.allow, our, content)
				d.lose("tools", entry, fmt.Sprintf("a card lists whole tools: %s is open, and what is in parentheses runs without a question", our))
			}
		}
	}
}

// dropTools takes tools out again. A tool that is not there anyway needs no word.
func (d *draft) dropTools(value any) {
	for _, entry := range entriesOf(value) {
		name, content, has := strings.Cut(entry, "(")
		switch our := ours[name]; {
		case our == "":
		case has:
			if !d.rule(&d.deny, our, content) {
				d.dropped = append(d.dropped, our)
				d.lose("disallowedTools", entry, "a rule cannot say this: the whole tool is left out")
			}
		default:
			d.dropped = append(d.dropped, our)
		}
	}
}

// rule adds tool(content) to a list of rules and reports whether a rule can say it.
func (d *draft) rule(list *[]string, tool, content string) bool {
	content, closed := strings.CutSuffix(content, ")")
	prefix, isPrefix := strings.CutSuffix(content, ":*")
	if !closed || strings.TrimSpace(prefix) == "" || isPrefix && strings.Contains(prefix, "*") || plain(content) != content || strings.Contains(content, "\n") {
		return false
	}
	*list = append(*list, tool+"("+content+")")
	return true
}

// settleTools is the wall: what was listed, or all, without what was dropped, and done.
func (d *draft) settleTools() {
	if !d.listed {
		d.tools = everything
		if d.tool != "codex" {
			d.lose("tools", "no list", "it means all there are; a card lists what it may use: it has the worker's tools")
		}
	}
	var wall []string
	for _, name := range append(slices.Clone(d.tools), "done") {
		if slices.Contains(d.there, name) && !slices.Contains(wall, name) && !slices.Contains(d.dropped, name) {
			wall = append(wall, name)
		}
	}
	d.tools = wall
	slices.Sort(d.allow)
	slices.Sort(d.deny)
	d.allow, d.deny = slices.Compact(d.allow), slices.Compact(d.deny)
}
