package hatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"colony/cards"
	"colony/configs"
	"colony/event"
	"colony/guard/secrets"
	"colony/tools"
)

// Places are where colony was started and where it keeps things. All are absolute.
type Places struct {
	Dir    string // where the command was typed
	State  string // colony's state directory
	Config string // the user's colony configuration directory
	Cache  string // where build caches are kept; empty: in the state directory
	// Organisation is where the organisation keeps its settings, which only tighten, and the digests that it trusts.
	Organisation string
}

// House is a repository as colony finds it: its place, the settings of every tier and the cards.
type House struct {
	Places
	Root      string // the top of the checkout; empty outside a repository
	Settings  *configs.Settings
	Cards     *cards.Shelf
	Untrusted []ProjectFile // project files that name commands, or bring cards, skills or tools, and are not trusted as they are now
	project   configs.File  // the repository's settings that are used; empty where none are
	skills    map[string]tools.Skill
	own       []ownTool // that the user and the repository bring, in the order in which they are registered
	servers   []server  // of the user and the repository, by name
	private   []string  // values of the user's variables whose names say that they are secret
}

// OrganisationFile is the tier that only tightens.
func (p Places) OrganisationFile() string { return filepath.Join(p.Organisation, "config.yaml") }

// Locate finds the repository that dir lies in, without reading anything of it.
func Locate(places Places) *House {
	if real, err := filepath.EvalSymlinks(places.Dir); err == nil { // git goes up from where a link leads
		places.Dir = real
	}
	h := &House{Places: places}
	for dir := places.Dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			h.Root = dir
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				h.Root = real
			}
			return h
		}
		if dir == filepath.Dir(dir) {
			return h
		}
	}
}

// Enter is Locate that also reads the settings and the cards. Project files that are not trusted are listed, and
// of them nothing is used. Typed are digests that a person gave for this one command; one that fits nothing is a Problem.
func Enter(places Places, environ []string, flags map[string]string, typed ...string) (*House, error) {
	h := Locate(places)
	h.private = secrets.Environ(environ)
	project, err := h.projectFiles()
	if err != nil {
		return nil, err
	}
	given, err := h.given(project, environ, typed)
	if err != nil {
		return nil, err
	}
	trusted, untrusted, err := h.sift(project, given)
	if err != nil {
		return nil, err
	}
	h.Untrusted = untrusted
	parts := configs.Parts{Env: environ, Flags: flags}
	if parts.Organisation, err = readTier(h.OrganisationFile()); err != nil {
		return nil, err
	}
	if parts.User, err = readTier(filepath.Join(places.Config, "config.yaml")); err != nil {
		return nil, err
	}
	shelf := cards.Parts{Builtin: cards.Builtin(), UserDir: filepath.Join(places.Config, "cards"), Project: map[string][]byte{}}
	for _, f := range trusted {
		switch {
		case f.isConfig():
			parts.Project = configs.File{Path: f.Path, Data: f.Data}
		case !f.isSkill() && !f.isTool() && !f.isServers():
			shelf.Project[f.Path] = f.Data
		}
	}
	if err := h.learn(trusted); err != nil {
		return nil, err
	}
	if err := h.gather(trusted); err != nil {
		return nil, err
	}
	if err := h.findServers(trusted); err != nil {
		return nil, err
	}
	h.project = parts.Project
	if h.Settings, err = configs.Load(parts); err != nil {
		return nil, err
	}
	var faults error
	h.Cards, faults = loadCards(shelf)
	return h, faults
}

func loadCards(parts cards.Parts) (*cards.Shelf, error) {
	shelf, faults := cards.Load(parts)
	if len(faults) > 0 {
		return nil, faults
	}
	return shelf, nil
}

// readTier reads a settings file that need not be there.
func readTier(path string) (configs.File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return configs.File{}, nil
	}
	if err != nil {
		return configs.File{}, &Problem{Exit: 2, Code: "bad_file", Message: fmt.Sprintf("the settings in %s cannot be read: %v", path, err), Next: "make the file readable, or remove it"}
	}
	return configs.File{Path: path, Data: data}, nil
}

