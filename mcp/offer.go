package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"colony/tools"
)

// offer is a tool as its server offers it now. It does not change: what the server says anew is another offer.
type offer struct {
	name string // mcp__server__tool
	raw  string // as the server calls it
	pin  Pin
	spec tools.Spec // as the model sees it: what its user saw, where the server says something else now
	was  *Pin       // what its user saw, where that is something else
	do   func(context.Context, *call, json.RawMessage) (tools.Result, error)
}

// Bounds of what one server offers.
const (
	maxTools       = 10_000
	maxPages       = 200
	maxDescription = 16 << 10
	maxSchema      = 48 << 10
	longestName    = 64 // that every provider takes
)

// Name is a tool's name for models and cards.
func Name(server, tool string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, tool)
	name := "mcp__" + server + "__" + plain
	if len(name) > longestName {
		name = name[:longestName-9] + "_" + Pin{Tool: tool}.hash()[:8]
	}
	return name
}

// ServerOf is the server in the name of a tool; empty where it is none of a server's.
func ServerOf(name string) string {
	rest, ours := strings.CutPrefix(name, "mcp__")
	server, _, both := strings.Cut(rest, "__")
	if !ours || !both {
		return ""
	}
	return server
}

// offers are what a server lists, by name and in its order. What cannot be offered is withheld, and said.
func (s *Server) offers(listed []*sdk.Tool) (map[string]*offer, []string) {
	out, withheld := map[string]*offer{}, []string{}
	doubled := map[string]bool{}
	for _, t := range listed {
		if t == nil {
			continue
		}
		o, err := s.offerOf(t)
		if err != nil {
			withheld = append(withheld, fmt.Sprintf("%s: %v", clip(Visible(fmt.Sprintf("%q", t.Name)), 100), err))
			continue
		}
		if other := out[o.name]; other != nil || doubled[o.name] {
			doubled[o.name] = true
			delete(out, o.name)
			withheld = append(withheld, fmt.Sprintf("%q: it and another would both be %s", clip(Visible(t.Name), 100), o.name))
			continue
		}
		out[o.name] = o
	}
	return out, withheld
}

func (s *Server) offerOf(t *sdk.Tool) (*offer, error) {
	if t.Name == "" || strings.ContainsFunc(t.Name, hidden) || len(t.Name) > 200 {
		return nil, fmt.Errorf("its name is empty, too long or hides something")
	}
	schema, err := schemaOf(t.InputSchema)
	if err != nil {
		return nil, err
	}
	if len(t.Description) > maxDescription {
		return nil, fmt.Errorf("its description has %d bytes, at most %d", len(t.Description), maxDescription)
	}
	o := &offer{name: Name(s.parts.Entry.Name, t.Name), raw: t.Name, pin: Pin{t.Name, t.Description, schema}}
	if o.spec, err = s.specOf(o.name, o.pin); err != nil {
		return nil, err
	}
	o.do = func(ctx context.Context, c *call, args json.RawMessage) (tools.Result, error) {
		return c.tool(ctx, o.raw, args)
	}
	return o, nil
}

// schemaOf is the schema of the arguments as the server gives it, written in one way.
func schemaOf(given any) (json.RawMessage, error) {
	schema, ok := given.(map[string]any)
	if given == nil {
		schema, ok = map[string]any{}, true
	}
	if !ok {
		return nil, fmt.Errorf("its schema is no object")
	}
	if deeper(schema, maxNesting) {
		return nil, fmt.Errorf("its schema is nested deeper than %d", maxNesting)
	}
	if schema["type"] == nil {
		schema["type"] = "object"
	}
	data, err := json.Marshal(schema)
	if err == nil && len(data) > maxSchema {
		err = fmt.Errorf("its schema has %d bytes, at most %d", len(data), maxSchema)
	}
	return data, err
}

// deeper reports whether a value is nested deeper than most.
func deeper(v any, most int) bool {
	if most < 0 {
		return true
	}
	below := func(v any) bool { return deeper(v, most-1) }
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, below)
	case map[string]any:
		for _, one := range v {
			if below(one) {
				return true
			}
		}
	}
	return false
}

// specOf is a tool as the model sees it, by what its user saw. What a server says of its own harmlessness counts for nothing.
func (s *Server) specOf(name string, seen Pin) (tools.Spec, error) {
	grade := s.parts.Entry.Grades[seen.Tool]
	spec := tools.Spec{
		Name: name, Description: cmp.Or(strings.TrimSpace(Visible(seen.Description)), "A tool of the MCP server "+s.parts.Entry.Name+", which says nothing of it."),
		ReadOnly: grade.ReadOnly, Noncredential: grade.Noncredential,
	}
	var schema any
	if err := json.Unmarshal(seen.Schema, &schema); err != nil {
		return tools.Spec{}, err
	}
	var err error
	spec.Params, err = json.Marshal(visibleIn(schema))
	return spec, err
}

// compare sets what the server says against what its user saw: what is new is pinned, what is another is marked.
func (s *Server) compare(offers map[string]*offer) (changed []string, err error) {
	pinned, err := s.parts.Pins.read()
	if err != nil {
		return nil, err
	}
	fresh := map[string]Pin{}
	for name, o := range offers {
		was, known := pinned[name]
		switch {
		case !known:
			fresh[name] = o.pin
		case was.hash() != o.pin.hash():
			o.was = &was
			if o.spec, err = s.specOf(name, was); err != nil {
				return nil, err
			}
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	if len(fresh) == 0 {
		return changed, nil
	}
	return changed, s.parts.Pins.keep(fresh)
}

// stands reports whether the server still says of a tool what it said when it was offered so.
func (s *Server) stands(o *offer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.offered[o.name]
	return now != nil && now.pin.hash() == o.pin.hash()
}
