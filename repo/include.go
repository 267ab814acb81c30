package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// IncludeFile names ignored files of the checkout that ants find in their worktrees, as patterns of .gitignore.
const IncludeFile = ".worktreeinclude"

const (
	includeText  = 64 << 10  // bytes of the patterns
	includeBytes = 256 << 20 // bytes of all files
	includeFiles = 20000
)

// IncludeError is why the files that .worktreeinclude names cannot be brought.
type IncludeError struct{ Why, Next string }

func (e *IncludeError) Error() string { return IncludeFile + ": " + e.Why + ": " + e.Next }

// patterns reads .worktreeinclude of the checkout; false where there is none.
func (r *Repo) patterns() ([]byte, bool, error) {
	at := filepath.Join(r.found.root, IncludeFile)
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() || info.Size() > includeText {
		return nil, false, &IncludeError{"it is no plain file of at most 64 KiB", "put one there, or remove it"}
	}
	data, err := os.ReadFile(at)
	return data, err == nil, err
}

// frozen is where the files are that the run brings into its worktrees, as they were when it began.
func (r *Repo) frozen() string { return filepath.Join(r.state, "include", r.run) }

// freeze copies the ignored files of the checkout that .worktreeinclude names. It returns those left out: links that
// lead out of the repository, and what is no file.
func (r *Repo) freeze(ctx context.Context) (left []string, err error) {
	text, ok, err := r.patterns()
	if err != nil || !ok {
		return nil, err
	}
	names, err := r.included(ctx, text)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(r.frozen()), os.MkdirAll(r.frozen(), 0o700)); err != nil {
		return nil, err
	}
	src, err := os.OpenRoot(r.found.root)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	dst, err := os.OpenRoot(r.frozen())
	if err != nil {
		return nil, err
	}
	defer dst.Close()
	var bytes int64
	for _, name := range names {
		info, err := src.Lstat(name)
		if err != nil || !portable(src, name, info) {
			left = append(left, name)
			continue
		}
		if bytes += info.Size(); bytes > includeBytes {
			return nil, &IncludeError{"what it names is more than 256 MiB", "name less"}
		}
		if err := dst.MkdirAll(path.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if _, err := copyEntry(src, dst, name, fs.FileInfoToDirEntry(info)); err != nil {
			return nil, fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return left, nil
}

// portable reports whether an entry is a file, or a relative link that stays in the repository.
func portable(src *os.Root, name string, info fs.FileInfo) bool {
	if info.Mode().IsRegular() {
		return true
	}
	if info.Mode().Type() != fs.ModeSymlink {
		return false
	}
	to, err := src.Readlink(name)
	if err != nil || path.IsAbs(to) || !filepath.IsLocal(path.Join(path.Dir(name), to)) {
		return false
	}
	_, err = src.Stat(name) // a root follows no link out
	return err == nil
}

// included are the files of the checkout that are ignored and match the patterns.
func (r *Repo) included(ctx context.Context, text []byte) ([]string, error) {
	if err := os.MkdirAll(r.state, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(r.state, "patterns.")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	out, err := r.user.run(ctx, nil, "ls-files", "--others", "--ignored", "-z", "--exclude-from="+f.Name())
	if err != nil {
		return nil, fmt.Errorf("look for the files of %s: %w", IncludeFile, err)
	}
	var asked strings.Builder
	n := 0
	for _, name := range fields(out) {
		if !strings.HasSuffix(name, "/") && fs.ValidPath(name) { // a directory is a repository of its own
			asked.WriteString(name + "\x00")
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	if n > includeFiles {
		return nil, &IncludeError{fmt.Sprintf("it names %d files, more than %d", n, includeFiles), "name less"}
	}
	out, err = r.user.run(ctx, []byte(asked.String()), "check-ignore", "-z", "--stdin")
	if exitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the ignored files of %s: %w", IncludeFile, err)
	}
	return fields(out), nil
}
