// Package trust remembers which files of a repository its user has said yes to, each by its content: a file that changed
// is not trusted.
package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	fileName  = "trust.json"
	format    = 1
	sizeLimit = 8 << 20
)

var sum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Grant is one yes: what the user trusts at Path, by the hash of its content.
type Grant struct {
	Path   string    `json:"path"`
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"`
}

// Store is the user's list of grants. It is safe for concurrent use, also by several processes: each call reads the file
// as it is.
type Store struct {
	dir string
}

type document struct {
	Format int     `json:"format"`
	Grants []Grant `json:"grants"`
}

// Open returns the store in dir, which the first grant makes where it is missing. dir is the user's config directory, never a
// place in a repository. A store that cannot be read is an error: nothing in it would be trusted.
func Open(dir string) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("open trust store: directory %q is not absolute", dir)
	}
	s := &Store{dir: dir}
	if _, err := s.load(); err != nil {
		return nil, err
	}
	return s, nil
}

// Trusted says whether the user trusts what is at path with exactly this content. Where the store cannot be read nothing
// is trusted.
func (s *Store) Trusted(path, sha256 string) bool {
	grants, err := s.load()
	return err == nil && slices.ContainsFunc(grants, func(g Grant) bool { return g.Path == path && g.SHA256 == sha256 })
}

// Trust records that the user trusts this content at path. Earlier contents of path stay trusted until Revoke: branches
// of one repository differ.
func (s *Store) Trust(path, sha256 string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("trust %q: path is not absolute and clean", path)
	}
	if !sum.MatchString(sha256) {
		return fmt.Errorf("trust %s: %q is no sha256", path, sha256)
	}
	return s.change(func(grants []Grant) []Grant {
		grants = slices.DeleteFunc(grants, func(g Grant) bool { return g.Path == path && g.SHA256 == sha256 })
		return append(grants, Grant{Path: path, SHA256: sha256, Time: time.Now().UTC()})
	})
}

// Revoke forgets every grant of path and says whether there was one.
func (s *Store) Revoke(path string) (bool, error) {
	found := false
	err := s.change(func(grants []Grant) []Grant {
		return slices.DeleteFunc(grants, func(g Grant) bool {
			found = found || g.Path == path
			return g.Path == path
		})
	})
	return found, err
}

// List returns all grants, by path and then by time.
func (s *Store) List() ([]Grant, error) {
	grants, err := s.load()
	slices.SortFunc(grants, func(a, b Grant) int {
		if d := strings.Compare(a.Path, b.Path); d != 0 {
			return d
		}
		return a.Time.Compare(b.Time)
	})
	return grants, err
}

func (s *Store) load() ([]Grant, error) {
	path := filepath.Join(s.dir, fileName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read trust store: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || info.Size() > sizeLimit {
		return nil, fmt.Errorf("read trust store: %s is not a file that only you write; move it away and trust again", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read trust store: %w", err)
	}
	return parse(path, data)
}

func parse(path string, data []byte) ([]Grant, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("read trust store %s: %w; move it away and trust again", path, err)
	}
	if d.Format != format {
		return nil, fmt.Errorf("read trust store %s: format %d is not known to this colony", path, d.Format)
	}
	return d.Grants, nil
}
