package lsp

import (
	"path/filepath"
	"slices"
	"strings"
)

// Server is a language server that colony knows.
type Server struct {
	Name     string
	Argv     []string
	Files    map[string]string // the language of files, by the end of their names or their whole names
	Watch    []string          // names of files that it reads beside those
	Init     any               // options that it is started with
	Settings map[string]any    // by section
	Tells    bool              // it speaks unasked of all files that an edit breaks, also where it is asked for one
	Install  string            // how a person gets it
}

// Known are the servers that colony knows. Of two for one kind of files the earlier is asked first.
func Known() []Server {
	return []Server{
		{Name: "gopls", Tells: true, Argv: []string{"gopls"}, Files: map[string]string{".go": "go", "go.mod": "go.mod", "go.work": "go.work"}, Watch: []string{"go.mod", "go.sum", "go.work"},
			Init:    map[string]any{"verboseWorkDoneProgress": true, "diagnosticsDelay": "0s", "pullDiagnostics": true, "analysisProgressReporting": false, "vulncheck": "Off"},
			Install: "go install golang.org/x/tools/gopls@latest"},
		{Name: "tsc", Argv: []string{"tsc", "--lsp", "--stdio"}, Files: typescript(), Watch: []string{"tsconfig.json", "package.json"}, Install: "npm install -g typescript (7 or later)"},
		{Name: "typescript-language-server", Argv: []string{"typescript-language-server", "--stdio"}, Files: typescript(), Watch: []string{"tsconfig.json", "package.json"},
			Install: "npm install -g typescript typescript-language-server"},
		{Name: "pyright", Argv: []string{"pyright-langserver", "--stdio"}, Files: python(), Watch: []string{"pyproject.toml", "pyrightconfig.json"}, Settings: pythonSettings(), Install: "npm install -g pyright"},
		{Name: "basedpyright", Argv: []string{"basedpyright-langserver", "--stdio"}, Files: python(), Watch: []string{"pyproject.toml", "pyrightconfig.json"}, Settings: pythonSettings(), Install: "pip install basedpyright"},
		{Name: "clangd", Argv: []string{"clangd"}, Files: map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp"},
			Watch: []string{"compile_commands.json", "compile_flags.txt"}, Install: "the package clangd of your system"},
		{Name: "rust-analyzer", Argv: []string{"rust-analyzer"}, Files: map[string]string{".rs": "rust"}, Watch: []string{"Cargo.toml"},
			Init: map[string]any{"checkOnSave": false}, Install: "rustup component add rust-analyzer"},
		{Name: "yaml-language-server", Argv: []string{"yaml-language-server", "--stdio"}, Files: map[string]string{".yaml": "yaml", ".yml": "yaml"},
			Settings: map[string]any{"yaml": map[string]any{"schemaStore": map[string]any{"enable": false}}}, Install: "npm install -g yaml-language-server"},
		{Name: "bash-language-server", Argv: []string{"bash-language-server", "start"}, Files: map[string]string{".sh": "shellscript", ".bash": "shellscript"}, Install: "npm install -g bash-language-server"},
		{Name: "vscode-json-language-server", Argv: []string{"vscode-json-language-server", "--stdio"}, Files: map[string]string{".json": "json", ".jsonc": "jsonc"},
			Init: map[string]any{"provideFormatter": false}, Install: "npm install -g vscode-langservers-extracted"},
	}
}

func typescript() map[string]string {
	return map[string]string{".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
		".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact"}
}

func python() map[string]string { return map[string]string{".py": "python", ".pyi": "python"} }

func pythonSettings() map[string]any {
	analysis := map[string]any{"autoSearchPaths": true, "useLibraryCodeForTypes": true, "diagnosticMode": "openFilesOnly"}
	return map[string]any{"python": map[string]any{"analysis": analysis}, "basedpyright": map[string]any{"analysis": analysis}}
}

// language is what the server calls the language of a file; false where it is none of its files.
func (s Server) language(path string) (string, bool) {
	base := filepath.Base(path)
	if id, ok := s.Files[base]; ok {
		return id, true
	}
	id, ok := s.Files[strings.ToLower(filepath.Ext(base))]
	return id, ok
}

// Reads reports whether a file is one of the server's.
func (s Server) Reads(path string) bool { _, ok := s.language(path); return ok }

// watches reports whether the server reads a file that it was not given.
func (s Server) watches(path string) bool {
	_, ok := s.language(path)
	return ok || slices.Contains(s.Watch, filepath.Base(path))
}

// setting is what the server hears that asks for a section, as python.analysis; all where it names none. It hears what it was
// started with where nothing else is known.
func (s Server) setting(section string) any {
	if section == "" {
		return s.Settings
	}
	if section == s.Name && s.Settings == nil {
		return s.Init
	}
	var at any = s.Settings
	for name := range strings.SplitSeq(section, ".") {
		in, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = in[name]
	}
	return at
}
