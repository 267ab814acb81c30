package queen_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"colony/event"
	"colony/ledger"
	"colony/plan"
	"colony/queen"
	"colony/repo"
)

// git runs git as the user would.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@x"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// contract 63 on a real repository: two ants change one line; the second comes back, sees both and lands;
// no marker lands and the gate ran on each combined tree.
func TestTwoAntsOnOneLineOfARealRepository(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("top\nline\nend\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "start")
	r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: filepath.Join(t.TempDir(), "s"), Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	base, _ := r.Resolve(t.Context(), "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	var began sync.WaitGroup
	began.Add(2)
	w.ant = func(ctx context.Context, o queen.Order) (queen.Outcome, error) {
		tree, err := r.Worktree(ctx, o.Ant+"."+o.Task+strings.Repeat("x", o.Attempt), o.Base)
		if err != nil {
			return queen.Outcome{}, err
		}
		if o.Attempt == 1 {
			began.Done()
			began.Wait() // both begin at the base
		}
		was, _ := os.ReadFile(filepath.Join(tree.Dir, "f"))
		text := bytes.Replace(was, []byte("line"), []byte(o.Task), 1)
		if o.Kind == "conflict" && bytes.Contains(was, []byte("<<<<<<< ")) {
			text = []byte("top\na and b\nend\n")
		}
		if err := os.WriteFile(filepath.Join(tree.Dir, "f"), text, 0o644); err != nil {
			return queen.Outcome{}, err
		}
		made, err := tree.Commit(ctx, repo.Message{Subject: o.Task})
		return queen.Outcome{Reason: queen.Done, Commit: made.SHA, Tree: made.Tree, Files: made.Files}, err
	}
	var seen []string
	parts := w.parts(tasks(task("a"), task("b")), "no marker")
	parts.Repo, parts.Base, parts.Branch, parts.Kept = r, base, r.Branch(), r.KeptRef
	parts.Caps = func(plan.Task) ledger.Caps { return ledger.Caps{} }
	parts.Gate = func(_ context.Context, dir string, _ plan.Gate) (event.GateReceipt, error) {
		data, err := os.ReadFile(filepath.Join(dir, "f"))
		seen = append(seen, string(data))
		if bytes.Contains(data, []byte("<<<<")) {
			return event.GateReceipt{Exit: 1}, err
		}
		return event.GateReceipt{}, err
	}
	f := run(t, t.Context(), parts)
	if f.Exit != 0 || f.Tasks[0].Attempts+f.Tasks[1].Attempts != 3 || git(t, dir, "rev-parse", "colony/r1") != f.Commit {
		t.Errorf("%+v", f)
	}
	if got := git(t, dir, "show", "colony/r1:f"); got != "top\na and b\nend" {
		t.Errorf("landed %q", got)
	}
	if len(seen) != 3 || seen[0] != "top\nline\nend\n" || seen[2] != "top\na and b\nend\n" {
		t.Errorf("the gate saw %q", seen)
	}
}
