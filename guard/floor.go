package guard

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"colony/tools"
)

// protectedNames are written by no call, at any depth of the worktree, in any case: what runs by itself when a
// person, an editor or git next touches the tree, and colony's own settings and cards.
var protectedNames = map[string]string{
	".git": "git's own files", ".gitconfig": "git's settings", ".vscode": "an editor's settings", ".idea": "an editor's settings",
	".mcp.json": "a list of servers to start", ".colony": "colony's settings and cards", ".envrc": "a shell start-up file",
	".bashrc": "a shell start-up file", ".bash_profile": "a shell start-up file", ".bash_login": "a shell start-up file",
	".bash_logout": "a shell start-up file", ".profile": "a shell start-up file", ".zshrc": "a shell start-up file",
	".zprofile": "a shell start-up file", ".zshenv": "a shell start-up file", ".zlogin": "a shell start-up file",
	".ripgreprc": "settings that can name a program",
}

// devices may be read and written by every process.
var devices = []string{"/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd", "/dev/tty", "/dev/urandom", "/dev/random"}

// floor denies what no mode, card or grant lifts.
func (p *Policy) floor(j judged) (Decision, bool) {
	for _, path := range j.e.Writes {
		if d, hit := p.write(j, path); hit {
			return d, true
		}
	}
	for _, path := range j.e.Reads {
		if d, hit := p.read(j, path); hit {
			return d, true
		}
	}
	for _, host := range j.e.Hosts {
		if j.shell() && p.parts.Sandboxed {
			break // a sandbox has a loopback of its own, and what leads out of it judges addresses
		}
		if private(host) {
			return floorHit("private-address", host, fmt.Sprintf("%s is an address inside this machine or network, which no tool may reach", host)), true
		}
	}
	if verb := decides(j.e.Commands); verb != "" && !p.parts.Sandboxed { // in a sandbox there is nothing that it could change
		return floorHit("own-verbs", verb, fmt.Sprintf("%s decides for the person who started colony, and no ant may: say in your summary what you need", verb)), true
	}
	if !j.e.Known {
		return p.rawText(j)
	}
	return Decision{}, false
}

func floorHit(rule, segment, reason string) Decision {
	return Decision{Decision: Deny, Rule: rule, Segment: segment, Reason: reason}
}

func (p *Policy) write(j judged, path string) (Decision, bool) {
	at, d, hit := place(j, path)
	if hit || slices.Contains(devices, at) {
		return d, hit
	}
	for _, spelling := range []string{filepath.Clean(path), at} {
		if rel, inside := beneath(j.env.Root, spelling); inside {
			if name, what := protected(rel); what != "" {
				return floorHit("protected-path", path, fmt.Sprintf(
					"%s is %s, which no ant may change: leave it as it is and say in your summary what should change", name, what)), true
			}
		}
	}
	if beneathAny(p.parts.Protected, at) && !p.inWorktree(j, at) {
		return floorHit("protected-path", path, fmt.Sprintf("%s belongs to colony itself, and no ant may change it", path)), true
	}
	if _, inside := beneath(j.env.Root, at); inside || p.scratch(j, at) {
		return Decision{}, false
	}
	return outside(j, path, at), true
}

// scratch reports whether a command may use a path outside the worktree as its own. File tools have no such place.
func (p *Policy) scratch(j judged, at string) bool {
	return j.shell() && beneathAny(p.parts.Writable, at)
}

// inWorktree reports whether a path in a protected directory is the ant's own all the same: worktrees hang in
// colony's state. A protected path inside the worktree stays protected.
func (p *Policy) inWorktree(j judged, at string) bool {
	if _, inside := beneath(j.env.Root, at); !inside {
		return false
	}
	for _, guarded := range p.parts.Protected {
		_, holds := beneath(guarded, at)
		if _, deeper := beneath(j.env.Root, guarded); holds && deeper {
			return false
		}
	}
	return true
}

func (p *Policy) read(j judged, path string) (Decision, bool) {
	at, d, hit := place(j, path)
	if hit || slices.Contains(devices, at) {
		return d, hit
	}
	if _, inside := beneath(j.env.Root, at); inside || beneathAny(p.parts.Readable, at) || p.scratch(j, at) {
		return Decision{}, false
	}
	return outside(j, path, at), true
}

