package lsp

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// abilities are what a server said that it can do.
type abilities struct {
	enc     protocol.PositionEncodingKind
	pull    bool
	pullID  string
	folders bool // more worktrees can be opened
	save    bool
	can     map[string]bool // by the name of the provider
}

// initialize is the first request. Its capabilities are the protocol's; what servers disagree about is left out.
type initialize struct {
	ProcessID    *int32                     `json:"processId"`
	RootURI      uri.URI                    `json:"rootUri"`
	Folders      []protocol.WorkspaceFolder `json:"workspaceFolders"`
	Capabilities json.RawMessage            `json:"capabilities"`
	Options      any                        `json:"initializationOptions,omitempty"`
	ClientInfo   map[string]string          `json:"clientInfo"`
}

// capabilities are those of this client.
func capabilities() (json.RawMessage, error) {
	yes := true
	return protocol.Marshal(&protocol.ClientCapabilities{
		General: &protocol.GeneralClientCapabilities{PositionEncodings: []protocol.PositionEncodingKind{
			protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16, protocol.PositionEncodingKindUTF32,
		}},
		Window: &protocol.WindowClientCapabilities{WorkDoneProgress: &yes},
		Workspace: &protocol.WorkspaceClientCapabilities{
			WorkspaceFolders: &yes, Configuration: &yes,
			DidChangeWatchedFiles: &protocol.DidChangeWatchedFilesClientCapabilities{DynamicRegistration: &yes},
			WorkspaceEdit:         &protocol.WorkspaceEditClientCapabilities{DocumentChanges: &yes},
		},
		TextDocument: &protocol.TextDocumentClientCapabilities{
			Synchronization:    &protocol.TextDocumentSyncClientCapabilities{DidSave: &yes},
			PublishDiagnostics: &protocol.PublishDiagnosticsClientCapabilities{VersionSupport: &yes},
			Diagnostic:         &protocol.DiagnosticClientCapabilities{DynamicRegistration: &yes},
			DocumentSymbol:     &protocol.DocumentSymbolClientCapabilities{HierarchicalDocumentSymbolSupport: &yes},
			Hover:              &protocol.HoverClientCapabilities{ContentFormat: []protocol.MarkupKind{protocol.MarkupKindPlainText, protocol.MarkupKindMarkdown}},
			CallHierarchy:      &protocol.CallHierarchyClientCapabilities{},
			References:         &protocol.ReferenceClientCapabilities{},
			Definition:         &protocol.DefinitionClientCapabilities{},
			Rename:             &protocol.RenameClientCapabilities{},
		},
	})
}

// initialize makes the server ready for its first worktree.
func (s *server) initialize(ctx context.Context, dir string) error {
	capable, err := capabilities()
	if err != nil {
		return err
	}
	r := newRoot(s, dir)
	s.mu.Lock()
	s.roots[dir] = r
	s.mu.Unlock()
	var said struct {
		Capabilities map[string]json.RawMessage
	}
	err = s.ask(ctx, protocol.MethodInitialize, initialize{
		RootURI: uriOf(dir), Folders: []protocol.WorkspaceFolder{r.folder()}, Capabilities: capable, Options: s.kind.def.Init,
		ClientInfo: map[string]string{"name": "colony"},
	}, &said)
	if err != nil {
		return err
	}
	s.can = able(said.Capabilities)
	if err := s.notify(ctx, protocol.MethodInitialized, &protocol.InitializedParams{}); err != nil {
		return err
	}
	if s.kind.def.Settings == nil {
		return nil
	}
	return s.notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": s.kind.def.Settings})
}

// able reads capabilities, of which each server writes some in its own way.
func able(said map[string]json.RawMessage) abilities {
	a := abilities{enc: protocol.PositionEncodingKindUTF16, can: map[string]bool{}}
	var enc protocol.PositionEncodingKind
	if json.Unmarshal(said["positionEncoding"], &enc) == nil && enc != "" {
		a.enc = enc
	}
	for name, raw := range said {
		a.can[name] = len(raw) > 0 && string(raw) != "null" && string(raw) != "false"
	}
	var diagnostic struct{ Identifier string }
	if a.pull = a.can["diagnosticProvider"]; a.pull && json.Unmarshal(said["diagnosticProvider"], &diagnostic) == nil {
		a.pullID = diagnostic.Identifier
	}
	var workspace struct {
		WorkspaceFolders struct {
			Supported           bool
			ChangeNotifications any
		}
	}
	if json.Unmarshal(said["workspace"], &workspace) == nil {
		notes := workspace.WorkspaceFolders.ChangeNotifications
		a.folders = workspace.WorkspaceFolders.Supported && notes != nil && notes != false
	}
	var sync struct{ Save any }
	if json.Unmarshal(said["textDocumentSync"], &sync) == nil {
		a.save = sync.Save != nil && sync.Save != false
	}
	return a
}
