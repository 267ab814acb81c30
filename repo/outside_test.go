package repo_test

import (
	"os"
	"path/filepath"
	"testing"

	"colony/repo"
)

func TestPathsOutOfTheRepository(t *testing.T) {
	dir := fresh(t, map[string]string{
		"go.work":    "go 1.26\n\nuse (\n\t.\n\t./sub // inside\n\t../next\n)\nreplace example.test/x v1.2.3 => ../gone\n",
		"go.mod":     "module m\n\nreplace example.test/y => ./sub\nreplace (\n\texample.test/z => \"../next\"\n\texample.test/w => example.test/v v1.0.0\n)\n",
		"sub/go.mod": "module s\nreplace example.test/u => ../../next/deep\nrequire ../next v1\n", "a": "a",
	})
	next := filepath.Join(filepath.Dir(dir), "next")
	write(t, next, "deep/x", "x")
	for name, to := range map[string]string{"sub/up": "../../next/deep/x", "in": "a", "null": "/dev/null", "dangling": "../nothing", "round": "../" + filepath.Base(dir) + "/a"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "links")
	r, _ := started(t, dir)
	got := map[string]string{}
	for _, o := range r.Outside() {
		got[o.Path] = o.Via + " " + o.From
	}
	want := map[string]string{
		"../next":                         "go.mod " + next,
		"../next/deep":                    "sub/go.mod " + filepath.Join(next, "deep"),
		"../next/deep/x":                  "sub/up " + filepath.Join(next, "deep/x"),
		"/dev/null":                       "null /dev/null",
		"../" + filepath.Base(dir) + "/a": "round " + filepath.Join(dir, "a"),
	}
	for path, w := range want {
		if got[path] != w {
			t.Errorf("%s: %q, want %q", path, got[path], w)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("more: %v", got)
	}
}

// Whatever a go.mod says, what comes of it is a path that is there, and none inside the repository.
func FuzzOutside(f *testing.F) {
	for _, seed := range []string{"use ../x", "use (\n../x\n)", "replace a => ../x", "replace (\na v1 => `../..`\n", ")", "use /etc", "use \x00", "use ("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range repo.GoPaths(text) {
			if path == "" || !(path == "." || path == ".." || filepath.IsAbs(path) || path[0] == '.') {
				t.Errorf("%q gives %q", text, path)
			}
		}
	})
}
