package repo

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Outside is a path that a file of the base leads to and that is not in the repository.
type Outside struct {
	Via  string // the file that leads there, in the repository
	Path string // as seen from the top of a checkout, as ../x; or absolute
	From string // where that is on this machine, links resolved
}

// outsideOf finds what symbolic links, go.work and the replacements of go.mod lead to outside the repository. What is not
// there in the user's place either is no one's to bring.
func (r *Repo) outsideOf(ctx context.Context, all []entry) ([]Outside, error) {
	var read []entry
	for _, e := range all {
		base := path.Base(e.path)
		if e.mode == linkMode || (e.mode != gitlinkMode && (base == "go.mod" || base == "go.work")) {
			read = append(read, e)
		}
	}
	if len(read) == 0 {
		return nil, nil
	}
	texts, err := r.texts(ctx, read)
	if err != nil {
		return nil, err
	}
	var found []Outside
	seen := map[string]bool{}
	for i, e := range read {
		targets := []string{texts[i]}
		if e.mode != linkMode {
			targets = goPaths(texts[i])
		}
		for _, target := range targets {
			o, ok := r.outside(e.path, target)
			if ok && !seen[o.Path] {
				seen[o.Path] = true
				found = append(found, o)
			}
		}
	}
	return found, nil
}

// outside follows a target from a file's place.
func (r *Repo) outside(via, target string) (Outside, bool) {
	if target == "" || strings.ContainsRune(target, 0) {
		return Outside{}, false
	}
	o := Outside{Via: via, Path: path.Clean(target)}
	at := filepath.FromSlash(o.Path)
	if !path.IsAbs(target) {
		o.Path = path.Join(path.Dir(via), target)
		if o.Path != ".." && !strings.HasPrefix(o.Path, "../") {
			return Outside{}, false
		}
		at = filepath.Join(r.found.root, filepath.FromSlash(o.Path))
	}
	from, err := filepath.EvalSymlinks(at)
	if err != nil {
		return Outside{}, false
	}
	if _, err := os.Stat(from); err != nil {
		return Outside{}, false
	}
	o.From = from
	return o, true
}

// goPaths are the directories that a go.mod or go.work file names: those it uses, and those that replace a module.
func goPaths(text string) []string {
	var paths []string
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case block == "" && len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case words[0] == ")":
			block = ""
			continue
		case block == "":
			paths = append(paths, goPath(words[0], words[1:])...)
			continue
		}
		paths = append(paths, goPath(block, words)...)
	}
	return paths
}

// goPath is the directory that one directive names.
func goPath(verb string, words []string) []string {
	if at := slices.Index(words, "=>"); verb == "replace" && at >= 0 {
		words = words[at+1:]
	} else if verb != "use" {
		return nil
	}
	if len(words) != 1 {
		return nil
	}
	dir := strings.Trim(words[0], "\"`")
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "./") || strings.HasPrefix(dir, "../") || path.IsAbs(dir) {
		return []string{dir}
	}
	return nil
}
