package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed tool_search.md
var searchText string

// searchTool finds deferred tools in the env's own registry.
type searchTool struct{ Base }

// Bounds of one search.
const (
	defaultFound = 5
	maxFound     = 20
	maxWaiting   = 2000 // bytes of what there is to find
)

// SearchTool is tool_search: it finds deferred tools by words or exact names, and has them loaded.
func SearchTool() Tool { return searchTool{} }

// Spec advertises the tool.
func (searchTool) Spec() Spec {
	return Spec{
		Name: SearchName, Description: strings.TrimSpace(searchText), ReadOnly: true, Noncredential: true, ResultCap: 4 * maxSpec,
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","minLength":1,"description":"Words for what the tool should do, or select:name_a,name_b for exact names"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":20,"description":"How many tools to load at most; 5 when left out"}},` +
			`"required":["query"],"additionalProperties":false}`),
	}
}

// IsConcurrencySafe is true: a search only reads the registry.
func (searchTool) IsConcurrencySafe(json.RawMessage) bool { return true }

// Effects are none.
func (searchTool) Effects(_ *Env, args json.RawMessage) (Effects, error) {
	_, _, err := parseSearch(args)
	return Effects{Known: true, ReadOnly: true}, err
}

// Run answers with the schemas of what it found, and names it as loaded.
func (searchTool) Run(_ context.Context, env *Env, args json.RawMessage) (Result, error) {
	query, limit, err := parseSearch(args)
	if err != nil {
		return Result{}, err
	}
	if names, exact := strings.CutPrefix(query, "select:"); exact {
		return selectTools(env.Tools, strings.Split(names, ",")), nil
	}
	found := rank(env.Tools.waiting(), query)
	if len(found) == 0 {
		return Refuse(Missing, fmt.Sprintf("no deferred tool matches %q. %s", query, waiting(env.Tools))), nil
	}
	left := len(found) - min(limit, len(found))
	r := opened(found[:len(found)-left])
	if left > 0 {
		r.Text += fmt.Sprintf("\n%d more match: narrow the query or raise limit.", left)
	}
	return r, nil
}

func parseSearch(args json.RawMessage) (query string, limit int, err error) {
	var a struct {
		Query string
		Limit int
	}
	if err := DecodeArgs(args, &a); err != nil {
		return "", 0, err
	}
	a.Query = strings.TrimSpace(a.Query)
	if names, exact := strings.CutPrefix(a.Query, "select:"); a.Query == "" || exact && strings.Trim(names, ", ") == "" {
		return "", 0, &ArgError{Field: "query", Reason: "it is empty", Hint: "say what the tool should do, or select:name"}
	}
	if a.Limit <= 0 {
		a.Limit = defaultFound
	}
	return a.Query, min(a.Limit, maxFound), nil
}

// selectTools opens exactly the named tools, and says of each other name why not.
func selectTools(from *Registry, names []string) Result {
	var found []Spec
	var notes []string
	deferred := from.Deferred()
	for _, name := range names {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(deferred, func(s Spec) bool { return s.Name == name })
		switch _, callable := from.Lookup(name); {
		case at >= 0 && !named(found, name) && len(found) == maxFound:
			notes = append(notes, fmt.Sprintf("%s was not loaded: at most %d are at once.", name, maxFound))
		case at >= 0 && !named(found, name):
			found = append(found, deferred[at])
		case callable:
			notes = append(notes, name+" is loaded already: call it.")
		case at < 0 && name != "":
			notes = append(notes, fmt.Sprintf("%q: no such tool%s.", name, from.suggest(name)))
		}
	}
	if len(found) == 0 {
		text := strings.Join(notes, "\n")
		return Refuse(Missing, text+"\n"+waiting(from))
	}
	r := opened(found)
	r.Text = strings.Join(append([]string{r.Text}, notes...), "\n")
	return r
}

// opened is the result that shows the tools' schemas and has them loaded.
func opened(found []Spec) Result {
	var b strings.Builder
	var names []string
	for _, s := range found {
		names = append(names, s.Name)
		fmt.Fprintf(&b, "%s\n\n", schemaText(s))
	}
	return Result{Text: b.String() + "Loaded: " + strings.Join(names, ", ") + ". You can call them from your next reply on.", Loaded: names}
}

// schemaText is a tool as the model reads it in a result.
func schemaText(s Spec) string {
	return fmt.Sprintf("## %s\n%s\nParameters: %s", s.Name, s.Description, s.Params)
}

func waiting(from *Registry) string {
	names := from.Announce(maxWaiting)
	if names == "" {
		return "Every tool you may use is loaded already."
	}
	return "Deferred tools: " + names
}
