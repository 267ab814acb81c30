package sandbox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type vector struct{ ID, Setup, Line string }

func vectors(t *testing.T) []vector {
	t.Helper()
	f, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []vector
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) < 111 {
		t.Fatalf("%d vectors", len(all))
	}
	return all
}

// Every hostile line runs, as if the policy had let it: nothing outside the worktree changes, nor its .git or another
// protected path. S2
func TestVectorsHaveNoEffectOutside(t *testing.T) {
	each(t, testVectorsHaveNoEffectOutside)
}

func testVectorsHaveNoEffectOutside(t *testing.T, w world) {
	t.Parallel()
	s := w.open(t, "workspace")
	seed := filepath.Join(w.home, "seed")
	put(t, seed+"/a.txt", "a\n")
	git(t, seed, "init", "-q", "-b", "main")
	for _, pair := range [][2]string{{"user.name", "u"}, {"user.email", "u@e"}, {"protocol.file.allow", "always"}} {
		git(t, seed, "config", pair[0], pair[1])
	}
	git(t, seed, "add", ".")
	git(t, seed, "commit", "-qm", "a")
	fired, effects := 0, 0
	for _, v := range vectors(t) {
		if err := os.RemoveAll(w.work); err != nil {
			t.Fatal(err)
		}
		plainly(t, w, "cp -a "+seed+" "+w.work, "/")
		plainly(t, w, "mkdir .vscode; echo '{}' > .mcp.json; "+v.Setup, w.work)
		before := snapshot(t, w.home, w.work) + snapshot(t, w.work+"/.git", "") + snapshot(t, w.work+"/.vscode", "")
		j := w.sh(v.Line + "\ntouch .vscode/x .mcp.json .envrc; mkdir -p .colony/cards; echo x > .git/hooks/post-commit; true")
		j.Env = []string{"WS=" + w.work}
		j.Readable = []string{w.work + "/.git"}
		for _, name := range []string{".git", ".vscode", ".mcp.json", ".colony", ".envrc", ".bashrc"} {
			j.Protected = append(j.Protected, filepath.Join(w.work, name))
		}
		run(t, s, j)
		if after := snapshot(t, w.home, w.work) + snapshot(t, w.work+"/.git", "") + snapshot(t, w.work+"/.vscode", ""); after != before {
			effects++
			t.Errorf("%s: had an effect outside", v.ID)
		}
		for _, name := range []string{".colony", ".envrc"} {
			if _, err := os.Lstat(filepath.Join(w.work, name)); err == nil {
				t.Errorf("%s: made %s", v.ID, name)
			}
		}
		if _, err := os.Lstat(w.work + "/PWNED"); err == nil {
			fired++
		}
	}
	if fired < 40 {
		t.Errorf("only %d lines did anything in the worktree: the test shows little", fired)
	}
	t.Logf("security: S2 | sandbox alone: hostile lines with an effect outside or in .git | %d of %d | 0", effects, len(vectors(t)))
}

// plainly prepares a tree as a repository would come.
func plainly(t *testing.T, w world, line, dir string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "WS="+w.work, "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil && len(bytes.TrimSpace(out)) > 0 {
		t.Logf("%s: %v %s", line, err, out)
	}
}

// Protected paths are as they were after any job.
func TestProtectedPathsStay(t *testing.T) {
	each(t, testProtectedPathsStay)
}

func testProtectedPathsStay(t *testing.T, w world) {
	s := w.open(t, "workspace")
	put(t, w.work+"/.vscode/settings.json", "{}")
	put(t, w.work+"/.mcp.json", "{}")
	if err := os.Symlink("file", w.work+"/.profile"); err != nil {
		t.Fatal(err)
	}
	names := []string{".git", ".vscode", ".mcp.json", ".colony", ".bashrc", ".profile", ".envrc"}
	before := snapshot(t, w.work, "")
	for _, line := range []string{
		"echo x > .mcp.json", "rm -f .mcp.json", "mv .mcp.json m", "rm -rf .vscode", "mv .vscode v", "touch .vscode/x", "echo x > .git",
		"echo x > .bashrc", "mkdir -p .colony/cards; chmod 0 .colony/cards .colony", "ln -s /etc .colony", "ln -s / .envrc; mkfifo .bashrc",
		"ln -sfn /etc/passwd .profile", "rm .profile; mkdir -p .profile/a", "rm .profile", "ln file .envrc; rm .envrc; ln -s file .envrc",
	} {
		j := w.sh(line)
		for _, name := range names {
			j.Protected = append(j.Protected, filepath.Join(w.work, name))
		}
		run(t, s, j)
		if w.isLocked() { // there they could be moved, and were put back
			if err := errors.Join(os.RemoveAll(w.work+"/m"), os.RemoveAll(w.work+"/v")); err != nil {
				t.Fatal(err)
			}
		}
		if got := dated(snapshot(t, w.work, "")); got != dated(before) {
			t.Errorf("%s: left\n%s", line, got)
		}
	}
}

// dated is a snapshot without the times of directories and links, which change as something is made and removed in them.
func dated(snapshot string) string {
	lines := strings.Split(snapshot, "\n")
	for i, line := range lines {
		if f := strings.Fields(line); len(f) == 3 && (f[1][0] == 'd' || f[1][0] == 'L') {
			lines[i] = strings.Join(slices.Delete(f, 2, 3), " ")
		}
	}
	return strings.Join(lines, "\n")
}
