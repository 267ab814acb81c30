package hatch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"colony/cards"
	"colony/configs"
	"colony/guard/trust"
	"colony/plan"
)

// ProjectFile is a file by which a repository tells colony what to do. Nothing in it is used before its user trusts
// exactly this content.
type ProjectFile struct {
	Path    string   `json:"path"` // absolute
	Name    string   `json:"name"` // in the repository
	SHA256  string   `json:"sha256"`
	Data    []byte   `json:"-"`
	Runs    []string `json:"runs"`    // the commands it names, and what else it brings
	Trusted bool     `json:"trusted"` // its user said yes to this content, or it names nothing that needs one

	parts []trust.File // of a skill, all its files
}

func (f ProjectFile) isConfig() bool { return f.Name == ".colony/config.yaml" }

// Files are the project files of the repository: what each would run, as they are now, and whether it may.
func (h *House) Files(environ []string) ([]ProjectFile, error) {
	files, err := h.projectFiles()
	if err != nil {
		return nil, err
	}
	given, err := h.given(files, environ, nil)
	if err != nil {
		return nil, err
	}
	_, waiting, err := h.sift(files, given)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		if files[i].Runs, err = brings(f); err != nil {
			return nil, err
		}
		files[i].Trusted = !slices.ContainsFunc(waiting, func(w ProjectFile) bool { return w.Name == f.Name })
	}
	return files, nil
}

// Trust records that the user trusts these files as they are.
func (h *House) Trust(files []ProjectFile) error {
	store, err := trust.Open(h.Config)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := store.Trust(f.Path, f.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// projectFiles reads .colony/config.yaml, .mcp.json, .colony/cards/*.yaml, the skills and the tools of the checkout.
func (h *House) projectFiles() ([]ProjectFile, error) {
	if h.Root == "" {
		return nil, nil
	}
	names := []string{".colony/config.yaml", serversFile}
	entries, err := os.ReadDir(filepath.Join(h.Root, ".colony", "cards"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list cards: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".yaml") {
			names = append(names, path.Join(".colony/cards", e.Name()))
		}
	}
	var files []ProjectFile
	for _, name := range names {
		read, err := trust.Read(h.Root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, &Problem{Exit: 5, Code: "untrusted", Message: err.Error(), Next: "put a plain file there"}
		}
		files = append(files, ProjectFile{Path: filepath.Join(h.Root, filepath.FromSlash(name)), Name: name, SHA256: trust.Hash(read...), Data: read[0].Data})
	}
	skills, err := h.projectSkills()
	if err != nil {
		return nil, err
	}
	own, err := h.projectTools()
	return append(append(files, skills...), own...), err
}

// sift parts the files that may be used from those that wait for trust. Settings that name no command need none.
func (h *House) sift(files []ProjectFile, given []trust.Digest) (used, waiting []ProjectFile, err error) {
	if len(files) == 0 {
		return nil, nil, nil
	}
	store, err := trust.Open(h.Config)
	if err != nil {
		return nil, nil, err
	}
	whole := slices.Contains(given, digestOf(files))
	for _, f := range files {
		if whole || slices.Contains(given, digestOf([]ProjectFile{f})) || store.Trusted(f.Path, f.SHA256) {
			used = append(used, f)
			continue
		}
		if f.Runs, err = brings(f); err != nil {
			return nil, nil, err
		}
		if len(f.Runs) == 0 {
			used = append(used, f)
			continue
		}
		waiting = append(waiting, f)
	}
	return used, waiting, nil
}

// brings says what a project file would run or add.
func brings(f ProjectFile) ([]string, error) {
	switch {
	case f.isSkill():
		return skillBrings(f)
	case f.isTool():
		return toolBrings(f)
	case f.isServers():
		return serverBrings(f)
	case !f.isConfig():
		card, faults := cards.Parse(f.Path, f.Data)
		if len(faults) > 0 {
			return nil, faults
		}
		runs := append([]string{"card " + card.Name}, card.Gates...)
		if card.Extends != "" {
			runs[0] += ", which extends " + card.Extends
		}
		for _, rule := range card.Permissions.Allow {
			runs = append(runs, "without a question: "+rule)
		}
		return runs, nil
	}
	settings, err := configs.Load(configs.Parts{Project: configs.File{Path: f.Path, Data: f.Data}})
	if err != nil {
		return nil, err
	}
	var run struct {
		Gates []plan.Gate `yaml:"gates"`
		Setup []string    `yaml:"setup"`
	}
	if err := section(settings, "run", &run); err != nil {
		return nil, err
	}
	var hook hookSettings
	if err := section(settings, "hooks", &hook); err != nil {
		return nil, err
	}
	runs := append([]string{}, run.Setup...)
	for _, moment := range moments {
		for _, h := range hook.at(moment) {
			runs = append(runs, moment+" hook: "+h.Run)
		}
	}
	for _, g := range run.Gates {
		runs = append(runs, g.Run)
	}
	servers, err := lspBrings(settings)
	return append(runs, servers...), err
}

// trustedOrProblem is the problem of starting a run while project files wait for trust.
func (h *House) trustedOrProblem() error {
	if len(h.Untrusted) == 0 {
		return nil
	}
	var names []string
	for _, f := range h.Untrusted {
		names = append(names, f.Name)
	}
	return &Problem{
		Exit: 5, Code: "untrusted",
		Message: fmt.Sprintf("%s names commands, cards, skills or tools that you have not trusted as they are now", strings.Join(names, ", ")),
		Next:    "colony trust --print shows what would run, and its digest; colony trust allows it, run --trust DIGEST allows it once",
	}
}