const longestHome = 200

// home is where colony keeps what belongs to this repository.
func (h *House) home() string {
	sum := sha256.Sum256([]byte(h.Root))
	name := filepath.Base(h.Root)
	if len(name) > longestHome { // the hash tells it apart; a file's name has 255 bytes at most
		name = strings.ToValidUTF8(name[:longestHome], "")
	}
	return filepath.Join(h.State, "repos", name+"-"+hex.EncodeToString(sum[:6]))
}

func (h *House) runDir(run string) string { return filepath.Join(h.home(), "runs", run) }

// Past is a run in the state directory.
type Past struct{ ID, Dir string }

// Runs are the runs of this repository, oldest first.
func (h *House) Runs() ([]Past, error) {
	if h.Root == "" {
		return nil, NoRepository(h.Dir)
	}
	return runsIn(h.home())
}

// runsIn are the runs of a repository by its place in the state directory, oldest first.
func runsIn(home string) ([]Past, error) {
	entries, err := os.ReadDir(filepath.Join(home, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	type dated struct {
		Past
		at int64
	}
	var found []dated
	for _, e := range entries {
		dir := filepath.Join(home, "runs", e.Name())
		if info, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			found = append(found, dated{Past{e.Name(), dir}, info.ModTime().UnixNano()})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].at < found[j].at })
	runs := make([]Past, len(found))
	for i, f := range found {
		runs[i] = f.Past
	}
	return runs, nil
}

// Find is the run that a word names: a unique prefix or suffix of its id, or @ for the latest.
func (h *House) Find(word string) (Past, error) {
	runs, err := h.Runs()
	if err != nil {
		return Past{}, err
	}
	if len(runs) == 0 {
		return Past{}, &Problem{Exit: 2, Code: "no_run", Message: "there is no run in this repository yet", Next: "colony run -f plan.yaml"}
	}
	if word == "@" {
		return runs[len(runs)-1], nil
	}
	var hits []Past
	for _, r := range runs {
		if r.ID == word {
			return r, nil
		}
		if strings.HasPrefix(r.ID, word) || strings.HasSuffix(r.ID, word) {
			hits = append(hits, r)
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	return Past{}, &Problem{Exit: 2, Code: "no_run", Message: fmt.Sprintf("%d runs are named by %q", len(hits), word), Next: "colony status lists the runs"}
}

// Events are the run's events up to now.
func (p Past) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return p.read(func(r *event.Reader) iter.Seq2[event.Event, error] { return r.Read(ctx, 0) })
}

// Follow is Events that goes on until the run is finished or ctx is done. What an earlier process finished, and another
// went on with, is not the end.
func (p Past) Follow(ctx context.Context) iter.Seq2[event.Event, error] {
	return p.read(func(r *event.Reader) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			var last event.Event
			for e, err := range r.Read(ctx, 0) {
				if !yield(e, err) || err != nil {
					return
				}
				last = e
			}
			if _, over := last.Body.(event.RunFinished); !over {
				untilFinished(r.Follow(ctx, last.Seq))(yield)
			}
		}
	})
}

// Owned reports whether a living process carries the run out.
func (p Past) Owned() bool { return event.Owned(p.Dir) }

func (p Past) read(from func(*event.Reader) iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, err := event.OpenReader(p.Dir)
		if err != nil {
			yield(event.Event{}, logProblem(p.ID, fmt.Errorf("open the log of %s: %w", p.ID, err)))
			return
		}
		defer r.Close()
		for e, err := range from(r) {
			if err != nil {
				err = logProblem(p.ID, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func untilFinished(events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range events {
			if !yield(e, err) {
				return
			}
			if _, ok := e.Body.(event.RunFinished); ok {
				return
			}
		}
	}
}

// NoRepository is the problem of a directory outside any repository.
func NoRepository(dir string) *Problem {
	return &Problem{Exit: 2, Code: "no_repository", Message: fmt.Sprintf("%s is not in a git repository", dir), Next: "git init, or colony -C DIR"}
}
