package repo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"colony/repo"

	"pgregory.net/rapid"
)

// Law 9, WT05: whatever a repository and its checkout hold, and whatever a run does, in whatever order: the user's checkout,
// index, configuration, hooks and refs are as they were, byte for byte. Only objects and refs of colony's come.
func TestNothingOfTheUsersChanges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := randomRepository(t, rt)
		state := filepath.Join(t.TempDir(), "state")
		before, refs := picture(t, dir), git(t, dir, "for-each-ref")
		w := &user{t: t, rt: rt, dir: dir, state: state}
		w.begin("r0", false)
		for range rapid.IntRange(3, 12).Draw(rt, "actions") {
			w.act()
		}
		if after := picture(t, dir); after != before {
			rt.Fatal(differ(before, after))
		}
		for _, run := range w.runs {
			clean(t, dir, state, run)
		}
		git(t, dir, "fsck", "--no-dangling")
		for _, ref := range []string{"refs/heads/colony", "refs/colony"} {
			for line := range lineSeq(git(t, dir, "for-each-ref", "--format=%(refname)", ref)) {
				git(t, dir, "update-ref", "-d", line)
			}
		}
		if after := git(t, dir, "for-each-ref"); after != refs {
			rt.Fatal(differ(refs, after))
		}
	})
}

// randomRepository has commits, branches, and a checkout amid work of all kinds.
func randomRepository(t *testing.T, rt *rapid.T) string {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b b", "d/c", "d/é", "q\"uote", "line\nbreak", "-dash", "e/f/g", ".env", ":(top)x"}), 2, 8, rapid.ID[string]).Draw(rt, "files")
	files := map[string]string{".gitignore": "*.log\nout/\n"}
	for _, name := range names {
		files[name] = rapid.SampledFrom([]string{"", "1\n", "1\r\n2\n", "\x00\xff", lines(20)}).Draw(rt, "text")
	}
	dir := fresh(t, files)
	does := map[string]func(name string){
		"change": func(name string) { write(t, dir, name, "changed\n") },
		"stage": func(name string) {
			write(t, dir, name, "staged\n")
			git(t, dir, "--literal-pathspecs", "add", "--", name)
		},
		"delete":  func(name string) { os.Remove(filepath.Join(dir, name)) },
		"add":     func(name string) { write(t, dir, name+".new", "new\n") },
		"ignored": func(name string) { write(t, dir, name+".log", "ignored\n") },
		"mode":    func(name string) { os.Chmod(filepath.Join(dir, name), 0o755) },
		"link": func(name string) {
			os.Remove(filepath.Join(dir, name))
			os.Symlink("nowhere", filepath.Join(dir, name))
		},
		"branch": func(string) { git(t, dir, "branch", "-f", "other") },
		"tag":    func(string) { git(t, dir, "tag", "-f", "v1") },
		"stash":  func(string) { gitMay(dir, "stash", "-q") },
		"detach": func(string) { git(t, dir, "checkout", "-q", "--detach") },
		"commit": func(string) { git(t, dir, "commit", "-q", "--allow-empty", "-m", "more") },
		"pack":   func(string) { git(t, dir, "gc", "-q") },
		"config": func(name string) { git(t, dir, "config", "colony.x", name) },
		"hook":   func(string) { write(t, dir, ".git/hooks/post-checkout", "#!/bin/sh\nexit 1\n") },
	}
	for range rapid.IntRange(0, 10).Draw(rt, "works") {
		does[rapid.SampledFrom(keys(does)).Draw(rt, "work")](rapid.SampledFrom(names).Draw(rt, "on"))
	}
	return dir
}

// user has runs on a repository, one after the other.
type user struct {
	t          *testing.T
	rt         *rapid.T
	dir, state string
	runs       []string
	r          *repo.Repo
	base, head string
	trees      []*repo.Tree
	made       []string
}

func (u *user) begin(run string, dirty bool) {
	u.r = openAt(u.t, u.dir, u.state, run)
	base, err := u.r.Resolve(u.t.Context(), "HEAD")
	if err == nil && dirty {
		base, _, err = u.r.TakeDirty(u.t.Context())
	}
	if err == nil {
		err = u.r.Start(u.t.Context(), base)
	}
	if err != nil {
		u.rt.Fatal(err)
	}
	u.base, u.head, u.trees, u.made = base, base, nil, nil
	u.runs = append(u.runs, run)
}

// act does one thing that colony does with a repository.
func (u *user) act() {
	ctx, t := u.t.Context(), u.t
	does := map[string]func() error{
		"next run": func() error {
			if _, err := u.r.Close(ctx); err != nil {
				return err
			}
			u.begin(fmt.Sprint("r", len(u.runs)), rapid.Bool().Draw(u.rt, "dirty"))
			return nil
		},
		"worktree": func() error {
			tree, err := u.r.Worktree(ctx, fmt.Sprint("w", len(u.trees)), rapid.SampledFrom([]string{u.base, u.head}).Draw(u.rt, "at"))
			u.trees = append(u.trees, tree)
			return err
		},
		"commit": func() error { return u.commit() },
		"land": func() error {
			if len(u.made) == 0 {
				return nil
			}
			c, conflict, err := u.r.Stage(ctx, u.head, rapid.SampledFrom(u.made).Draw(u.rt, "work"))
			if err != nil || conflict != nil || c.Empty {
				return err
			}
			if _, err = u.r.Advance(ctx, u.r.Branch(), u.head, c.Commit); err == nil {
				u.head = c.Commit
			}
			return err
		},
		"gate": func() error {
			out, err := u.r.Checkout(ctx, u.head)
			if err != nil {
				return err
			}
			write(t, out.Dir, "built", "x")
			return out.Remove()
		},
		"cut": func() error {
			cut, stop := context.WithCancel(ctx)
			stop()
			if _, err := u.r.Worktree(cut, "cut", u.base); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("a worktree after the end: %w", err)
			}
			return nil
		},
		"keep": func() error {
			if len(u.trees) == 0 {
				return nil
			}
			_, err := rapid.SampledFrom(u.trees).Draw(u.rt, "tree").Keep(ctx, u.r.KeptRef("t"))
			return err
		},
		"look":   func() error { _, err := u.r.Dirty(ctx); return err },
		"diff":   func() error { _, _, err := u.r.Diff(ctx, u.base, u.head); return err },
		"rebase": func() error { _, _, err := u.r.Rebase(ctx, u.base, u.base, u.head); return err },
	}
	what := rapid.SampledFrom(keys(does)).Draw(u.rt, "action")
	if err := does[what](); err != nil {
		u.rt.Fatalf("%s: %v", what, err)
	}
}

func (u *user) commit() error {
	if len(u.trees) == 0 {
		return nil
	}
	tree := rapid.SampledFrom(u.trees).Draw(u.rt, "tree")
	write(u.t, tree.Dir, rapid.SampledFrom([]string{"a.txt", "n/n", "o p"}).Draw(u.rt, "file"), rapid.SampledFrom([]string{"1", "2", "3"}).Draw(u.rt, "text"))
	write(u.t, tree.Dir, "left.log", "ignored\n")
	made, err := tree.Commit(u.t.Context(), repo.Message{Subject: "work"})
	if err == nil && !made.Empty {
		u.made = append(u.made, made.SHA)
	}
	return err
}
