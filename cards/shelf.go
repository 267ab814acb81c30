package cards

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"colony/strict"
)

// Parts are where cards come from, weakest first: the built-in ones, the user's directory, and the project's
// files, which the caller hands in only when they are trusted.
type Parts struct {
	Builtin []Card
	UserDir string            // read for *.yaml; need not exist
	Project map[string][]byte // by file
}

// Shelf finds cards by name. It is immutable.
type Shelf struct {
	cards  map[string]Card // with what they extend
	layers layers          // as they were read
}

// UnknownError is a name that no card has.
type UnknownError struct {
	Name, Nearest string
	Names         []string
}

// Error says what there is instead.
func (e *UnknownError) Error() string {
	if e.Nearest != "" {
		return fmt.Sprintf("unknown card %q: did you mean %s?", e.Name, e.Nearest)
	}
	return fmt.Sprintf("unknown card %q: there are %s", e.Name, strings.Join(e.Names, ", "))
}

// Load reads all cards and gives each what it extends. A name that a stronger source gives again replaces the weaker
// card; twice in one source is a fault.
func Load(parts Parts) (*Shelf, strict.Faults) {
	user, faults := readDir(parts.UserDir)
	all := layers{{}}
	for _, c := range parts.Builtin {
		all[0][c.Name] = c
	}
	for _, files := range []map[string][]byte{user, parts.Project} {
		layer, wrong := readAll(files)
		all, faults = append(all, layer), append(faults, wrong...)
	}
	s := &Shelf{cards: map[string]Card{}, layers: all}
	if len(faults) > 0 {
		return s, faults
	}
	for i := range all {
		whole, wrong := all.whole(i)
		faults = append(faults, wrong...)
		maps.Copy(s.cards, whole)
	}
	return s, faults.Sorted()
}

// Lint reads and checks card files as if they lay above all of the shelf's cards, which they may extend. Those that the
// shelf has from the same files are left aside. What check finds in a card that reads well is added.
func (s *Shelf) Lint(files map[string][]byte, check func(Card) strict.Faults) strict.Faults {
	top, faults := readAll(files)
	var all layers
	for _, layer := range s.layers {
		below := maps.Clone(layer)
		maps.DeleteFunc(below, func(_ string, c Card) bool { _, again := files[c.Source]; return again })
		all = append(all, below)
	}
	all = append(all, top)
	whole, wrong := all.whole(len(all) - 1)
	faults = append(faults, wrong...)
	for _, c := range whole {
		faults = append(faults, check(c)...)
	}
	return faults.Sorted()
}

// readAll reads the files of one source in the order of their names.
func readAll(files map[string][]byte) (map[string]Card, strict.Faults) {
	var faults strict.Faults
	here := map[string]Card{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		c, wrong := Parse(file, files[file])
		faults = append(faults, wrong...)
		if first, twice := here[c.Name]; twice && c.Name != "" {
			faults = append(faults, c.fault("name", fmt.Sprintf("card %s is also in %s: rename one", c.Name, first.Source)))
		}
		if len(wrong) == 0 {
			here[c.Name] = c
		}
	}
	return here, faults
}

// readDir is the card files of a directory. Only regular files are read, and no further than strict would.
func readDir(dir string) (map[string][]byte, strict.Faults) {
	entries, err := os.ReadDir(dir)
	if dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, strict.Faults{{File: dir, Text: "cannot read this directory of cards: " + err.Error()}}
	}
	files := map[string][]byte{}
	var faults strict.Faults
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".yaml") {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		if data, err := readFile(file); err != nil {
			faults = append(faults, strict.Fault{File: file, Text: "cannot read this card: " + err.Error()})
		} else {
			files[file] = data
		}
	}
	return files, faults
}

func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, strict.MaxBytes+1))
}

// Get is the card of that name, else an *UnknownError.
func (s *Shelf) Get(name string) (Card, error) {
	if c, ok := s.cards[name]; ok {
		return c, nil
	}
	names := s.names()
	return Card{}, &UnknownError{Name: name, Nearest: strict.Nearest(name, names), Names: names}
}

// List is all cards by name.
func (s *Shelf) List() []Card {
	var list []Card
	for _, name := range s.names() {
		list = append(list, s.cards[name])
	}
	return list
}

func (s *Shelf) names() []string { return slices.Sorted(maps.Keys(s.cards)) }
