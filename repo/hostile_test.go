package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"colony/repo"
)

// whole is a run with everything colony's git does.
func whole(t *testing.T, dir string) (*repo.Repo, *repo.Tree) {
	t.Helper()
	r, base := started(t, dir)
	if _, err := r.Dirty(t.Context()); err != nil {
		t.Fatal(err)
	}
	tree := worktree(t, r, "worker-1", base)
	write(t, tree.Dir, "new.go", "package new\n")
	made := commit(t, tree, "add new")
	head := land(t, r, base, made.SHA)
	second := work(t, r, "worker-2", base, "two.go", "package two\n")
	head = land(t, r, head, second.SHA)
	out, err := r.Checkout(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Remove(); err != nil {
		t.Fatal(err)
	}
	write(t, tree.Dir, "left.go", "package left\n")
	if _, err := tree.Keep(t.Context(), r.KeptRef("t1")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, tree
}

// takeOver shows, lands and cleans up a run that is on the repository: into a branch, and into the checkout.
func takeOver(t *testing.T, dir string) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	r := openAt(t, dir, state, "r2")
	base, err := r.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	head := land(t, r, base, work(t, r, "worker-1", base, "taken.go", "package taken\n").SHA)
	if _, _, err := r.Diff(t.Context(), base, head); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"side", "main"} {
		to := target(t, r, branch)
		done, conflict, err := r.Rebase(t.Context(), to.Head, base, head)
		if err != nil || conflict != nil {
			t.Fatal(conflict, err)
		}
		moved, err := r.Take(t.Context(), to, done.Commit)
		var dirty *repo.CheckoutError
		if !moved && !(branch == "main" && errors.As(err, &dirty)) { // some set-ups leave changes in the checkout
			t.Fatalf("%s: %v", branch, err)
		}
	}
	if _, err := r.Clean(t.Context(), "main", func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
}

// GT01, GT02, GT03, GT08: nothing that a repository configures is run.
func TestHostileRepositoriesStayInert(t *testing.T) {
	cases := map[string]func(t *testing.T, dir, touch string){
		"GT01 fsmonitor": func(t *testing.T, dir, touch string) { git(t, dir, "config", "core.fsmonitor", touch+"; false") },
		"GT02 filter": func(t *testing.T, dir, touch string) {
			write(t, dir, ".gitattributes", "*.txt filter=x diff=x merge=x\n")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "attributes")
			for _, key := range []string{"smudge", "clean"} {
				git(t, dir, "config", "filter.x."+key, touch+"; cat")
			}
			git(t, dir, "config", "filter.x.required", "true")
			git(t, dir, "config", "filter.y=z.process", touch)
			git(t, dir, "config", "diff.x.textconv", touch+"; cat")
			git(t, dir, "config", "diff.x.command", touch)
			git(t, dir, "config", "merge.x.driver", touch+"; false")
			write(t, dir, "a.txt", "other\n")
		},
		"GT03 hooks": func(t *testing.T, dir, touch string) {
			for _, hook := range []string{"post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change", "pre-receive", "update", "post-receive", "post-update", "commit-msg", "prepare-commit-msg", "post-merge", "post-rewrite", "pre-auto-gc"} {
				path := filepath.Join(dir, ".git", "hooks", hook)
				write(t, dir, ".git/hooks/"+hook, "#!/bin/sh\n"+touch+"\n")
				if err := os.Chmod(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		},
		"GT08 identity": func(t *testing.T, dir, touch string) {
			git(t, dir, "config", "user.email", `a"$(`+touch+`)"@x`)
			git(t, dir, "config", "user.name", "`"+touch+"`\nparent 0000")
		},
		"programs": func(t *testing.T, dir, touch string) {
			for _, key := range []string{"core.sshCommand", "core.pager", "core.editor", "gpg.program", "diff.external", "credential.helper", "core.askPass", "core.alternateRefsCommand", "uploadpack.packObjectsHook", "sequence.editor", "interactive.diffFilter", "trailer.x.command"} {
				git(t, dir, "config", key, touch+"; false")
			}
			git(t, dir, "config", "commit.gpgsign", "true")
			git(t, dir, "config", "alias.status", "!"+touch)
			git(t, dir, "config", "gc.auto", "1")
		},
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fresh(t, map[string]string{"a.txt": "a\n", "notes": "x\n"})
			git(t, dir, "branch", "side")
			mark := filepath.Join(t.TempDir(), "MARK")
			set(t, dir, "touch "+mark)
			os.Remove(mark) // the set-up itself may have fired
			before := picture(t, dir)
			whole(t, dir)
			if _, err := os.Stat(mark); err == nil {
				t.Error("the repository's program ran")
			}
			if picture(t, dir) != before {
				t.Error("the repository changed")
			}
			takeOver(t, dir)
			if _, err := os.Stat(mark); err == nil {
				t.Error("the repository's program ran when it was taken over")
			}
			git(t, dir, "-c", "core.fsmonitor=false", "fsck", "--strict", "--no-dangling")
		})
	}
}

