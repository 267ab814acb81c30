package toolstest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// plant writes the files below root.
func plant(t *testing.T, root string, tree map[string]string) {
	t.Helper()
	for path, content := range tree {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot is each path below root with its mode and content, or where a link points.
func snapshot(t *testing.T, root string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		state := []byte(fmt.Sprint(info.Mode(), " ", info.ModTime().UnixNano(), "\n"))
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			state = append(state, content...)
		}
		if target, err := os.Readlink(path); err == nil {
			state = append(state, target...)
		}
		out[path] = state
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
