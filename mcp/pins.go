package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	udiff "github.com/aymanbagabas/go-udiff"

	"colony/view"
)

// Pin is what a server said of a tool when its user last saw it.
type Pin struct {
	Tool        string          `json:"tool"` // as the server calls it
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// hash is one hash over all of it.
func (p Pin) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s%d\n%s%s", len(p.Tool), p.Tool, len(p.Description), p.Description, p.Schema))
	return hex.EncodeToString(sum[:])
}

// text is the pin for people, one thing a line, with nothing hidden in it.
func (p Pin) text() string {
	schema := "no JSON"
	var v any
	if json.Unmarshal(p.Schema, &v) == nil {
		if data, err := json.MarshalIndent(visibleIn(v), "", "  "); err == nil {
			schema = string(data)
		}
	}
	return fmt.Sprintf("tool: %s\ndescription: %s\nschema: %s\n", Visible(p.Tool), Visible(p.Description), schema)
}

// diff is what the server says now, against what it said.
func (p Pin) diff(now Pin) view.Diff {
	unified := udiff.Unified("as you saw it", "as the server says it now", p.text(), now.text())
	d := view.Diff{Path: Visible(now.Tool), Unified: unified}
	for line := range strings.Lines(unified) {
		switch {
		case strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++"):
			d.Added++
		case strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---"):
			d.Removed++
		}
	}
	return d
}

// Pins keep what one server said of its tools, in a file of colony's own. They are safe for concurrent use; of two processes
// that write them the later one wins.
type Pins struct {
	file string
	mu   sync.Mutex
}

// pinFile is the form of the file.
type pinFile struct {
	Format int            `json:"format"`
	Tools  map[string]Pin `json:"tools"`
}

const (
	pinFormat = 1
	maxPins   = 64 << 20
)

// OpenPins are the pins in a file, which need not be there.
func OpenPins(file string) *Pins { return &Pins{file: file} }

// read is the pins by the names of tools. Pins that cannot be read are an error: nothing would be as it was seen.
func (p *Pins) read() (map[string]Pin, error) {
	info, err := os.Stat(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Pin{}, nil
	}
	if err != nil || info.Size() > maxPins {
		return nil, fmt.Errorf("the pins in %s cannot be read: remove the file to see the server's tools as new", p.file)
	}
	var file pinFile
	data, err := os.ReadFile(p.file)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil || file.Format != pinFormat || file.Tools == nil {
		return nil, fmt.Errorf("the pins in %s cannot be read: remove the file to see the server's tools as new", p.file)
	}
	return file.Tools, nil
}

// keep adds pins, or puts them in the place of those of the same names.
func (p *Pins) keep(pins map[string]Pin) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, err := p.read()
	if err != nil {
		return err
	}
	maps.Copy(all, pins)
	data, err := json.Marshal(pinFile{pinFormat, all})
	if err == nil {
		err = WriteFile(p.file, data)
	}
	if err != nil {
		return fmt.Errorf("keep pins: %w", err)
	}
	return nil
}

// Forget forgets all pins: the server's tools are new when they are seen next.
func (p *Pins) Forget() error {
	if err := os.Remove(p.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget pins: %w", err)
	}
	return nil
}

// WriteFile writes a file of the user's alone, which is there whole or as it was.
func WriteFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
