//go:build failpoints

package repo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/repo"
)

// passed are the points that an unhindered run passes, each with how often.
func passed(t *testing.T) map[string]int {
	t.Helper()
	dir := fresh(t, map[string]string{"a": "a\n"})
	trace := filepath.Join(t.TempDir(), "trace")
	if said, _ := acted(t, dir, filepath.Join(t.TempDir(), "state"), "COLONY_FAILPOINT_TRACE="+trace); said != "wrote one\nwrote two\n" {
		t.Fatalf("said %q", said)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, name := range strings.Fields(string(data)) {
		count[name]++
	}
	return count
}

// Killed, or refused by the disk, before and after each change of refs, worktrees and files: the user's checkout is as it was,
// what an ant wrote is on the branch, under a kept ref or in its worktree, and the run goes on.
func TestNothingIsLostAtAnyPoint(t *testing.T) {
	for name, times := range passed(t) {
		for hit := 1; hit <= times; hit++ {
			for _, how := range []string{"", ":eio", ":enospc"} {
				point := fmt.Sprintf("%s:%d%s", name, hit, how)
				t.Run(point, func(t *testing.T) {
					dir := fresh(t, map[string]string{"a": "a\n"})
					write(t, dir, "mine", "not committed\n")
					state := filepath.Join(t.TempDir(), "state")
					before := picture(t, dir)
					said, killed := acted(t, dir, state, "COLONY_FAILPOINT="+point)
					if killed != (how == "") {
						t.Fatalf("killed: %v", killed)
					}
					goesOn(t, dir, state, said)
					if after := picture(t, dir); after != before {
						t.Error(differ(before, after))
					}
				})
			}
		}
	}
}

// goesOn takes the run up, looks for what the dead one wrote, and lands something more.
func goesOn(t *testing.T, dir, state, said string) {
	t.Helper()
	base := git(t, dir, "rev-parse", "main")
	r := openAt(t, dir, state, "r1")
	head := base
	if _, err := gitMay(dir, "rev-parse", "--verify", "--quiet", r.Branch()); err != nil {
		if err := r.Start(t.Context(), base); err != nil {
			t.Fatal(err)
		}
	} else {
		landed, err := r.Resume(t.Context(), base, base)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range landed {
			head = l[0]
		}
	}
	if _, err := r.Rescue(t.Context(), func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(strings.ReplaceAll(said, "wrote ", "")) {
		if !found(t, dir, r, name) {
			t.Errorf("%s is lost; refs:\n%s", name, git(t, dir, "for-each-ref"))
		}
	}
	head = land(t, r, head, work(t, r, "more", head, "more", "more\n").SHA)
	if got := git(t, dir, "rev-parse", r.Branch()); got != head {
		t.Errorf("the branch is at %s", got)
	}
	ended(t, r)
	git(t, dir, "fsck", "--strict", "--no-dangling")
	git(t, dir, "--git-dir="+filepath.Join(state, "git"), "fsck", "--no-dangling")
}

// found reports whether a file is on the run's branch, under its kept ref, or in its worktree.
func found(t *testing.T, dir string, r *repo.Repo, name string) bool {
	t.Helper()
	for _, ref := range []string{r.Branch(), r.KeptRef(name)} {
		if text, err := gitMay(dir, "show", ref+":"+name); err == nil && text == name {
			return true
		}
	}
	data, err := os.ReadFile(filepath.Join(r.Place(name), name))
	return err == nil && string(data) == name
}
