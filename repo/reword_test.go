package repo_test

import "testing"

// A reworded commit has the same tree and parent; its body stands before the trailers.
func TestReword(t *testing.T) {
	dir := fresh(t, map[string]string{"f.txt": "a\n"})
	r, base := started(t, dir)
	one := work(t, r, "one", base, "f.txt", "b\n")
	at, err := r.Reword(t.Context(), one.SHA, " Why it is so.\x00\n")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := r.Reword(t.Context(), one.SHA, "  "); err != nil || same != one.SHA {
		t.Errorf("an empty body: %s, %v", same, err)
	}
	if _, err := r.Reword(t.Context(), "--x", "y"); err == nil {
		t.Error("what is no commit was reworded")
	}
	land(t, r, base, at)
	if got := git(t, dir, "log", "-1", "--format=%T %P|%B%(trailers:key=Colony-Run,valueonly)", r.Branch()); got != one.Tree+" "+base+"|one\n\nWhy it is so.\n\nColony-Run: r1\nr1" {
		t.Errorf("%q", got)
	}
}
