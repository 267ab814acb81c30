package hatch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"colony/guard/trust"
	"colony/lsp"
	"colony/queen"
	"colony/strict"
	"colony/tools"
	"colony/tools/builtin"
)

const toolsDir = ".colony/tools"

// ownTool is a tool that the user or the repository brings.
type ownTool struct {
	source string // its file
	data   []byte
}

// parse reads the tool. limit is how long a call may take where its file does not say.
func (o ownTool) parse(limit time.Duration) (builtin.Own, strict.Faults) {
	return builtin.ParseOwn(o.source, strings.TrimSuffix(filepath.Base(o.source), ".yaml"), o.data, limit)
}

// readTools reads the tool files of a directory of a tree, in the order of their names.
func readTools(root, below string) ([]trust.File, error) {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(below)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".yaml") {
			names = append(names, path.Join(below, e.Name()))
		}
	}
	return trust.Read(root, names...)
}

// isTool reports whether a project file describes a tool.
func (f ProjectFile) isTool() bool { return strings.HasPrefix(f.Name, toolsDir+"/") }

// projectTools are the tools that the repository brings.
func (h *House) projectTools() ([]ProjectFile, error) {
	read, err := readTools(h.Root, toolsDir)
	if out := new(trust.LeadsOutError); errors.As(err, &out) {
		return nil, &Problem{Exit: 5, Code: "untrusted", Message: err.Error(), Next: "put plain files there"}
	}
	var files []ProjectFile
	for _, f := range read {
		files = append(files, ProjectFile{Path: filepath.Join(h.Root, filepath.FromSlash(f.Name)), Name: f.Name, SHA256: trust.Hash(f), Data: f.Data})
	}
	return files, err
}

// toolBrings says what a tool of the repository would run.
func toolBrings(f ProjectFile) ([]string, error) {
	t, faults := ownTool{f.Path, f.Data}.parse(0)
	if len(faults) > 0 {
		return nil, faults
	}
	what := "tool " + t.Name
	if t.Replace {
		what += ", in the place of one of that name"
	}
	return []string{what + ": " + t.Command}, nil
}

// gather reads the user's tools, and then those of the repository that are trusted.
func (h *House) gather(trusted []ProjectFile) error {
	own, err := readTools(h.Config, "tools")
	if err != nil {
		return err
	}
	for _, f := range own {
		h.own = append(h.own, ownTool{filepath.Join(h.Config, filepath.FromSlash(f.Name)), f.Data})
	}
	for _, f := range trusted {
		if f.isTool() {
			h.own = append(h.own, ownTool{f.Path, f.Data})
		}
	}
	var all strict.Faults
	for _, o := range h.own {
		t, faults := o.parse(0)
		if all = append(all, faults...); len(faults) == 0 && !t.Replace && slices.Contains(ToolNames(), t.Name) {
			all = append(all, strict.Fault{File: o.source, Text: fmt.Sprintf("%s is a tool that comes with colony: set replace: true, or rename it", t.Name)})
		}
	}
	return all.Err()
}

// ToolNames are the names of all tools that a card may list here.
func (h *House) ToolNames() []string {
	names := ToolNames()
	for _, o := range h.own {
		if t, _ := o.parse(0); !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// allTools is the registry from which every ant's is carved: what comes with colony, the user's tools, the repository's.
func (h *House) allTools(warn io.Writer, shLimit time.Duration, check queen.PlanCheck, help queen.Help, servers *lsp.Servers) (*tools.Registry, error) {
	r := tools.NewRegistry(warn)
	for _, t := range ownTools(shLimit, check, help, servers) {
		if err := r.Register(tools.BuiltIn, t); err != nil {
			return nil, err
		}
	}
	for _, o := range h.own {
		t, faults := o.parse(shLimit)
		if len(faults) > 0 {
			return nil, faults
		}
		if t.Replace {
			r.AllowReplace(o.source)
		}
		if err := r.Register(o.source, t); err != nil {
			return nil, &Problem{Exit: 2, Code: "bad_file", Message: err.Error(), Next: "mend " + o.source}
		}
	}
	return r, nil
}

// ownTools are the tools that come with colony.
func ownTools(shLimit time.Duration, check queen.PlanCheck, help queen.Help, servers *lsp.Servers) []tools.Tool {
	return append(builtin.All(shLimit), lsp.SymbolsTool(servers), tools.SearchTool(), tools.ListTool(), tools.AskTool(), queen.DoneTool(), queen.ReviewTool(), queen.PlanTool(check), queen.HatchTool(help))
}

// ToolNames are the names of the tools that come with colony.
func ToolNames() []string {
	var names []string
	for _, t := range ownTools(0, nobodyPlans, nobodyHelps, nobodySpeaks()) {
		names = append(names, t.Spec().Name)
	}
	return names
}
