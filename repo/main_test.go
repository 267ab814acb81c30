package repo_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"colony/repo"
)

// TestMain is also the process that another test starts to have it killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REPO_TEST_DIR"); dir != "" {
		if err := carryOut(context.Background(), dir, os.Getenv("REPO_TEST_STATE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if checks := os.Getenv("COLONY_ROUNDS"); checks != "" {
		flag.Set("rapid.checks", checks)
	} else if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		f.Value.Set("15") // each is a repository, with some thirty gits
	}
	os.Exit(m.Run())
}

// carryOut is a run of two ants: the first lands, what the second left is kept.
func carryOut(ctx context.Context, dir, state string) error {
	r, err := repo.Open(ctx, repo.Parts{Dir: dir, State: state, Run: "r1", Git: os.Getenv("REPO_TEST_GIT")})
	if err != nil {
		return err
	}
	base, err := r.Resolve(ctx, "main")
	if err != nil {
		return err
	}
	if err := r.Start(ctx, base); err != nil {
		return err
	}
	defer spareOne(ctx, r, base)()
	for _, name := range []string{"one", "two"} {
		tree, err := r.Worktree(ctx, name, base)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(tree.Dir, name), []byte(name), 0o644); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("wrote " + name + "\n"); err != nil {
			return err
		}
		made, err := tree.Commit(ctx, repo.Message{Subject: name, Trailers: [][2]string{{"Colony-Run", "r1"}, {"Colony-Task", name}}})
		if err != nil {
			return err
		}
		if name == "two" {
			if _, err := tree.Keep(ctx, r.KeptRef(name)); err != nil {
				return err
			}
			continue
		}
		c, _, err := r.Stage(ctx, base, made.SHA)
		if err != nil {
			return err
		}
		if _, err := r.Advance(ctx, r.Branch(), base, c.Commit); err != nil {
			return err
		}
	}
	_, err = r.Close(ctx)
	return err
}

// spareOne makes a spare worktree, which the first ant takes. What it returns ends the making of others.
func spareOne(ctx context.Context, r *repo.Repo, base string) func() {
	ctx, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.Ahead(ctx, base, 1)
	}()
	for made := []string(nil); len(made) == 0; made, _ = filepath.Glob(filepath.Join(filepath.Dir(r.Place("x")), "@*", ".git")) {
		select {
		case <-over:
			return stop
		default:
			runtime.Gosched()
		}
	}
	return func() { stop(); <-over }
}

// acted is what a process of carryOut said, and whether it was killed.
func acted(t *testing.T, dir, state string, env ...string) (said string, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "REPO_TEST_DIR="+dir, "REPO_TEST_STATE="+state), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		return string(out), ok && status.Signaled()
	}
	return string(out), false
}
