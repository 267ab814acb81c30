package trust_test

import (
	"os"
	"path/filepath"
	"testing"

	"colony/guard/trust"
)

// FuzzStore holds that whatever stands in the file, reading it ends, and what is listed is exactly what is trusted.
func FuzzStore(f *testing.F) {
	f.Add([]byte(`{"format":1,"grants":[{"path":"/a","sha256":"00","time":"2026-01-02T03:04:05Z"}]}`))
	f.Add([]byte(`{"format":1,"grants":null}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "trust.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := trust.Open(dir)
		if err != nil {
			return
		}
		grants, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range grants {
			if !s.Trusted(g.Path, g.SHA256) {
				t.Fatalf("listed but not trusted: %+v", g)
			}
		}
	})
}
