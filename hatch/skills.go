package hatch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"colony/cards"
	"colony/guard"
	"colony/guard/sandbox"
	"colony/guard/trust"
	"colony/strict"
	"colony/tools"
	"colony/tools/builtin"
)

const skillsDir = ".colony/skills"

// Bounds of the files of one skill.
const (
	maxSkillFiles = 200
	maxSkillBytes = 4 << 20
)

// skillOf is a skill of its files, the one that describes it among them. Their names begin with the skill's directory.
func skillOf(source, dir string, files []trust.File) (tools.Skill, strict.Faults) {
	described := path.Join(dir, builtin.SkillFile)
	at := slices.IndexFunc(files, func(f trust.File) bool { return f.Name == described })
	s, faults := builtin.ParseSkill(source, path.Base(dir), files[at].Data)
	s.Files = map[string]string{}
	for i, f := range files {
		if i != at {
			s.Files[strings.TrimPrefix(f.Name, dir+"/")] = string(f.Data)
		}
	}
	return s, faults
}

// readSkills reads the skills below a directory of a tree, each with all its files. A directory without a SKILL.md is none.
func readSkills(root, below string) (map[string][]trust.File, error) {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(below)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list skills: %w", err)
	}
	skills := map[string][]trust.File{}
	for _, e := range entries {
		dir := path.Join(below, e.Name())
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(dir), builtin.SkillFile)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		names, err := skillFiles(root, dir)
		if err != nil {
			return nil, err
		}
		if skills[dir], err = trust.Read(root, names...); err != nil {
			return nil, err
		}
	}
	return skills, nil
}

// skillFiles names the plain files of a skill; links are left out.
func skillFiles(root, dir string) (names []string, err error) {
	var size int64
	err = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > maxSkillBytes || len(names) == maxSkillFiles {
			return &Problem{Exit: 2, Code: "bad_file", Message: fmt.Sprintf("the skill in %s has more than %d files or %d MiB", dir, maxSkillFiles, maxSkillBytes>>20),
				Next: "keep what its text needs, and move the rest elsewhere"}
		}
		rel, err := filepath.Rel(root, at)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	return names, err
}

// isSkill reports whether a project file describes a skill.
func (f ProjectFile) isSkill() bool { return strings.HasPrefix(f.Name, skillsDir+"/") }

// projectSkills are the skills that the repository brings, each as one file: its hash is over all of its files.
func (h *House) projectSkills() ([]ProjectFile, error) {
	skills, err := readSkills(h.Root, skillsDir)
	if out := new(trust.LeadsOutError); errors.As(err, &out) {
		return nil, &Problem{Exit: 5, Code: "untrusted", Message: err.Error(), Next: "put plain files there"}
	}
	if err != nil {
		return nil, err
	}
	var files []ProjectFile
	for _, dir := range slices.Sorted(maps.Keys(skills)) {
		name := path.Join(dir, builtin.SkillFile)
		files = append(files, ProjectFile{Path: filepath.Join(h.Root, filepath.FromSlash(name)), Name: name, SHA256: trust.Hash(skills[dir]...), parts: skills[dir]})
	}
	return files, nil
}

// skillBrings says what using a skill of the repository would run, and what it approves.
func skillBrings(f ProjectFile) ([]string, error) {
	s, faults := skillOf(f.Path, path.Dir(f.Name), f.parts)
	if len(faults) > 0 {
		return nil, faults
	}
	runs := []string{"skill " + s.Name + ": " + s.Description}
	for _, line := range builtin.SkillCommands(s.Body) {
		runs = append(runs, "when it is used: "+line)
	}
	for _, rule := range s.Allowed {
		runs = append(runs, "without a question, when it is used: "+rule)
	}
	return runs, nil
}

// learn reads the user's skills and those of the repository that are trusted, which win over the user's of the same name.
func (h *House) learn(trusted []ProjectFile) error {
	h.skills = map[string]tools.Skill{}
	own, err := readSkills(h.Config, "skills")
	if err != nil {
		return err
	}
	var faults strict.Faults
	add := func(source, dir string, files []trust.File) {
		s, wrong := skillOf(source, dir, files)
		faults = append(faults, wrong...)
		h.skills[s.Name] = s
	}
	for _, dir := range slices.Sorted(maps.Keys(own)) {
		add(filepath.Join(h.Config, filepath.FromSlash(dir), builtin.SkillFile), dir, own[dir])
	}
	for _, f := range trusted {
		if f.isSkill() {
			add(f.Path, path.Dir(f.Name), f.parts)
		}
	}
	return faults.Err()
}

// skillsOf are the skills of a card, by name.
func (h *House) skillsOf(card cards.Card) (list []tools.Skill) {
	for _, name := range slices.Sorted(slices.Values(card.Skills)) {
		if s, ok := h.skills[name]; ok {
			list = append(list, s)
		}
	}
	return list
}

// prompt is a card's prompt, with the names of its skills and what each is for.
func (h *House) prompt(card cards.Card) string {
	skills := h.skillsOf(card)
	if len(skills) == 0 {
		return card.Prompt
	}
	var out strings.Builder
	out.WriteString(strings.TrimSpace(card.Prompt) + "\n\n# Skills\n\nCall up with the skill tool what fits your work, before you begin it:\n")
	for _, s := range skills {
		fmt.Fprintf(&out, "- %s: %s\n", s.Name, s.Description)
	}
	return out.String()
}

// preapproved are the rules that the use of each skill of a card brings. Rules about tools that are not there say nothing.
func (h *House) preapproved(card cards.Card) map[string][]guard.Rule {
	all := map[string][]guard.Rule{}
	for _, s := range h.skillsOf(card) {
		for _, text := range s.Allowed {
			if r, err := guard.ParseRule(text, h.ToolNames()); err == nil {
				all[s.Name] = append(all[s.Name], r)
			}
		}
	}
	return all
}

// equip gives the ant its card's skills, with their files where its commands find them.
func (l *life) equip(scratch string) error {
	l.env.Skills = l.parts.skillsOf(l.card)
	for i, s := range l.env.Skills {
		if len(s.Files) == 0 {
			continue
		}
		dir := filepath.Join(scratch, "skills", s.Name)
		for name, content := range s.Files {
			at := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				return fmt.Errorf("place skill %s: %w", s.Name, err)
			}
			if err := os.WriteFile(at, []byte(content), 0o700); err != nil {
				return fmt.Errorf("place skill %s: %w", s.Name, err)
			}
		}
		l.env.Skills[i].At = dir
		if l.Colony.box.Level() != sandbox.Off {
			l.env.Skills[i].At = "/tmp/skills/" + s.Name
		}
	}
	return nil
}
