package hatch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"colony/ledger"
)

// Taken is what became of one run of an import: new, longer (more of it was known than before), other (it went on elsewhere
// too: what that cost was added) or known.
type Taken struct {
	Run     string `json:"run"`
	Outcome string `json:"outcome"`
	Events  int    `json:"events"` // that were not known
}

// Import takes the runs of an export in. What is known already, of an import or of a log here, is not taken in twice:
// events are told apart by their ids, and so attempts of requests.
func (h *House) Import(ctx context.Context, r io.Reader) ([]Taken, error) {
	parts, err := ledger.ParseExport(r)
	if err != nil {
		return nil, &Problem{Exit: 2, Code: "bad_export", Message: fmt.Sprintf("this is no whole export of a ledger: %v", err), Next: "make it again with colony ledger export"}
	}
	if err := os.MkdirAll(h.ledgers(), 0o700); err != nil {
		return nil, err
	}
	out := []Taken{}
	for _, part := range parts {
		one, err := h.take(ctx, part)
		if err != nil {
			return out, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (h *House) take(ctx context.Context, x ledger.Exported) (Taken, error) {
	taken := Taken{Run: x.Run.ID, Outcome: "known"}
	stored, err := h.storedIDs(x)
	if err != nil {
		return taken, err
	}
	local, err := h.localIDs(ctx, x.Run)
	if err != nil {
		return taken, err
	}
	ids := x.IDs()
	missing := 0 // of what is stored or here, in this one
	have := map[string]bool{}
	for _, id := range ids {
		have[id] = true
		if !stored[id] && !local[id] {
			taken.Events++
		}
	}
	for id := range stored {
		if !have[id] {
			missing++
		}
	}
	switch {
	case taken.Events == 0:
		return taken, nil
	case len(local) == 0 && missing == 0:
		taken.Outcome = "new"
		if len(stored) > 0 {
			taken.Outcome = "longer"
		}
		return taken, h.store(x.Run, x.Text())
	}
	for id := range local {
		stored[id] = true
	}
	rest, charges := x.Without(stored)
	if taken.Outcome = "other"; charges == 0 {
		taken.Outcome = "known"
		return taken, nil
	}
	return taken, h.store(rest.Run, rest.Text())
}

// storedIDs are the events of a run that imports before brought, whole or in part.
func (h *House) storedIDs(x ledger.Exported) (map[string]bool, error) {
	ids := map[string]bool{}
	files, err := h.stored(storedName(x.Run.ID, x.Run.Birth))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		parts, err := ledger.ParseExport(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for _, p := range parts {
			for _, id := range p.IDs() {
				ids[id] = true
			}
		}
	}
	return ids, nil
}

// localIDs are the events of a run whose log is here.
func (h *House) localIDs(ctx context.Context, run *ledger.Run) (map[string]bool, error) {
	pasts, err := h.Everywhere()
	if err != nil {
		return nil, err
	}
	for _, p := range pasts {
		if p.ID != run.ID {
			continue
		}
		ids := map[string]bool{}
		for e, err := range p.Events(ctx) {
			if err != nil {
				return nil, err
			}
			if len(ids) == 0 && e.ID != run.Birth {
				break // another run of this name
			}
			ids[e.ID] = true
		}
		if len(ids) > 0 {
			return ids, nil
		}
	}
	return nil, nil
}

// storedName is the file of a run, and the beginning of those of its parts. No name of a run gets into a path.
func storedName(run, birth string) string {
	whole, part, _ := strings.Cut(birth, "+")
	sum := sha256.Sum256([]byte(run + "\x00" + whole))
	name := hex.EncodeToString(sum[:10])
	if part != "" {
		sum := sha256.Sum256([]byte(part))
		name += "-" + hex.EncodeToString(sum[:6])
	}
	return name
}

// store keeps an export durably under its run's name.
func (h *House) store(run *ledger.Run, text []byte) error {
	if err := os.MkdirAll(h.ledgers(), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(h.ledgers(), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(h.ledgers(), storedName(run.ID, run.Birth)+".jsonl"))
	}
	if err != nil {
		if gone := os.Remove(f.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	}
	dir, err := os.Open(h.ledgers())
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
