package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const fallbackPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is what every job starts with: names that say where things are and how to speak, no other, so that no
// key reaches a job.
func environment(from []string, home string) []string {
	env := []string{
		fallbackPath, "TERM=dumb", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"PAGER=cat", "GIT_PAGER=cat", "EDITOR=false", "GIT_EDITOR=false",
	}
	env = append(env, toolchains(home)...)
	for _, entry := range from {
		name, _, _ := strings.Cut(entry, "=")
		if passes(name) {
			env = append(env, entry)
		}
	}
	return env
}

// given are the variables that a job has beside its own.
func (s *Sandbox) given(j Job) []string {
	if !j.Bare {
		return s.env
	}
	return slices.DeleteFunc(slices.Clone(s.env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name != "PATH" && name != "LANG" && name != "TERM"
	})
}

func passes(name string) bool {
	switch name {
	case "PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME",
		"GOROOT", "GOPATH", "GOMODCACHE", "GOTOOLCHAIN", "JAVA_HOME", "RUSTUP_HOME", "CARGO_HOME",
		"PYENV_ROOT", "NVM_DIR", "VIRTUAL_ENV":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// toolchains names what toolchains look for in the home directory, since a job's HOME is another.
func toolchains(home string) []string {
	var env []string
	for _, t := range [...]struct{ name, dir string }{
		{"GOMODCACHE", "go/pkg/mod"}, {"RUSTUP_HOME", ".rustup"}, {"CARGO_HOME", ".cargo"},
		{"PYENV_ROOT", ".pyenv"}, {"NVM_DIR", ".nvm"},
	} {
		dir := filepath.Join(home, t.dir)
		if _, err := os.Stat(dir); err == nil {
			env = append(env, t.name+"="+dir)
		}
	}
	return env
}

// merge lists each variable once: of two of one name the later holds.
func merge(lists ...[]string) []string {
	var env []string
	at := map[string]int{}
	for _, entry := range slices.Concat(lists...) {
		name, _, _ := strings.Cut(entry, "=")
		if i, ok := at[name]; ok {
			env[i] = entry
			continue
		}
		at[name] = len(env)
		env = append(env, entry)
	}
	return env
}
