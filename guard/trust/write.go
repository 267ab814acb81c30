package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// change rewrites the grants while no other process does. A reader sees the old list or the new one.
func (s *Store) change(to func([]Grant) []Grant) (err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the trust store: %w", err)
	}
	unlock, err := lock(filepath.Join(s.dir, fileName+".lock"))
	if err != nil {
		return fmt.Errorf("lock trust store: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	grants, err := s.load()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(document{Format: format, Grants: to(grants)}, "", "  ")
	if err != nil {
		return fmt.Errorf("write trust store: %w", err)
	}
	if err := replace(s.dir, append(data, '\n')); err != nil {
		return fmt.Errorf("write trust store: %w", err)
	}
	return nil
}

// replace puts data in the place of the store's file: temp, sync, rename, sync. A temporary file has mode 0600.
func replace(dir string, data []byte) error {
	f, err := os.CreateTemp(dir, fileName+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, fileName)); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
