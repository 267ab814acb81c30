package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"colony/guard/sandbox"
)

// A place outside is seen where the job's files lead to it, and cannot be written there. Contract 73.
func TestABoundPlaceIsSeenReadOnly(t *testing.T) {
	eachWithBinds(t, testABoundPlaceIsSeenReadOnly)
}

func testABoundPlaceIsSeenReadOnly(t *testing.T, w world) {
	next := filepath.Join(w.home, "src", "next")
	put(t, next+"/data", "from next door")
	s := w.open(t, "workspace")
	j := w.sh("cat ../../next/data; echo x > ../../next/data; echo $?; touch ../../next/new; ls ../../..; ls ../..")
	j.Bound = []sandbox.Bind{{At: filepath.Join(w.work, "../../next"), From: next}}
	_, out := run(t, s, j)
	if want := "from next door"; len(out) < len(want) || out[:len(want)] != want {
		t.Errorf("got %q", out)
	}
	if data, err := os.ReadFile(next + "/data"); err != nil || string(data) != "from next door" {
		t.Errorf("it was written: %q, %v", data, err)
	}
	if _, err := os.Lstat(next + "/new"); err == nil {
		t.Error("a file was made there")
	}
	if _, err := os.Lstat(filepath.Join(w.work, "../../next")); err == nil {
		t.Error("its place was made outside the job")
	}
}

func TestABindNeverShowsWhatIsHidden(t *testing.T) {
	eachWithBinds(t, testABindNeverShowsWhatIsHidden)
}

func testABindNeverShowsWhatIsHidden(t *testing.T, w world) {
	put(t, w.home+"/link-target/x", "x")
	if err := os.Symlink(w.home+"/.ssh", w.home+"/link"); err != nil {
		t.Fatal(err)
	}
	s := w.open(t, "workspace")
	fine := filepath.Join(w.work, "../../next")
	cases := map[string]sandbox.Bind{
		"a secret":            {fine, w.home + "/.ssh"},
		"in a secret":         {fine, w.home + "/.ssh/id_ed25519"},
		"what holds a secret": {fine, w.home},
		"all":                 {fine, "/"},
		"colony's state":      {fine, w.state},
		"a link":              {fine, w.home + "/link"},
		"processes":           {fine, "/proc"},
		"over the worktree":   {w.work, w.home + "/link-target"},
		"over what holds it":  {filepath.Dir(w.work), w.home + "/link-target"},
		"in the worktree":     {w.work + "/sub", w.home + "/link-target"},
		"in colony's git":     {w.state + "/repos/r1/git/objects", w.home + "/link-target"},
		"relative":            {"next", w.home + "/link-target"},
		"not clean":           {w.work + "/../../next", w.home + "/link-target"},
		"what is not there":   {fine, w.home + "/gone"},
	}
	for name, b := range cases {
		j := w.sh("true")
		j.Bound = []sandbox.Bind{b}
		if _, err := s.Run(context.Background(), j); err == nil {
			t.Errorf("%s: bound", name)
		}
	}
}
