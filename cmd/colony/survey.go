package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// surveyed is what init found in a repository.
type surveyed struct{ gates, instructions, agents []string }

func survey(root string) surveyed {
	var s surveyed
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil
	}
	if has("go.mod") {
		s.gates = append(s.gates, "go build ./...", "go vet ./...", "go test ./...")
	}
	if hasScript(root, "test") {
		s.gates = append(s.gates, "npm test")
	}
	if has("Cargo.toml") {
		s.gates = append(s.gates, "cargo test --offline")
	}
	if has("pytest.ini") || has("pyproject.toml") && has("tests") {
		s.gates = append(s.gates, "python -m pytest -q")
	}
	if len(s.gates) == 0 && hasTarget(root, "test") {
		s.gates = append(s.gates, "make test")
	}
	for _, name := range []string{"AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"} {
		if has(name) {
			s.instructions = append(s.instructions, name)
			break
		}
	}
	for _, pattern := range []string{".claude/agents/*.md", ".gemini/agents/*.md", ".codex/agents/*.toml"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range found {
			if name, err := filepath.Rel(root, f); err == nil {
				s.agents = append(s.agents, name)
			}
		}
	}
	return s
}

func hasScript(root, name string) bool {
	data, err := os.ReadFile(filepath.Join(root, "package.json"))
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	return err == nil && json.Unmarshal(data, &pkg) == nil && pkg.Scripts[name] != ""
}

func hasTarget(root, name string) bool {
	data, err := os.ReadFile(filepath.Join(root, "Makefile"))
	return err == nil && regexp.MustCompile(`(?m)^`+name+`:`).Match(data)
}

// config is the settings file that init writes.
func (s surveyed) config() string {
	var b strings.Builder
	b.WriteString("# Settings of this repository for colony; all keys: colony config list.\n" +
		"# Whoever uses colony here has to trust this file first, as it is: colony trust.\n\nrun:\n" +
		"  # Commands that every landing must pass, run on the combined tree.\n")
	if len(s.gates) == 0 {
		b.WriteString("  gates: []\n")
		return b.String()
	}
	b.WriteString("  gates:\n")
	for _, g := range s.gates {
		b.WriteString("    - " + g + "\n")
	}
	return b.String()
}
