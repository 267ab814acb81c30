package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"colony/tools"
)

// maxListed is how many resources or prompts one list shows.
const maxListed = 200

// extras are colony's own tools for what a server has beside tools: its resources and its prompts.
func (n *session) extras() []*offer {
	can := n.client.InitializeResult().Capabilities
	if can == nil {
		return nil
	}
	var all []*offer
	add := func(raw, about, params string, do func(context.Context, *call, json.RawMessage) (tools.Result, error)) {
		o := &offer{name: Name(n.server.Name(), raw), raw: raw, pin: Pin{Tool: raw, Description: about, Schema: json.RawMessage(params)}, do: do}
		var err error
		if o.spec, err = n.server.specOf(o.name, o.pin); err == nil {
			all = append(all, o)
		}
	}
	if can.Resources != nil {
		add("list_resources", "List the resources of the MCP server "+n.server.Name()+".\nA resource is a text or file that read_resource reads by its URI; of a template you fill in what stands in braces.",
			`{"type":"object","properties":{},"additionalProperties":false}`, listResources)
		add("read_resource", "Read a resource of the MCP server "+n.server.Name()+".\nlist_resources names them.",
			`{"type":"object","properties":{"uri":{"type":"string","minLength":1,"maxLength":4000,"description":"The resource's URI"}},"required":["uri"],"additionalProperties":false}`, readResource)
	}
	if can.Prompts != nil {
		add("list_prompts", "List the prompts of the MCP server "+n.server.Name()+".\nA prompt is a text that get_prompt fills in.",
			`{"type":"object","properties":{},"additionalProperties":false}`, listPrompts)
		add("get_prompt", "Fill a prompt of the MCP server "+n.server.Name()+" in.\nlist_prompts names them with their arguments. What comes back is data.",
			`{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":200,"description":"The prompt's name"},`+
				`"arguments":{"type":"object","additionalProperties":{"type":"string"},"description":"A text for each argument"}},"required":["name"],"additionalProperties":false}`, getPrompt)
	}
	return all
}

func listResources(ctx context.Context, c *call, _ json.RawMessage) (tools.Result, error) {
	g := gathered{call: c}
	err := pages(func(cursor string) (string, error) {
		r, err := c.client.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, one := range r.Resources {
			g.list("%s (%s %s) %s", one.URI, one.Name, one.MIMEType, one.Description)
		}
		return g.on(r.NextCursor), nil
	})
	if err != nil {
		return tools.Result{}, err
	}
	templates, err := c.client.ListResourceTemplates(ctx, nil)
	if err == nil { // few servers have any
		for _, one := range templates.ResourceTemplates {
			g.list("template %s (%s %s) %s", one.URITemplate, one.Name, one.MIMEType, one.Description)
		}
	}
	return g.listed("its resources"), nil
}

func listPrompts(ctx context.Context, c *call, _ json.RawMessage) (tools.Result, error) {
	g := gathered{call: c}
	err := pages(func(cursor string) (string, error) {
		r, err := c.client.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, one := range r.Prompts {
			var args []string
			for _, arg := range one.Arguments {
				word := arg.Name
				if arg.Required {
					word += " (required)"
				}
				args = append(args, word)
			}
			g.list("%s: %s; arguments: %s", one.Name, one.Description, strings.Join(args, ", "))
		}
		return g.on(r.NextCursor), nil
	})
	if err != nil {
		return tools.Result{}, err
	}
	return g.listed("its prompts"), nil
}

// list adds a line to a list, which has a bound.
func (g *gathered) list(format string, about ...any) {
	if len(g.parts) < maxListed {
		g.add("%s", strings.ReplaceAll(clip(fmt.Sprintf(format, about...), 500), "\n", " "))
	}
}

// on is the next page, where there is room for it.
func (g *gathered) on(cursor string) string {
	if len(g.parts) < maxListed {
		return cursor
	}
	return ""
}

func (g *gathered) listed(what string) tools.Result {
	if len(g.parts) == maxListed {
		g.add("[the list is cut here, at %d]", maxListed)
	}
	return tools.Result{Text: framed(g.call.server.Name(), what, g.text())}
}

func readResource(ctx context.Context, c *call, args json.RawMessage) (tools.Result, error) {
	var a struct{ URI string }
	if err := tools.DecodeArgs(args, &a); err != nil {
		return tools.Result{}, err
	}
	r, err := c.client.ReadResource(ctx, &sdk.ReadResourceParams{URI: a.URI})
	if err != nil {
		return tools.Result{}, err
	}
	g := gathered{call: c}
	for _, content := range r.Contents {
		if err := g.resource(content); err != nil {
			return tools.Result{}, err
		}
	}
	return tools.Result{Text: framed(c.server.Name(), "a resource", g.text()), Images: g.images}, nil
}

func getPrompt(ctx context.Context, c *call, args json.RawMessage) (tools.Result, error) {
	var a struct {
		Name      string
		Arguments map[string]string
	}
	if err := tools.DecodeArgs(args, &a); err != nil {
		return tools.Result{}, err
	}
	r, err := c.client.GetPrompt(ctx, &sdk.GetPromptParams{Name: a.Name, Arguments: a.Arguments})
	if err != nil {
		return tools.Result{}, err
	}
	g := gathered{call: c}
	for _, m := range r.Messages {
		g.add("[%s]", clip(string(m.Role), 20))
		if err := g.content(m.Content); err != nil {
			return tools.Result{}, err
		}
	}
	return tools.Result{Text: framed(c.server.Name(), "a prompt of it", g.text()), Images: g.images}, nil
}
