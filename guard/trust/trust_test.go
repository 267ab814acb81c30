package trust_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"colony/guard/trust"
)

func open(t *testing.T, dir string) *trust.Store {
	t.Helper()
	s, err := trust.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sumOf(text string) string { return trust.Hash(trust.File{Name: "f", Data: []byte(text)}) }

// contract 52
func TestOnlyTheSameContentAtTheSamePathIsTrusted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "colony")
	s := open(t, dir)
	if err := s.Trust("/repo/.colony/config.yaml", sumOf("a")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, sum string
		want      bool
	}{
		{"/repo/.colony/config.yaml", sumOf("a"), true},
		{"/repo/.colony/config.yaml", sumOf("b"), false},
		{"/other/.colony/config.yaml", sumOf("a"), false},
		{"/repo/.colony/config.yaml", "", false},
	} {
		if got := open(t, dir).Trusted(c.path, c.sum); got != c.want {
			t.Errorf("Trusted(%s, %.8s) = %v, want %v", c.path, c.sum, got, c.want)
		}
	}
	found, err := s.Revoke("/repo/.colony/config.yaml")
	if err != nil || !found || s.Trusted("/repo/.colony/config.yaml", sumOf("a")) {
		t.Errorf("revoke: found %v, err %v, or still trusted", found, err)
	}
	if found, err := s.Revoke("/repo/.colony/config.yaml"); err != nil || found {
		t.Errorf("second revoke: found %v, err %v", found, err)
	}
}

func TestTrustRefusesWhatIsNoPathOrHash(t *testing.T) {
	s := open(t, t.TempDir())
	for _, c := range [][2]string{{"rel", sumOf("a")}, {"/a/../b", sumOf("a")}, {"/a", ""}, {"/a", strings.Repeat("G", 64)}} {
		if err := s.Trust(c[0], c[1]); err == nil {
			t.Errorf("Trust(%q, %q) was accepted", c[0], c[1])
		}
	}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("list = %v, %v", list, err)
	}
}

func TestStoreIsTheUsersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "colony")
	s := open(t, dir)
	if err := s.Trust("/a", sumOf("a")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "trust.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	write := func(text string) func() error { return func() error { return os.WriteFile(path, []byte(text), 0o600) } }
	for _, c := range []struct {
		name   string
		damage func() error
	}{
		{"writable by others", func() error { return os.Chmod(path, 0o666) }},
		{"cut", func() error { return errors.Join(os.Chmod(path, 0o600), write("{")()) }},
		{"newer format", write(`{"format":2,"grants":[]}`)},
		{"a link", func() error { return errors.Join(os.Remove(path), os.Symlink("/dev/null", path)) }},
	} {
		if err := c.damage(); err != nil {
			t.Fatal(err)
		}
		refuses(t, s, dir, c.name)
	}
}

// refuses checks that a damaged store trusts nothing, says so, and is not overwritten.
func refuses(t *testing.T, s *trust.Store, dir, damage string) {
	t.Helper()
	if _, err := trust.Open(dir); err == nil {
		t.Errorf("%s: opened", damage)
	}
	if s.Trusted("/a", sumOf("a")) {
		t.Errorf("%s: still trusted", damage)
	}
	if err := s.Trust("/b", sumOf("b")); err == nil {
		t.Errorf("%s: overwritten", damage)
	}
}

func TestWritersDoNotLoseEachOthersGrants(t *testing.T) {
	dir := t.TempDir()
	const writers = 20
	var all sync.WaitGroup
	for i := range writers {
		s := open(t, dir)
		all.Go(func() {
			if err := s.Trust("/repo/"+string(rune('a'+i)), sumOf("a")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := open(t, dir).List()
	if err != nil || len(list) != writers || list[0].Path != "/repo/a" {
		t.Errorf("%d grants, %v", len(list), err)
	}
}

func TestReadStaysInTheRepository(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	err := errors.Join(
		os.WriteFile(filepath.Join(out, "secret"), []byte("S"), 0o600),
		os.Mkdir(filepath.Join(root, "d"), 0o755),
		os.WriteFile(filepath.Join(root, "d/in"), []byte("in"), 0o644),
		os.Symlink("d/in", filepath.Join(root, "link")),
		os.Symlink(filepath.Join(out, "secret"), filepath.Join(root, "leak")),
		os.Symlink(out, filepath.Join(root, "dir")),
		os.Symlink("loop", filepath.Join(root, "loop")),
		syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	files, err := trust.Read(root, "link", "d/in", "link")
	if err != nil || len(files) != 2 || files[0].Name != "d/in" || string(files[1].Data) != "in" {
		t.Errorf("inside: %v, %v", files, err)
	}
	for _, name := range []string{"leak", "dir/secret", "../x", "/etc/passwd", "d/../d/in", "", "d", "fifo", "loop"} {
		if _, err := trust.Read(root, name); !isLeak(err) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := trust.Read(root, "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func isLeak(err error) bool {
	_, ok := errors.AsType[*trust.LeadsOutError](err)
	return ok
}

func TestHashIsOfNamesAndBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.Custom(func(t *rapid.T) trust.File {
			return trust.File{Name: rapid.StringN(1, 3, 3).Draw(t, "name"), Data: []byte(rapid.StringN(0, 3, 3).Draw(t, "data"))}
		})
		files := rapid.SliceOfNDistinct(file, 1, 4, func(f trust.File) string { return f.Name }).Draw(t, "files")
		whole := trust.Hash(files...)
		if trust.Hash(rapid.Permutation(files).Draw(t, "order")...) != whole {
			t.Fatal("order matters")
		}
		i := rapid.IntRange(0, len(files)-1).Draw(t, "at")
		changed := append([]trust.File{}, files...)
		changed[i].Data = append([]byte("x"), changed[i].Data...)
		if trust.Hash(changed...) == whole || trust.Hash(files[1:]...) == whole {
			t.Fatal("another list has the same hash")
		}
		// The border between a name and its bytes counts.
		moved := trust.File{Name: files[0].Name + "x", Data: files[0].Data}
		other := trust.File{Name: files[0].Name, Data: append([]byte("x"), files[0].Data...)}
		if trust.Hash(moved) == trust.Hash(other) {
			t.Fatal("name and bytes run together")
		}
	})
}
