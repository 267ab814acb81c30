package repo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sourcegraph/conc"
)

// found is what Open reads of the user's repository.
type found struct {
	root, gitDir, common, objects string
	format                        string // of object ids
	head                          string
	on                            string // the branch that HEAD is; empty where it is none
	user                          Identity
	filters                       []string // names that a configuration gives programs to
}

// settings are the keys read from the user's configuration, as data.
const settings = `^(user\.(name|email)|filter\..*\.(clean|smudge|process)|extensions\.partialclone|remote\..*\.promisor)$`

// Open finds the user's repository and reads it; it changes nothing.
// It returns ErrNoRepository, ErrEmpty, a *BranchError, a *NameError or an *UnsupportedError.
func Open(ctx context.Context, p Parts) (*Repo, error) {
	if err := checkName(p.Run); err != nil {
		return nil, err
	}
	if p.Git == "" {
		p.Git = "git"
	}
	bin, err := exec.LookPath(p.Git)
	if err != nil {
		return nil, &UnsupportedError{What: "git was not found", Next: "install git 2.39 or later"}
	}
	ask := caller{bin: bin, dir: p.Dir, env: userEnv(nil), traffic: newTraffic()}
	f, err := look(ctx, ask)
	if err != nil {
		return nil, err
	}
	state, err := statePath(p.State, f)
	if err != nil {
		return nil, err
	}
	l := newLease(state, p.Run)
	own := caller{bin: bin, env: ownEnv(state), traffic: ask.traffic, lease: l}
	user := caller{bin: bin, env: userEnv(f.filters), traffic: ask.traffic, lease: l}
	return &Repo{run: p.Run, state: state, found: f, setup: p.Setup, lease: l, trees: map[string]*Tree{}, kits: map[string]*kit{},
		known: newKnown(), pool: pool{changed: make(chan struct{}, 1)},
		own: own.at(filepath.Join(state, "git"), ""), user: user.at(f.gitDir, f.root)}, nil
}

// look asks five questions side by side.
func look(ctx context.Context, ask caller) (found, error) {
	var places, head, on, branch, config []byte
	var onErr, placesErr, headErr, branchErr, configErr error
	var wg conc.WaitGroup
	wg.Go(func() {
		places, placesErr = ask.run(ctx, nil, "rev-parse", "--is-bare-repository", "--path-format=absolute", "--show-toplevel",
			"--git-dir", "--git-common-dir", "--git-path", "objects", "--show-object-format")
	})
	wg.Go(func() { head, headErr = ask.run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") })
	wg.Go(func() { on, onErr = ask.run(ctx, nil, "symbolic-ref", "--quiet", "HEAD") })
	wg.Go(func() {
		branch, branchErr = ask.run(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/heads/colony")
	})
	wg.Go(func() { config, configErr = ask.run(ctx, nil, "config", "-z", "--includes", "--get-regexp", settings) })
	wg.Wait()

	f, err := readPlaces(places, placesErr, ask.dir)
	if err != nil {
		return found{}, err
	}
	if slices.Contains(strings.Split(string(branch), "\n"), "refs/heads/colony") {
		return found{}, &BranchError{Branch: "colony"}
	}
	if exitCode(headErr) > 0 {
		return found{}, ErrEmpty
	}
	if exitCode(configErr) == 1 { // no such key
		configErr = nil
	}
	if exitCode(onErr) == 1 { // detached
		onErr = nil
	}
	for _, err := range []error{headErr, onErr, branchErr, configErr} {
		if err != nil {
			return found{}, fmt.Errorf("read the repository %s: %w", f.root, err)
		}
	}
	f.head, f.on = strings.TrimSpace(string(head)), strings.TrimPrefix(strings.TrimSpace(string(on)), "refs/heads/")
	return f, f.readConfig(config)
}

// readPlaces reads the answer of rev-parse, a line each.
func readPlaces(out []byte, err error, dir string) (found, error) {
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	switch {
	case exitCode(err) > 0 && strings.Contains(errText(err), "dubious ownership"):
		return found{}, &UnsupportedError{What: "git does not trust this repository, which another user owns",
			Next: "run `git config --global --add safe.directory '*'` or take it over"}
	case strings.Contains(errText(err), "cannot use bare repository"), exitCode(err) > 0 && lines[0] != "":
		return found{}, &UnsupportedError{What: "this is a bare repository, or the inside of a .git directory", Next: "run colony in a checkout"}
	case exitCode(err) > 0:
		return found{}, ErrNoRepository
	case err != nil:
		return found{}, fmt.Errorf("look for a repository at %s: %w", dir, err)
	case len(lines) != 6:
		return found{}, &UnsupportedError{What: "the repository's path has a line break", Next: "move it"}
	}
	for _, place := range lines[1:5] {
		if !utf8.ValidString(place) { // the log and the sandbox could not name it
			return found{}, &UnsupportedError{What: fmt.Sprintf("the path %q is not UTF-8", place), Next: "rename it"}
		}
	}
	return found{root: lines[1], gitDir: lines[2], common: lines[3], objects: lines[4], format: lines[5]}, nil
}

// readConfig reads keys and values as data.
func (f *found) readConfig(out []byte) error {
	f.user = Identity{Name: "colony", Email: "colony@localhost"}
	for _, entry := range fields(out) {
		key, value, _ := strings.Cut(entry, "\n")
		switch {
		case key == "user.name" && clean(value) != "":
			f.user.Name = clean(value)
		case key == "user.email" && clean(value) != "":
			f.user.Email = clean(value)
		case strings.HasPrefix(key, "filter."):
			name := strings.TrimPrefix(key[:strings.LastIndexByte(key, '.')], "filter.")
			if !slices.Contains(f.filters, name) {
				f.filters = append(f.filters, name)
			}
		case key == "extensions.partialclone", strings.HasSuffix(key, ".promisor") && value != "false":
			return &UnsupportedError{What: "this is a partial clone, whose objects are elsewhere", Next: "run `git fetch --refetch --no-filter`, then unset remote.NAME.promisor and extensions.partialClone"}
		}
	}
	return nil
}

// clean makes a name fit for a commit's header.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune("<>", r) {
			return -1
		}
		return r
	}, s)
	return strings.Trim(s, " .,:;'\"")
}

// statePath is the state directory, absolute and resolved as far as it exists; it is outside the checkout.
func statePath(state string, f found) (string, error) {
	if state == "" {
		return "", fmt.Errorf("open %s: no state directory", f.root)
	}
	abs, err := filepath.Abs(state)
	if err != nil {
		return "", err
	}
	abs = resolve(abs)
	if strings.ContainsAny(abs, "\n\r") {
		return "", &UnsupportedError{What: "the state directory's path has a line break", Next: "choose another --state-dir"}
	}
	for _, inside := range []string{f.root, f.gitDir, f.common} {
		if abs == inside || strings.HasPrefix(abs, inside+string(os.PathSeparator)) {
			return "", &UnsupportedError{What: "the state directory " + abs + " is inside the repository", Next: "choose another --state-dir"}
		}
	}
	return abs, nil
}

// resolve follows the links of the part of a path that exists.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}
