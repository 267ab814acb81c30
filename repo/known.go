package repo

import (
	"slices"
	"sync"
)

const (
	knownCommits = 4096 // more than one run has to do with at once
	knownDiffs   = 1024
	longDiff     = 256 // paths; a longer one is found again
)

// known remembers what never changes: commits by id, and the paths in which two trees differ. It is bounded, and safe
// for concurrent use.
type known struct {
	mu      sync.Mutex // guards what follows
	commits map[string]object
	diffs   map[[2]string][]string
}

func newKnown() *known {
	return &known{commits: map[string]object{}, diffs: map[[2]string][]string{}}
}

func (k *known) commit(id string) (object, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.commits[id]
	o.parents = slices.Clone(o.parents)
	return o, ok
}

func (k *known) learn(id string, o object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.commits) >= knownCommits {
		clear(k.commits)
	}
	o.parents = slices.Clone(o.parents)
	k.commits[id] = o
}

// trees are the trees of commits where they are known; else what was given.
func (k *known) trees(ids ...string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := slices.Clone(ids)
	for i, id := range ids {
		if o, ok := k.commits[id]; ok {
			out[i] = o.tree
		}
	}
	return out
}

func (k *known) diff(from, to string) ([]string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	files, ok := k.diffs[[2]string{from, to}]
	return slices.Clone(files), ok
}

func (k *known) learnDiff(from, to string, files []string) {
	if len(files) > longDiff {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.diffs) >= knownDiffs {
		clear(k.diffs)
	}
	k.diffs[[2]string{from, to}] = slices.Clone(files)
}
