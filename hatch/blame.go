package hatch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"colony/blame"
	"colony/ledger"
	"colony/repo"
)

// Blame says of the lines of a file who wrote them, as the commit has it that the checkout is at.
func (h *House) Blame(ctx context.Context, runs []*ledger.Run, file string, from, to int) (blame.File, error) {
	if h.Root == "" {
		return blame.File{}, NoRepository(h.Dir)
	}
	path, err := h.inside(file)
	if err != nil {
		return blame.File{}, err
	}
	r, err := repo.Open(ctx, repo.Parts{Dir: h.Dir, State: filepath.Join(h.home(), "git"), Run: "blame"})
	if err != nil {
		return blame.File{}, repoProblem(err)
	}
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return blame.File{}, err
	}
	if !r.Has(ctx, head) {
		return blame.File{}, &Problem{Exit: 2, Code: "no_run", Message: "there is no run in this repository yet", Next: "colony run -f plan.yaml"}
	}
	out, ok, err := blame.Of(ctx, r, runs, head, path, from, to)
	switch {
	case err != nil:
		return out, err
	case !ok:
		return out, &Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("the commit that the checkout is at has no file %s", path), Next: "check its path; what is not committed has no history"}
	case from > 0 && len(out.Lines) == 0:
		return out, &Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("%s has no line %d", path, from), Next: "name a line that it has"}
	}
	data, err := os.ReadFile(filepath.Join(h.Root, filepath.FromSlash(path)))
	out.Dirty = err != nil || !out.Is(string(data))
	return out, nil
}

// inside is a typed path as the repository has it.
func (h *House) inside(file string) (string, error) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(h.Dir, file)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(dir, filepath.Base(file))
	}
	rel, err := filepath.Rel(h.Root, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", &Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("%s is not in the repository", file), Next: "name a file of " + h.Root}
	}
	return filepath.ToSlash(rel), nil
}
