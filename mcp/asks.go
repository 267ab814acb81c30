package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/sourcegraph/conc"

	"colony/tools"
)

// Bounds of what a server asks.
const (
	maxFields   = 8
	maxQuestion = 4 << 10
	maxChoices  = 10
)

// Answers to what a server asks.
const (
	accept  = "accept"
	decline = "decline"
)

// field is a field of a form.
type field struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Enum        []any  `json:"enum"`
}

// elicit puts what a server asks to the person of the call under way, one question for each field. Nobody else answers it.
func (n *session) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	no := &sdk.ElicitResult{Action: decline}
	if r.Params.Mode == "url" {
		answer, ok, err := n.ask(ctx, fmt.Sprintf("wants you to open %s yourself, and says: %s", r.Params.URL, r.Params.Message), "yes", "no")
		if err != nil || !ok || answer != "yes" {
			return no, err
		}
		return &sdk.ElicitResult{Action: accept}, nil
	}
	var form struct {
		Properties map[string]field `json:"properties"`
	}
	data, err := json.Marshal(r.Params.RequestedSchema)
	if err == nil {
		err = json.Unmarshal(data, &form)
	}
	if err != nil || len(form.Properties) > maxFields {
		return no, nil
	}
	content := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		f := form.Properties[name]
		words := fmt.Sprintf("asks, in its own words: %s\nIts field %s (%s): %s %s\nAn empty answer declines.", r.Params.Message, name, f.Type, f.Title, f.Description)
		answer, ok, err := n.ask(ctx, words, f.choices()...)
		if err != nil || !ok {
			return no, err
		}
		if content[name], ok = f.value(answer); !ok {
			return no, nil
		}
	}
	if len(content) == 0 {
		answer, ok, err := n.ask(ctx, "asks, in its own words: "+r.Params.Message, "yes", "no")
		if err != nil || !ok || answer != "yes" {
			return no, err
		}
	}
	return &sdk.ElicitResult{Action: accept, Content: content}, nil
}

func (f field) choices() (words []string) {
	if f.Type == "boolean" {
		return []string{"yes", "no"}
	}
	for _, one := range f.Enum[:min(len(f.Enum), maxChoices)] {
		words = append(words, clip(Visible(fmt.Sprint(one)), 200))
	}
	return words
}

// value is an answer as the field wants it.
func (f field) value(answer string) (any, bool) {
	switch f.Type {
	case "boolean":
		return answer == "yes" || answer == "true", slices.Contains([]string{"yes", "no", "true", "false"}, answer)
	case "integer":
		n, err := strconv.ParseInt(answer, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(answer, 64)
		return n, err == nil
	case "array":
		var all []any
		for one := range strings.SplitSeq(answer, ",") {
			all = append(all, strings.TrimSpace(one))
		}
		return all, true
	}
	return answer, true
}

// ask puts a question to the person of the call under way, and says whether there was an answer. The call's time stands still
// meanwhile.
func (n *session) ask(ctx context.Context, words string, choices ...string) (answer string, ok bool, err error) {
	c := n.underWay()
	if c == nil {
		return "", false, nil // it asks on its own account
	}
	defer c.clock.hold()()
	ctx, cancel := context.WithCancel(ctx)
	var watching conc.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		select {
		case <-c.gone: // nobody wants to know any more
			cancel()
		case <-ctx.Done():
		}
	})
	a, err := c.env.Ask(ctx, tools.Question{
		Kind: "question", Choices: choices, Text: clip(fmt.Sprintf("The MCP server %s, called by %s, %s", n.server.Name(), c.env.Ant, Visible(words)), maxQuestion),
	})
	answer = strings.TrimSpace(a.Text)
	return answer, err == nil && !a.Headless && answer != "", err
}
