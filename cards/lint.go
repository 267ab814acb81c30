package cards

import (
	"fmt"
	"slices"
	"strings"

	"colony/strict"
)

// Lint checks the card against the names of all tools there are: each plain entry of tools that is none is
// named with the nearest, byte for byte, so a name in other case, with a blank or with a letter of another
// alphabet is unknown, but for the tools of servers, which LintServers looks at; and a card that cannot end its work because done is not listed, nor plan or review. Patterns with a star
// are not looked up: what they will match may not be there yet.
func Lint(c Card, tools []string) strict.Faults {
	var faults strict.Faults
	for i, name := range c.Tools {
		if strings.Contains(name, "*") || strings.HasPrefix(name, served) || slices.Contains(tools, name) {
			continue
		}
		text := fmt.Sprintf("card %s: unknown tool %s", c.Name, quoted(name))
		if near := strict.Nearest(strings.TrimSpace(name), tools); near != "" {
			text += ": did you mean " + near + "?"
		} else {
			text += ": there are " + strings.Join(tools, ", ")
		}
		faults = append(faults, c.fault(fmt.Sprintf("tools[%d]", i), text))
	}
	if !slices.ContainsFunc(c.Tools, func(name string) bool { return slices.Contains(endings, name) }) {
		faults = append(faults, c.fault("tools", fmt.Sprintf("card %s: tools does not list done, so its ants could never end: add done", c.Name)))
	}
	if lists := slices.Contains(c.Tools, "hatch"); lists != (len(c.Hatch) > 0) {
		text := "card %s: tools lists hatch, and hatch names no card that its ants may hatch: name one, as [scout]"
		if !lists {
			text = "card %s: hatch names cards, and tools does not list hatch: add it"
		}
		faults = append(faults, c.fault("hatch", fmt.Sprintf(text, c.Name)))
	}
	return faults.Sorted()
}

// LintSkills checks the skills that the card names against those there are.
func LintSkills(c Card, skills []string) strict.Faults {
	var faults strict.Faults
	for i, name := range c.Skills {
		if slices.Contains(skills, name) {
			continue
		}
		text := fmt.Sprintf("card %s: unknown skill %s", c.Name, quoted(name))
		switch near := strict.Nearest(name, skills); {
		case near != "":
			text += ": did you mean " + near + "?"
		case len(skills) == 0:
			text += ": there are none; put one at .colony/skills/" + name + "/SKILL.md"
		default:
			text += ": there are " + strings.Join(skills, ", ")
		}
		faults = append(faults, c.fault(fmt.Sprintf("skills[%d]", i), text))
	}
	return faults.Sorted()
}

// served begins the name of a tool that a server brings: mcp__server__tool.
const served = "mcp__"

// LintServers checks the servers that the card names against those there are, in mcp and in the names of tools.
func LintServers(c Card, servers []string) strict.Faults {
	var faults strict.Faults
	unknown := func(at, name string) {
		text := fmt.Sprintf("card %s: unknown MCP server %s", c.Name, quoted(name))
		switch near := strict.Nearest(name, servers); {
		case near != "":
			text += ": did you mean " + near + "?"
		case len(servers) == 0:
			text += ": there are none; colony mcp add brings one"
		default:
			text += ": there are " + strings.Join(servers, ", ")
		}
		faults = append(faults, c.fault(at, text))
	}
	for i, name := range c.MCP.Servers {
		if !slices.Contains(servers, name) {
			unknown(fmt.Sprintf("mcp.servers[%d]", i), name)
		}
	}
	for at, list := range map[string][]string{"tools": c.Tools, "mcp.always": c.MCP.Always} {
		for i, tool := range list {
			rest, ours := strings.CutPrefix(tool, served)
			server, _, _ := strings.Cut(rest, "__")
			here := fmt.Sprintf("%s[%d]", at, i)
			switch {
			case !ours && at == "mcp.always":
				faults = append(faults, c.fault(here, fmt.Sprintf("card %s: %s is no tool of a server: write mcp__server__tool", c.Name, quoted(tool))))
			case ours && !strings.Contains(tool, "*") && !slices.Contains(c.MCP.Servers, server):
				faults = append(faults, c.fault(here, fmt.Sprintf("card %s: %s is of the MCP server %s, which mcp.servers does not name: add it", c.Name, quoted(tool), quoted(server))))
			}
		}
	}
	return faults.Sorted()
}

// LintModels checks the models that the card names: each is one of the names for models, or a model of one of the providers.
func LintModels(c Card, providers, names []string) strict.Faults {
	var faults strict.Faults
	for _, named := range [][2]string{{"model", c.Model}, {"escalate", c.Escalate}} {
		provider, model, both := strings.Cut(named[1], "/")
		text := ""
		switch {
		case named[1] == "" || slices.Contains(names, named[1]):
		case !both || model == "" || provider == "":
			text = fmt.Sprintf("card %s: the model %s names no provider: write provider/model, %s", c.Name, quoted(named[1]), strings.Join(names, ", "))
		case !slices.Contains(providers, provider):
			text = fmt.Sprintf("card %s: unknown provider %s", c.Name, quoted(provider))
			if near := strict.Nearest(provider, providers); near != "" {
				text += ": did you mean " + near + "?"
			} else {
				text += ": there are " + strings.Join(providers, ", ")
			}
		}
		if text != "" {
			faults = append(faults, c.fault(named[0], text))
		}
	}
	return faults.Sorted()
}

// LintHosts checks each host that the card's processes may reach.
func LintHosts(c Card, check func(host string) error) strict.Faults {
	var faults strict.Faults
	for i, host := range c.Sandbox.Net {
		if err := check(host); err != nil {
			faults = append(faults, c.fault(fmt.Sprintf("sandbox.net[%d]", i), fmt.Sprintf("card %s: %v", c.Name, err)))
		}
	}
	return faults
}

// endings are the tools with which an ant ends: a worker, a planner, a reviewer.
var endings = []string{"done", "plan", "review"}

// quoted shows a name so that a look-alike letter is seen.
func quoted(name string) string {
	plain := fmt.Sprintf("%q", name)
	if ascii := fmt.Sprintf("%+q", name); ascii != plain {
		return plain + " (" + ascii + ")"
	}
	return plain
}

// fault is a fault at the path, in the file that gives its value.
func (c Card) fault(path, text string) strict.Fault {
	key, _, _ := strings.Cut(path, "[")
	doc := c.doc
	if at, ok := c.from[key]; ok {
		doc = at.doc
	}
	if doc == nil {
		return strict.Fault{File: c.Source, Text: text}
	}
	return doc.Fault(path, text)
}
