package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"colony/repo"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
)

// rounds is how often something is done: few, unless COLONY_ROUNDS asks for more.
func rounds(t *testing.T, few int) int {
	t.Helper()
	asked := os.Getenv("COLONY_ROUNDS")
	if asked == "" {
		return few
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tracking is a user's repository whose branch tracks a remote's, as after a clone.
func tracking(t *testing.T) string {
	t.Helper()
	from := fresh(t, map[string]string{"a": "a\n", "d/b": "b\n"})
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, from, "clone", "-q", from, dir)
	git(t, dir, "config", "branch.autoSetupMerge", "always")
	git(t, dir, "config", "user.name", "Ada L")
	git(t, dir, "config", "user.email", "ada@example.org")
	return dir
}

// WT01, R7: ants that are hatched at once get their worktrees and commit there, round after round, without an error; and
// nothing is left but the run's own refs, which go with clean-up.
func TestHatchedAtOnce(t *testing.T) {
	for _, ants := range []int{16, 32, 64} {
		t.Run(strconv.Itoa(ants), func(t *testing.T) {
			dir, state := tracking(t), filepath.Join(t.TempDir(), "state")
			heads := git(t, dir, "for-each-ref")
			r := openAt(t, dir, state, "r1")
			base := git(t, dir, "rev-parse", "HEAD")
			if err := r.Start(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			n := rounds(t, 1)
			for round := range n {
				all := pool.New().WithErrors()
				for i := range ants {
					all.Go(func() error { return hatch(t, r, strconv.Itoa(round)+"-"+strconv.Itoa(i), base) })
				}
				if err := all.Wait(); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
			if got := git(t, dir, "for-each-ref", "--format=%(refname)", "refs/heads/colony", "refs/colony"); got != "refs/colony/r1/base\nrefs/heads/colony/r1" {
				t.Errorf("refs: %s", got)
			}
			ended(t, r)
			landed := git(t, dir, "--git-dir="+filepath.Join(state, "git"), "for-each-ref", "--format=%(objectname)", "refs/colony")
			if got := strings.Count(landed, "\n") + 1; got != ants*n {
				t.Errorf("%d commits of %d are held", got, ants*n)
			}
			for thing, why := range clean(t, dir, state, "r1", strings.Fields(landed)...) {
				if why != "" {
					t.Errorf("%s is kept: %s", thing, why)
				}
			}
			if got := git(t, dir, "for-each-ref"); got != heads {
				t.Errorf("refs after: %s", got)
			}
			if left := git(t, dir, "--git-dir="+filepath.Join(state, "git"), "for-each-ref"); left != "" {
				t.Errorf("orphan refs: %s", left)
			}
		})
	}
}

// hatch is what an ant's worktree goes through.
func hatch(t *testing.T, r *repo.Repo, name, base string) error {
	tree, err := r.Worktree(t.Context(), name, base)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree.Dir, name), []byte(name), 0o600); err != nil {
		return err
	}
	made, err := tree.Commit(t.Context(), repo.Message{Subject: name})
	if err == nil && len(made.Files) != 1 {
		err = errors.New("the commit has other files")
	}
	return errors.Join(err, tree.Remove(t.Context()))
}

// WT06, R7: two colonies with 8 ants each, run after run, and a user who commits, packs and branches meanwhile: no commit of
// anybody's is lost, and neither colony touches what is the other's.
func TestTwoColoniesAndACommittingUser(t *testing.T) {
	dir, state := tracking(t), filepath.Join(t.TempDir(), "state")
	base := git(t, dir, "rev-parse", "HEAD")
	n := rounds(t, 3)
	over := make(chan struct{})
	var colonies, user conc.WaitGroup
	for _, name := range []string{"left", "right"} {
		colonies.Go(func() {
			for round := range n {
				if err := wholeRun(t, dir, state, name+"-"+strconv.Itoa(round), base); err != nil {
					t.Errorf("%s, round %d: %v", name, round, err)
					return
				}
			}
		})
	}
	commits := 0
	user.Go(func() {
		for going := true; going || commits < 5; commits++ {
			write(t, dir, "mine", strconv.Itoa(commits))
			git(t, dir, "add", "mine")
			git(t, dir, "commit", "-q", "-m", "user")
			git(t, dir, "branch", "-f", "side")
			git(t, dir, "pack-refs", "--all")
			select {
			case <-over:
				going = false
			default:
			}
		}
	})
	colonies.Wait()
	close(over)
	user.Wait()
	if got := git(t, dir, "rev-list", "--count", base+"..main"); got != strconv.Itoa(commits) {
		t.Errorf("the user made %d commits and has %s", commits, got)
	}
	for _, name := range []string{"left", "right"} {
		for round := range n {
			run := name + "-" + strconv.Itoa(round)
			if got := git(t, dir, "rev-list", "--count", base+"..colony/"+run) + git(t, dir, "show", "refs/colony/"+run+"/kept/t:kept"); got != "8"+run {
				t.Errorf("%s has %s", run, got)
			}
		}
	}
	git(t, dir, "fsck", "--no-dangling")
	t.Logf("%d runs beside %d commits of the user", 2*n, commits)
}

// wholeRun lands the work of 8 ants that are at work at once, and keeps that of a ninth.
func wholeRun(t *testing.T, dir, state, run, base string) error {
	r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: state, Run: run})
	if err == nil {
		err = r.Start(t.Context(), base)
	}
	if err != nil {
		return err
	}
	made := pool.NewWithResults[string]().WithErrors()
	for i := range 8 {
		made.Go(func() (string, error) {
			tree, err := r.Worktree(t.Context(), "w"+strconv.Itoa(i), base)
			if err != nil {
				return "", err
			}
			if err := os.WriteFile(filepath.Join(tree.Dir, tree.Base[:4]+strconv.Itoa(i)), []byte(run), 0o600); err != nil {
				return "", err
			}
			c, err := tree.Commit(t.Context(), repo.Message{Subject: run})
			return c.SHA, err
		})
	}
	all, err := made.Wait()
	for head := base; err == nil && len(all) > 0; all = all[1:] {
		head, err = landOn(t, r, head, all[0])
	}
	if err != nil {
		return err
	}
	last, err := r.Worktree(t.Context(), "kept", base)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(last.Dir, "kept"), []byte(run), 0o600); err != nil {
		return err
	}
	if _, err := last.Keep(t.Context(), r.KeptRef("t")); err != nil {
		return err
	}
	held, err := r.Close(t.Context())
	if len(held) > 0 {
		err = errors.Join(err, errors.New("a worktree was left"))
	}
	return err
}

func landOn(t *testing.T, r *repo.Repo, head, work string) (string, error) {
	c, conflict, err := r.Stage(t.Context(), head, work)
	if err != nil || conflict != nil {
		return "", errors.Join(err, errors.New("it does not join"))
	}
	moved, err := r.Advance(t.Context(), r.Branch(), head, c.Commit)
	if err == nil && !moved {
		err = errors.New("somebody else moved the branch")
	}
	return c.Commit, err
}
