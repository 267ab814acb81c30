package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// list learns what the server offers now, and sets it against what its user saw.
func (s *Server) list(ctx context.Context, n *session) error {
	listed, err := n.listTools(ctx)
	if err != nil {
		return fmt.Errorf("list tools: %w", err)
	}
	offers, withheld := s.offers(listed)
	changed, err := s.compare(offers)
	if err != nil {
		return err
	}
	for _, extra := range n.extras() {
		if _, taken := offers[extra.name]; taken {
			withheld = append(withheld, "colony's own "+extra.name+": the server has one of that name")
			continue
		}
		offers[extra.name] = extra
	}
	s.mu.Lock()
	for name, o := range offers {
		if was := s.offered[name]; was != nil && was.pin.hash() == o.pin.hash() && (was.was == nil) == (o.was == nil) {
			offers[name] = was // who has it need not take another
		}
	}
	s.offered = offers
	s.mu.Unlock()
	if len(withheld) > 0 {
		s.tell(Withheld, fmt.Sprintf("has tools that are withheld: %s", sum(withheld)), "its maker mends them; the others are there")
	}
	if len(changed) > 0 {
		s.tell(Changed, "says something else of its tools than when you last saw them: "+sum(changed)+". Their calls are asked about",
			"colony mcp test "+s.parts.Entry.Name+" shows the difference, and with --accept takes it")
	}
	return nil
}

// mostNamed is how many tools one note names.
const mostNamed = 5

// sum is a list in one line.
func sum(all []string) string {
	more := ""
	if len(all) > mostNamed {
		more = fmt.Sprintf(" and %d more", len(all)-mostNamed)
		all = all[:mostNamed]
	}
	return strings.Join(all, "; ") + more
}

func (n *session) listTools(ctx context.Context) (all []*sdk.Tool, err error) {
	if can := n.client.InitializeResult().Capabilities; can == nil || can.Tools == nil {
		return nil, nil
	}
	err = pages(func(cursor string) (string, error) {
		r, err := n.client.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		if all = append(all, r.Tools...); len(all) > maxTools {
			return "", fmt.Errorf("there are more than %d", maxTools)
		}
		return r.NextCursor, nil
	})
	return all, err
}

// pages asks for page after page, and no page twice.
func pages(page func(cursor string) (next string, err error)) error {
	seen := map[string]bool{}
	for cursor := ""; ; {
		if seen[cursor] || len(seen) == maxPages {
			return fmt.Errorf("its pages do not end")
		}
		seen[cursor] = true
		next, err := page(cursor)
		if err != nil || next == "" {
			return err
		}
		cursor = next
	}
}
