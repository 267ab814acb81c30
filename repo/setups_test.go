package repo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A setUp is one way in which a repository names a program for git to run. Those of one group do not get in each other's way;
// each has a mark of its own.
type setUp struct {
	name  string
	group int
	plain string // what a person does that lets plain git run it; empty where a test cannot, or this git does not
	make  func(t *testing.T, dir, touch string)
}

// configured sets pairs of keys and values; $T is the command that leaves the mark.
func configured(pairs ...string) func(*testing.T, string, string) {
	return func(t *testing.T, dir, touch string) {
		for i := 0; i < len(pairs); i += 2 {
			git(t, dir, "config", "--add", pairs[i], strings.ReplaceAll(pairs[i+1], "$T", touch))
		}
	}
}

// hooked puts programs where git looks for hooks.
func hooked(in string, names ...string) func(*testing.T, string, string) {
	return func(t *testing.T, dir, touch string) {
		for _, name := range names {
			write(t, dir, in+"/"+name, "#!/bin/sh\n"+touch+"\n")
			if err := os.Chmod(filepath.Join(dir, in, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// filed writes a file, with $T in it.
func filed(name, text string) func(*testing.T, string, string) {
	return func(t *testing.T, dir, touch string) {
		write(t, dir, name, strings.ReplaceAll(text, "$T", touch))
	}
}

func each(steps ...func(*testing.T, string, string)) func(*testing.T, string, string) {
	return func(t *testing.T, dir, touch string) {
		for _, step := range steps {
			step(t, dir, touch)
		}
	}
}

// bare is a bare repository among the files, whose settings name a program.
func bare(t *testing.T, dir, touch string) {
	git(t, dir, "init", "-q", "--bare", "sub")
	for _, pair := range [][2]string{{"core.bare", "false"}, {"core.worktree", "."}, {"core.fsmonitor", touch + "; false"}} {
		git(t, filepath.Join(dir, "sub"), "config", pair[0], pair[1])
	}
}

// setUps is the list of S4, which only grows. Files of the kinds c, d, m, p, s and x have attributes.
func setUps() []setUp {
	return []setUp{
		{"core.fsmonitor", 0, "git status", configured("core.fsmonitor", "$T; false")},
		{"filter clean", 0, "echo y >>a.c; git add -A", configured("filter.c.clean", "$T; cat")},
		{"filter smudge", 0, "rm a.s; git checkout a.s", configured("filter.s.smudge", "$T; cat", "filter.s.required", "true")},
		{"filter process", 0, "echo y >>a.p; git add -A", configured("filter.p.process", "$T", "filter.p.required", "true")},
		{"filter of info/attributes", 0, "echo y >>a.x; git add -A", each(filed(".git/info/attributes", "*.x filter=i\n"), configured("filter.i.clean", "$T; cat", "filter.i.smudge", "$T; cat"))},
		{"filter with an odd name", 0, "echo y >>a.o; git add -A", configured("filter.a=b.c.clean", "$T; cat", "filter.a=b.c.smudge", "$T; cat")},
		{"textconv", 0, "echo y >>a.d; git diff", configured("diff.d.textconv", "$T; cat")},
		{"diff driver", 0, "echo y >>a.e; git diff", configured("diff.e.command", "$T")},
		{"diff.external", 1, "echo y >>a.txt; git diff", configured("diff.external", "$T")},
		{"merge driver", 0, "echo y >>a.m; git commit -qam y; git checkout -q side; echo z >>a.m; git commit -qam z; git merge -q main", configured("merge.m.driver", "$T; false")},
		{"hook post-checkout", 0, "git checkout -q side", hooked(".git/hooks", "post-checkout")},
		{"hook pre-commit", 0, "git commit -q --allow-empty -m x", hooked(".git/hooks", "pre-commit", "pre-merge-commit")},
		{"hook commit-msg", 0, "git commit -q --allow-empty -m x", hooked(".git/hooks", "commit-msg", "prepare-commit-msg")},
		{"hook post-commit", 0, "git commit -q --allow-empty -m x", hooked(".git/hooks", "post-commit")},
		{"hook reference-transaction", 0, "git branch x", hooked(".git/hooks", "reference-transaction")},
		{"hook post-index-change", 0, "echo y >>a.txt; git add -A", hooked(".git/hooks", "post-index-change")},
		{"hooks of receiving", 0, "git push -q . HEAD:refs/heads/new", hooked(".git/hooks", "pre-receive", "update", "post-receive", "post-update", "proc-receive", "push-to-checkout")},
		{"hooks of rewriting", 0, "git commit -q --amend --allow-empty -m x", hooked(".git/hooks", "post-merge", "post-rewrite", "pre-rebase", "applypatch-msg")},
		{"hook pre-push", 0, "git push -q . HEAD:refs/heads/new", hooked(".git/hooks", "pre-push")},
		{"hook pre-auto-gc", 0, "", each(hooked(".git/hooks", "pre-auto-gc"), configured("gc.auto", "1", "gc.autoDetach", "false"))},
		{"core.hooksPath", 1, "git branch x", each(hooked("tools", "post-checkout", "reference-transaction", "pre-commit"), configured("core.hooksPath", "tools"))},
		{"core.sshCommand", 0, "git fetch -q ssh", configured("core.sshCommand", "$T; false", "remote.ssh.url", "ssh://host.invalid/x")},
		{"core.gitProxy", 0, "git fetch -q git", each(hooked(".git/x", "proxy"), configured("core.gitProxy", "./.git/x/proxy", "remote.git.url", "git://host.invalid/x"))},
		{"core.pager", 0, "", configured("core.pager", "$T", "pager.status", "$T", "pager.diff", "$T")},
		{"core.editor", 0, "git commit -q --allow-empty", configured("core.editor", "$T")},
		{"sequence.editor", 0, "git rebase -q -i --root", configured("sequence.editor", "$T")},
		{"core.askPass", 0, "printf 'protocol=https\\nhost=host.invalid\\n\\n' | git credential fill", each(hooked(".git/x", "ask"), configured("core.askPass", "./.git/x/ask"))},
		{"credential.helper", 0, "printf 'protocol=https\\nhost=host.invalid\\n\\n' | git credential fill", configured("credential.helper", "!$T", "credential.https://host.invalid.helper", "!$T")},
		{"gpg.program", 0, "git commit -q --allow-empty -m x", each(hooked(".git/x", "gpg"), configured("gpg.program", "./.git/x/gpg", "commit.gpgSign", "true", "tag.gpgSign", "true", "log.showSignature", "true"))},
		{"gpg.ssh", 1, "git commit -q --allow-empty -m x", configured("gpg.format", "ssh", "gpg.ssh.program", "$T", "gpg.ssh.defaultKeyCommand", "$T", "commit.gpgSign", "true")},
		{"core.alternateRefsCommand", 0, "", configured("core.alternateRefsCommand", "$T")},
		{"uploadpack.packObjectsHook", 0, "", configured("uploadpack.packObjectsHook", "$T")},
		{"gc.recentObjectsHook", 0, "", configured("gc.recentObjectsHook", "$T")},
		{"interactive.diffFilter", 0, "", configured("interactive.diffFilter", "$T")},
		{"trailers", 0, "git interpret-trailers a.txt", configured("trailer.x.command", "$T", "trailer.x.ifmissing", "add", "trailer.y.cmd", "$T", "trailer.y.ifmissing", "add")},
		{"aliases", 0, "git st", configured("alias.st", "!$T", "alias.rev-parse", "!$T", "alias.cat-file", "!$T", "alias.update-ref", "!$T", "alias.status", "!$T")},
		{"ext transport", 0, "git fetch -q origin", configured("remote.origin.url", "ext::$T", "protocol.ext.allow", "always", "url.ext::$T .insteadOf", "https://host.invalid/")},
		{"programs of a remote", 0, "git fetch -q far", configured("remote.far.url", ".", "remote.far.uploadpack", "$T", "remote.far.receivepack", "$T")},
		{"submodule update", 0, "", each(filed(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = ext::sh -c $T\n\tupdate = !$T\n"), configured("submodule.m.update", "!$T", "submodule.m.url", "ext::sh -c $T", "submodule.m.active", "true"))},
		{"include", 1, "git status", each(filed("more.conf", "[core]\n\tfsmonitor = \"$T; false\"\n[filter \"c\"]\n\tclean = \"$T; cat\"\n"), configured("include.path", "../more.conf"))},
		{"includeIf", 2, "git status", each(filed("more.conf", "[core]\n\tfsmonitor = \"$T; false\"\n"), configured("includeIf.onbranch:**.path", "../more.conf", "includeIf.gitdir:/.path", "../more.conf"))},
		{"worktree settings", 1, "git status", each(configured("extensions.worktreeConfig", "true"), filed(".git/config.worktree", "[core]\n\tfsmonitor = \"$T; false\"\n\tsshCommand = $T\n"))},
		{"a bare repository among the files", 2, "cd sub && git status", bare},
		{"init.templateDir", 2, "", each(hooked("template/hooks", "post-checkout", "reference-transaction"), configured("init.templateDir", "template"))},
		{"an address that is shell", 0, "", configured("user.email", `a"$($T)"@x`, "user.name", "`$T`\nparent 0000")},
		{"mailmap, blame and tools", 0, "echo y >>a.txt; git difftool -y", configured("mailmap.blob", "HEAD:x", "merge.tool", "x", "mergetool.x.cmd", "$T", "diff.tool", "x", "difftool.x.cmd", "$T", "diff.guitool", "x", "browser.x.cmd", "$T", "man.x.cmd", "$T", "sendemail.smtpServer", "$T")},
	}
}

// leastSetUps is how many there are at least.
const leastSetUps = 46

// attributed is a user's repository whose files have the attributes that set-ups are about.
func attributed(t *testing.T) string {
	dir := fresh(t, map[string]string{
		".gitattributes": "*.c filter=c\n*.s filter=s\n*.p filter=p\n*.d diff=d\n*.e diff=e\n*.m merge=m\n*.o filter=a=b.c\n",
		"a.txt":          "a\n", "notes": "x\n", "a.c": "c\n", "a.s": "s\n", "a.p": "p\n", "a.d": "d\n", "a.e": "e\n", "a.m": "m\n", "a.x": "x\n", "a.o": "o\n",
	})
	git(t, dir, "branch", "side")
	return dir
}

// S4: nothing that a repository configures is run by colony's git, in all that it does with a repository.
func TestNoSetUpRunsAnything(t *testing.T) {
	all := setUps()
	if len(all) < leastSetUps {
		t.Fatalf("%d set-ups", len(all))
	}
	ran := 0
	for group := range 3 {
		dir, marks := attributed(t), filepath.Join(t.TempDir(), "marks")
		for i, s := range all {
			if s.group == group {
				s.make(t, dir, "touch "+filepath.Join(marks, markOf(i)))
			}
		}
		write(t, dir, "a.c", "other\n")
		if err := os.Mkdir(marks, 0o700); err != nil { // made now: the set-ups themselves may have fired
			t.Fatal(err)
		}
		before := picture(t, dir)
		whole(t, dir)
		if picture(t, dir) != before {
			t.Error("the repository changed")
		}
		takeOver(t, dir)
		for _, mark := range marked(t, marks) {
			ran++
			for i, s := range all {
				if markOf(i) == mark {
					t.Errorf("%s ran a program", s.name)
				}
			}
		}
	}
	t.Logf("security: S4 | colony's own git: set-ups of a repository that ran a program | %d of %d | 0 of 20", ran, len(all))
}

// The set-ups of S4 are what they are said to be: most run their program under plain git.
func TestSetUpsRunUnderPlainGit(t *testing.T) {
	fired := 0
	for i, s := range setUps() {
		if s.plain == "" {
			continue
		}
		dir, marks := attributed(t), t.TempDir()
		s.make(t, dir, "touch "+filepath.Join(marks, markOf(i)))
		cmd := exec.Command("bash", "-c", s.plain)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
		out, _ := cmd.CombinedOutput() // most of them end with an error: what was run is no filter, no helper
		if len(marked(t, marks)) > 0 {
			fired++
		} else {
			t.Errorf("%s: %s did not run it: %s", s.name, s.plain, out)
		}
	}
	if fired < 29 {
		t.Errorf("only %d set-ups run anything under plain git", fired)
	}
	t.Logf("%d of %d run their program under plain git", fired, len(setUps()))
}

func markOf(i int) string { return "mark" + string(rune('a'+i/10)) + string(rune('0'+i%10)) }

func marked(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}
