package mcp

//lint:file-ignore SA1019 Servers of today ask for roots and for sampling, which later versions of the protocol do without.

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// older says that a server may ask for its root and for sampling, where it may.
func (n *session) older(o *sdk.ClientOptions) {
	if n.server.parts.Root != "" {
		o.Capabilities.RootsV2 = &sdk.RootCapabilities{}
	}
	if n.server.parts.Asks {
		o.CreateMessageHandler = n.sample
	}
}

// showRoot tells the server of its one directory.
func (n *session) showRoot(client *sdk.Client) {
	if root := n.server.parts.Root; root != "" {
		client.AddRoots(&sdk.Root{URI: fileURI(root), Name: "worktree"})
	}
}

// fileURI is a directory as a root.
func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// sample puts what a server would have a model say to the person of the call under way, whose words are the answer.
func (n *session) sample(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "wants a model to answer this. Your words are what it gets; an empty answer declines.\n%s\n", r.Params.SystemPrompt)
	for _, m := range r.Params.Messages {
		text := "(no text)"
		if t, ok := m.Content.(*sdk.TextContent); ok {
			text = t.Text
		}
		fmt.Fprintf(&b, "%s: %s\n", m.Role, text)
	}
	answer, ok, err := n.ask(ctx, b.String())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("the user declined")
	}
	return &sdk.CreateMessageResult{Model: "a person", Role: "assistant", Content: &sdk.TextContent{Text: answer}, StopReason: "endTurn"}, nil
}
