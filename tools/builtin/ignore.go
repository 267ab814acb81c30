package builtin

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// ignoreFiles name what a search leaves out, at every level of the tree; the later one has the last word.
var ignoreFiles = []string{".gitignore", ".colonyignore"}

// rules are the patterns of one ignore file.
type rules struct {
	dir  string // that holds the file, below the root; "" for the root
	list []rule
}

// rule is one pattern. An anchored one is matched against the path below its directory, another one
// against the last name.
type rule struct {
	glob                   glob
	negate, dirs, anchored bool
}

// parseRules reads an ignore file as git does, but for POSIX classes. A broken pattern matches nothing.
func parseRules(dir string, data []byte) rules {
	out := rules{dir: dir}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if r, ok := parseRule(trimBlanks(line)); ok {
			out.list = append(out.list, r)
		}
	}
	return out
}

func parseRule(line string) (rule, bool) {
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	var r rule
	line, r.negate = strings.CutPrefix(line, "!")
	line, r.dirs = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if inside, ok := strings.CutSuffix(line, "/**"); ok {
		line = inside + "/**/*" // what is inside, not the directory itself
	}
	if strings.ContainsAny(line, `*?[\`) {
		line = strings.NewReplacer("{", `\{`, "}", `\}`, `\{`, `\{`, `\}`, `\}`, `\\`, `\\`).Replace(line)
		r.glob = newGlob(line)
	} else {
		r.glob = glob{line, literalGlob}
	}
	return r, line != ""
}

// trimBlanks takes off trailing blanks that no backslash protects.
func trimBlanks(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

func (r rule) match(below, name string, dir bool) bool {
	switch {
	case r.dirs && !dir:
		return false
	case r.anchored:
		return r.glob.match(below)
	}
	return r.glob.match(name)
}

// ignored reports whether the last rule that matches says so. Files deeper in the tree come last in all.
func ignored(all []rules, rel string, dir bool) bool {
	name := path.Base(rel)
	for _, file := range slices.Backward(all) {
		below := rel
		if file.dir != "" {
			below = strings.TrimPrefix(rel, file.dir+"/")
		}
		for _, r := range slices.Backward(file.list) {
			if r.match(below, name, dir) {
				return !r.negate
			}
		}
	}
	return false
}
