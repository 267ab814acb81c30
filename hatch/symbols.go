package hatch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"colony/lsp"
)

// symbolsTool is the tool that language servers answer.
const symbolsTool = "symbols"

// nobodySpeaks are the language servers of what is no run: none.
func nobodySpeaks() *lsp.Servers { return lsp.New(lsp.Parts{}) }

// useful is a card's tools as ants are shown them here.
func (h *House) useful(names []string) []string { return answered(names, h.spoken()) }

// answered is a card's tools without symbols where no server is there that reads a file of the repository: an ant is not shown
// what nobody answers.
func answered(names []string, spoken bool) []string {
	if spoken || !slices.Contains(names, symbolsTool) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == symbolsTool })
}

// spoken reports whether a language server is there that reads a file of the repository.
func (h *House) spoken() bool {
	s, err := readSettings(h.Settings)
	if err != nil || h.Root == "" {
		return false
	}
	there, err := s.lsp.there(h.Root)
	return err == nil && len(there) > 0 && anyFile(h.Root, func(name string) bool {
		return slices.ContainsFunc(there, func(one lsp.Server) bool { return one.Reads(name) })
	})
}

// mostEntries bounds the search for a file of a kind.
const mostEntries = 20000

// anyFile reports whether a directory, or one in it, has a file with such a name. Those near the top are looked at first.
func anyFile(root string, wanted func(name string) bool) bool {
	looked := 0
	for dirs := []string{root}; len(dirs) > 0 && looked < mostEntries; dirs = dirs[1:] {
		entries, err := os.ReadDir(dirs[0])
		if err != nil {
			continue
		}
		for _, e := range entries {
			looked++
			switch name := e.Name(); {
			case e.IsDir() && !strings.HasPrefix(name, ".") && name != "node_modules" && name != "vendor":
				dirs = append(dirs, filepath.Join(dirs[0], name))
			case e.Type()&fs.ModeType == 0 && wanted(name):
				return true
			}
		}
	}
	return false
}
