package repo

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// deepest bounds how far submodules lie in one another.
const deepest = 8

// SubmoduleError is a submodule whose commit is not among the user's own objects.
type SubmoduleError struct{ Path, Commit string }

func (e *SubmoduleError) Error() string {
	return fmt.Sprintf("the submodule %s is not in your repository at %s, which the run begins with: git submodule update --init --recursive -- %s",
		e.Path, e.Commit, e.Path)
}

// module is a submodule at the commit that a tree names.
type module struct {
	path    string // in the repository
	commit  string
	objects string // where the user keeps them
}

// place is where a repository of the user's has its parts.
type place struct{ gitDir, top string }

// modulesOf finds the submodules of a tree, those in them included. One that .gitmodules does not name stays the empty
// directory that git itself would leave.
func (r *Repo) modulesOf(ctx context.Context, commit string, links []entry) ([]module, error) {
	return r.modulesIn(ctx, commit, links, "", place{r.found.common, r.found.root}, deepest)
}

func (r *Repo) modulesIn(ctx context.Context, commit string, links []entry, under string, in place, left int) ([]module, error) {
	if len(links) == 0 {
		return nil, nil
	}
	names, err := r.moduleNames(ctx, commit)
	if err != nil {
		return nil, err
	}
	var all []module
	for _, link := range links {
		name, named := names[link.path]
		if !named {
			continue
		}
		m := module{path: path.Join(under, link.path), commit: link.id}
		at, ok := in.module(name, link.path)
		if !ok || left == 0 || !r.has(ctx, at.gitDir, link.id) {
			return nil, &SubmoduleError{Path: m.path, Commit: link.id}
		}
		m.objects = filepath.Join(at.gitDir, "objects")
		all = append(all, m)
		inner := r.lending(m.objects)
		entries, err := inner.entries(ctx, link.id)
		if err != nil {
			return nil, err
		}
		deeper, err := inner.modulesIn(ctx, link.id, gitlinks(entries), m.path, at, left-1)
		if err != nil {
			return nil, err
		}
		all = append(all, deeper...)
	}
	return all, nil
}

// moduleNames are the names that .gitmodules of a commit gives to paths.
func (r *Repo) moduleNames(ctx context.Context, commit string) (map[string]string, error) {
	out, err := r.own.run(ctx, nil, "config", "-z", "--blob", commit+":.gitmodules", "--get-regexp", `^submodule\..*\.path$`)
	if exitCode(err) > 0 {
		return nil, nil // no such file or key, or one that git cannot read: then git knows no submodule either
	}
	if err != nil {
		return nil, fmt.Errorf("read .gitmodules of %s: %w", commit, err)
	}
	names := map[string]string{}
	for _, field := range fields(out) {
		key, at, _ := strings.Cut(field, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		names[path.Clean(at)] = name
	}
	return names, nil
}

// module finds where the user keeps a submodule: among the repository's modules, or in its checkout. Names come from the
// repository and never lead out; a `.git` file is not followed.
func (p place) module(name, at string) (place, bool) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || !filepath.IsLocal(filepath.FromSlash(at)) {
		return place{}, false
	}
	top := filepath.Join(p.top, filepath.FromSlash(at))
	for base, dir := range map[string]string{p.gitDir: filepath.Join(p.gitDir, "modules", filepath.FromSlash(name)), p.top: filepath.Join(top, ".git")} {
		if !within(resolve(dir), resolve(base)) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, "objects")); err == nil && info.IsDir() {
			return place{dir, top}, true
		}
	}
	return place{}, false
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// has reports whether a repository has a commit.
func (r *Repo) has(ctx context.Context, gitDir, commit string) bool {
	if checkID(commit) != nil {
		return false
	}
	_, err := r.lending(filepath.Join(gitDir, "objects")).own.run(ctx, nil, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// lending is r with further objects to read.
func (r *Repo) lending(objects string) *Repo {
	own := r.own
	own.env = append(append([]string{}, own.env...), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoteAlternate(objects))
	return &Repo{run: r.run, state: r.state, found: r.found, own: own, known: newKnown()}
}

// quoteAlternate writes a path so that git takes it as one.
func quoteAlternate(dir string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(dir) + `"`
}

func (r *Repo) submodules() []module {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.modules
}

// fillModule writes a submodule's files into its empty directory.
func (t *Tree) fillModule(ctx context.Context, m module) error {
	index, err := os.CreateTemp(t.GitDir, "module.")
	if err != nil {
		return err
	}
	index.Close()
	defer os.Remove(index.Name())
	if err := os.Remove(index.Name()); err != nil {
		return err
	}
	git := t.repo.lending(m.objects).own.at(t.repo.gitDir(), "")
	git.env = append(git.env, "GIT_INDEX_FILE="+index.Name())
	if _, err := git.run(ctx, nil, "read-tree", m.commit); err != nil {
		return fmt.Errorf("read the submodule %s: %w", m.path, err)
	}
	git = git.at(t.repo.gitDir(), t.Dir)
	dir := filepath.Join(t.Dir, filepath.FromSlash(m.path))
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || resolve(dir) != dir {
		return nil // the commit does not have it any more
	}
	_, err = git.run(ctx, nil, "checkout-index", "--all", "--prefix="+m.path+"/")
	if err != nil {
		return fmt.Errorf("write the submodule %s: %w", m.path, err)
	}
	return t.noteModule(m.path)
}
