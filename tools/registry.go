package tools

import "strings"

// Registry is the tools one ant may see.
type Registry struct{}

// FileState is what an ant has read and written.
type FileState struct{}

// Jobs are an ant's background commands.
type Jobs struct{}

// PathLocks keep two calls from changing one file at once.
type PathLocks struct{}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