// place is where a path leads, or the hit of one that cannot be followed.
func place(j judged, path string) (string, Decision, bool) {
	if !filepath.IsAbs(path) {
		path = j.env.Cwd() + "/" + path
	}
	at, err := tools.Resolve(j.env.Root, path)
	if err != nil {
		return "", floorHit("path-jail", path, fmt.Sprintf("%s cannot be followed (%v): use a plain path inside the worktree", path, err)), true
	}
	return at, Decision{}, false
}

func outside(j judged, path, at string) Decision {
	leads := path + " is"
	if at != filepath.Clean(path) {
		leads = path + " leads to " + at + ", which is"
	}
	return floorHit("path-jail", path, fmt.Sprintf("%s outside your worktree %s: use a path inside it, such as one relative to its root", leads, j.env.Root))
}

// Protected is the component of a path below a worktree's root that no ant may change, and what it is; empty where there
// is none.
func Protected(rel string) (name, what string) { return protected(rel) }

// protected is the protected component of a path below the root, and what it is.
func protected(rel string) (name, what string) {
	for part := range strings.SplitSeq(rel, "/") {
		if what := protectedNames[fold(part)]; what != "" {
			return part, what
		}
	}
	return "", ""
}

// fold is a name as the most forgiving file system compares it: case aside, trailing dots, blanks and streams cut.
func fold(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(strings.ToLower(name), " .")
}

// rawText looks for protected names in a line that could not be read whole: a write to them may hide there.
func (p *Policy) rawText(j judged) (Decision, bool) {
	texts := slices.Clone(j.e.Subjects)
	for _, c := range j.e.Commands {
		texts = append(texts, c.Text)
	}
	for _, text := range texts {
		words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\n\r'\"`$(){}<>|&;,*?!\\", c) })
		for _, word := range words {
			if word[0] == '-' {
				continue // an option, such as --exclude-dir=.git
			}
			_, value, _ := strings.Cut(word, "=")
			if value != "" {
				word = value
			}
			if name, what := protected(word); what != "" {
				return floorHit("protected-path", word, fmt.Sprintf(
					"the line cannot be read whole and names %s (%s): write plain commands with literal paths, or leave %s out", name, what, name)), true
			}
		}
	}
	return Decision{}, false
}

// private reports whether a host is this machine or its network by its spelling. What a name resolves to is
// judged where it is dialled.
func private(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || addr.IsMulticast()
}

// gitWrites are the subcommands of git that change the repository: colony does that.
var gitWrites = []string{"add", "am", "checkout", "cherry-pick", "commit", "fetch", "gc", "merge", "mv", "pull", "push", "rebase",
	"reset", "revert", "rm", "stash", "switch", "update-ref", "worktree"}

// changesRepository is the command of a line that would change the repository; empty where there is none.
func changesRepository(commands []tools.Command) string {
	for _, c := range commands {
		if c.ReadOnly {
			continue
		}
		for _, text := range append([]string{c.Text}, c.Also...) {
			words := strings.Fields(text)
			if len(words) > 1 && words[0] == "git" && slices.Contains(gitWrites, words[1]) {
				return c.Text
			}
		}
	}
	return ""
}

// deciders are the verbs of colony that change what it trusts, what it is told and what it keeps.
var deciders = []string{"answer", "gc", "init", "land", "pause", "resume", "retry", "steer", "stop", "trust"}

// decides is the command of a line that starts colony with such a verb; empty where there is none.
func decides(commands []tools.Command) string {
	for _, c := range commands {
		for _, text := range append([]string{c.Text}, c.Also...) {
			words := strings.Fields(text)
			if len(words) > 1 && filepath.Base(words[0]) == "colony" && slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(deciders, w) }) {
				return c.Text
			}
		}
	}
	return ""
}

// ProtectedNames are the names that no call writes at any depth of the worktree, ascending.
func ProtectedNames() []string { return slices.Sorted(maps.Keys(protectedNames)) }
