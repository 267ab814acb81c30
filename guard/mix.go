package guard

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"colony/tools"
)

// Witness keeps in mind what an ant has read by a call that ended: whether it was private, whether it came from outside, and
// whether it is a skill. The Gate does so by itself; it is for an ant whose past is read from the log.
func (p *Policy) Witness(env *tools.Env, tool string, e tools.Effects, seen []tools.Seen) {
	p.session.mu.Lock()
	defer p.session.mu.Unlock()
	past := p.session.of(env.Ant)
	add := func(source string) {
		past.sources = slices.DeleteFunc(past.sources, func(s string) bool { return s == source })
		past.sources = append(past.sources, source)
		past.sources = past.sources[max(0, len(past.sources)-maxSources):]
	}
	if tool == skillTool && len(e.Subjects) > 0 && !slices.Contains(past.skills, e.Subjects[0]) {
		past.skills = append(past.skills, e.Subjects[0])
	}
	foreign := e.Hosts
	if strings.HasPrefix(tool, "mcp__") {
		foreign = append(slices.Clone(foreign), tool)
	}
	for _, source := range foreign {
		add(source)
		if past.foreign == "" {
			past.foreign = source
		}
	}
	paths := slices.Clone(e.Reads)
	for _, s := range seen {
		if !s.Wrote {
			paths = append(paths, s.Path)
		}
	}
	for _, path := range paths {
		if rel, ok := beneath(env.Root, path); ok {
			path = rel
		}
		add(path)
		if past.private == "" && secretFile(path) {
			past.private = path
		}
	}
}

const skillTool = "skill"

// sources are the texts from elsewhere that the ant read last.
func (p *Policy) sources(ant string) []string {
	p.session.mu.Lock()
	defer p.session.mu.Unlock()
	return slices.Clone(p.session.of(ant).sources)
}

// mixed asks where private data, untrusted text and a way out come together.
func (p *Policy) mixed(j judged) (Decision, bool) {
	p.session.mu.Lock()
	past := *p.session.of(j.env.Ant)
	p.session.mu.Unlock()
	switch {
	case past.private == "" || past.foreign == "" || !p.sends(j):
		return Decision{}, false
	case j.e.Opinion == tools.OpinionDeny:
		return p.opinion(j)
	}
	return Decision{Decision: Ask, Rule: "mix", Segment: j.name, Reason: fmt.Sprintf(
		"%s has read %s, which is private, and %s, which others wrote, and %s can send data out", j.env.Ant, past.private, past.foreign, j.name)}, true
}

// sends reports whether a call could carry data out. A command in the sandbox cannot, where there is no way out.
func (p *Policy) sends(j judged) bool {
	if j.shell() || j.name == "sh" {
		return (!p.parts.Sandboxed || p.parts.Net) && !j.harmless()
	}
	return len(j.e.Hosts) > 0 || !j.e.Known
}

// privateNames are names of files that hold what is not to leave: keys and credentials.
var privateNames = []string{".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "id_rsa*", "id_ed25519*", "id_ecdsa*",
	".netrc", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials", "credentials", "credentials.*", "secrets", "secrets.*"}

// secretFile reports whether a file is private by its name.
func secretFile(path string) bool {
	name := fold(filepath.Base(path))
	for _, sample := range []string{".example", ".sample", ".template"} {
		if strings.HasSuffix(name, sample) {
			return false
		}
	}
	return slices.ContainsFunc(privateNames, func(pattern string) bool { return wildcard(pattern, name, true) })
}