// The environment of whoever started colony does not reach its git.
func TestGitVariablesAreScrubbed(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	other := t.TempDir()
	for _, v := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"} {
		t.Setenv(v, other)
	}
	mark := filepath.Join(other, "MARK")
	t.Setenv("GIT_SSH_COMMAND", "touch "+mark)
	t.Setenv("GIT_EXTERNAL_DIFF", "touch "+mark)
	r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: filepath.Join(other, "s"), Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	base, _ := r.Resolve(t.Context(), "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	work(t, r, "w", base, "b", "b\n")
	if entries, _ := os.ReadDir(other); len(entries) != 1 {
		t.Errorf("wrote beside the state: %v", entries)
	}
}

// An ant that rewrites its worktree's .git, or nests repositories, changes nothing but its own files.
func TestAntsCannotSteerGit(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	r, base := started(t, dir)
	tree := worktree(t, r, "w", base)
	mark := filepath.Join(t.TempDir(), "MARK")
	if err := os.Remove(filepath.Join(tree.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	git(t, tree.Dir, "init", "-q")
	git(t, tree.Dir, "config", "core.fsmonitor", "touch "+mark+"; false")
	for _, nested := range []string{"unborn", "born"} {
		git(t, tree.Dir, "init", "-q", nested)
		write(t, tree.Dir, nested+"/f", "f\n")
		git(t, filepath.Join(tree.Dir, nested), "config", "core.fsmonitor", "touch "+mark+"; false")
	}
	git(t, filepath.Join(tree.Dir, "born"), "-c", "core.fsmonitor=false", "add", "-A")
	git(t, filepath.Join(tree.Dir, "born"), "-c", "core.fsmonitor=false", "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")
	write(t, tree.Dir, "good.txt", "good\n")
	os.Remove(mark)
	made := commit(t, tree, "good")
	slices.Sort(made.Refused)
	if !slices.Equal(made.Files, []string{"good.txt"}) || !slices.Equal(made.Refused, []string{"born", "unborn"}) {
		t.Errorf("commit: %+v", made)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the worktree's configuration ran a program")
	}
	var held *repo.HeldError
	if err := tree.Remove(t.Context()); !errors.As(err, &held) {
		t.Errorf("removed repositories that are nowhere else: %v", err)
	}
}

// What a filter keeps out of the history is not committed around it; files that did not change land.
func TestFilteredFilesAreRefusedWhenChanged(t *testing.T) {
	dir := fresh(t, map[string]string{".gitattributes": "*.bin filter=lfs -text\n", "a.bin": "version https://git-lfs.github.com/spec/v1\n"})
	r, base := started(t, dir)
	tree := worktree(t, r, "w", base)
	write(t, tree.Dir, "b.txt", "b\n")
	if made := commit(t, tree, "text"); !slices.Equal(made.Files, []string{"b.txt"}) {
		t.Errorf("%+v", made)
	}
	write(t, tree.Dir, "c.bin", "raw\n")
	var refused *repo.FilterError
	if _, err := tree.Commit(t.Context(), repo.Message{Subject: "raw"}); !errors.As(err, &refused) || refused.Filter != "lfs" || !slices.Equal(refused.Files, []string{"c.bin"}) {
		t.Errorf("%v", err)
	}
}

func TestUnusualRepositoriesWork(t *testing.T) {
	odd := map[string]string{"with blank": "1", "line\nbreak": "2", "-dash": "3", "quote\"'": "4", "é/ü": "5", "tab\t": "6", ":(glob)*": "7"}
	cases := map[string]func(t *testing.T) string{
		"odd names": func(t *testing.T) string { return fresh(t, odd) },
		"shallow": func(t *testing.T) string {
			dir := fresh(t, odd)
			git(t, dir, "commit", "-q", "--allow-empty", "-m", "two")
			to := filepath.Join(t.TempDir(), "clone")
			git(t, dir, "clone", "-q", "--depth=1", "file://"+dir, to)
			return to
		},
		"linked worktree": func(t *testing.T) string {
			dir := fresh(t, odd)
			to := filepath.Join(t.TempDir(), "linked")
			git(t, dir, "worktree", "add", "-q", to)
			return to
		},
		"detached, packed": func(t *testing.T) string {
			dir := fresh(t, odd)
			git(t, dir, "checkout", "-q", "--detach")
			git(t, dir, "gc", "-q")
			return dir
		},
		"borrowed objects": func(t *testing.T) string {
			dir := fresh(t, odd)
			to := filepath.Join(t.TempDir(), "shared clone")
			git(t, dir, "clone", "-q", "--shared", dir, to)
			return to
		},
		"submodule": func(t *testing.T) string {
			dir := fresh(t, odd)
			git(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", fresh(t, odd), "lib")
			git(t, dir, "commit", "-qm", "lib")
			return dir
		},
		"sha256": func(t *testing.T) string {
			fresh(t, map[string]string{"x": "x"})
			dir := t.TempDir()
			git(t, dir, "init", "-q", "--object-format=sha256")
			write(t, dir, "a", "a")
			git(t, dir, "add", "-A")
			git(t, dir, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")
			return dir
		},
		"a file where the state is not": func(t *testing.T) string { return filepath.Join(fresh(t, map[string]string{"sub/a": "a"}), "sub") },
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			dir := set(t)
			r, _ := whole(t, dir)
			names := git(t, dir, "ls-tree", "-r", "-z", "--name-only", "--full-tree", r.Branch())
			for _, want := range []string{"new.go", "two.go"} {
				if !slices.Contains(strings.Split(names, "\x00"), want) {
					t.Errorf("%s is missing from %q", want, names)
				}
			}
			git(t, dir, "fsck", "--no-dangling")
		})
	}
}

func TestMessageIsOneBlockOfTrailersAtItsEnd(t *testing.T) {
	m := repo.Message{Subject: "do\n it", Body: "why\n\nColony-Cost: 0\n\x00", Trailers: [][2]string{{"Colony-Task", "t1\nColony-Cost: 9"}, {"Colony-Cost", "1"}}}
	if got, want := m.String(), "do it\n\nwhy\n\nColony-Cost: 0\n\nColony-Task: t1 Colony-Cost: 9\nColony-Cost: 1\n"; got != want {
		t.Errorf("%q", got)
	}
	dir := fresh(t, map[string]string{"a": "a"})
	r, base := started(t, dir)
	tree := worktree(t, r, "w", base)
	write(t, tree.Dir, "b", "b")
	made, err := tree.Commit(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	land(t, r, base, made.SHA)
	if got := git(t, dir, "log", "-1", "--format=%(trailers:key=Colony-Cost,valueonly,separator=%x2C)", r.Branch()); got != "1" {
		t.Errorf("the cost reads %q", got)
	}
}
