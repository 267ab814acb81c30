package guard_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"colony/guard"
	"colony/guard/sandbox"
	"colony/repo"
	"colony/tools"
)

func TestMain(m *testing.M) {
	sandbox.Helper()
	os.Exit(m.Run())
}

// A proof is a tree full of traps in which lines run in a real bash, confined: what the policy let through by mistake
// must not reach the machine that the tests run on.
type proof struct {
	box  *sandbox.Sandbox
	env  *tools.Env
	more []string // visible besides the tree
}

// traps are files that make a canary where a line runs them, obeys them, or takes their names for options.
const traps = `set -e
echo hello > a.txt; echo world > b.txt; printf '{"a":1}\n' > a.json; echo 'package main' > main.go
printf '#!/bin/sh\necho > "%s/PWNED"\n' "$PWD" > r.sh; chmod +x r.sh
for d in 0 1 2 3 bin; do mkdir $d; for c in ls cat touch pwd git go; do cp r.sh $d/$c; done; done
cp r.sh git; cp r.sh ls; cp r.sh x
for name in --output=PWNED -oPWNED --pre=r.sh -delete -w --compress-program=r.sh -exec; do echo > "./$name"; done
printf 'all:\n\t./r.sh\n' > Makefile; printf '{"scripts":{"test":"./r.sh","version":"./r.sh"}}' > package.json
printf '[toolchain]\npath = "."\n' > rust-toolchain.toml; printf 'yarn-path "./r.sh"\n' > .yarnrc
printf -- '--pre\n./r.sh\n' > .ripgreprc; echo './r.sh' > x.sh; echo 'open("PWNED","w")' > json.py; cp json.py sitecustomize.py
echo '*.txt filter=x diff=x' > .gitattributes
mkdir sub; git init -q --bare sub; git -C sub config core.bare false; git -C sub config core.worktree .
git -C sub config core.fsmonitor "$PWD/r.sh"; git -C sub config diff.external "$PWD/r.sh"
git init -q; git config user.email a@b; git config user.name a; git add -f a.txt b.txt a.json main.go r.sh x.sh .gitattributes
git commit -qm one; echo more >> a.txt; git commit -qam two; echo still >> a.txt
`

func newProof(t testing.TB) *proof {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bash(t, dir, traps)
	box, err := sandbox.New(t.Context(), sandbox.Parts{Level: sandbox.Workspace,
		Home: filepath.Join(root, "home"), State: filepath.Join(root, "state"), Config: filepath.Join(root, "config")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	return &proof{box: box, env: &tools.Env{Root: dir, Ant: "worker-1", Cwd: func() string { return dir }}}
}

// bash runs a set-up of ours.
func bash(t testing.TB, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "WS="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// allows reports whether the policy lets a line through without a sandbox and without a rule.
func (p *proof) allows(t testing.TB, policy *guard.Policy, text string) bool {
	return policy.Decide(p.env, call("sh", line(p.env, text))).Decision == guard.Allow
}

// driver runs each line in a bash of its own and names the first after which the tree is another.
const driver = `shopt -s dotglob globstar nullglob
look() { now=(** .git/hooks/*); now="${now[*]//.git\/index.lock}"; for f in a.txt b.txt .git/config .git/HEAD; do IFS= read -r -d '' text <"$f"; now+="$text"; done; }
exec 2>/dev/null; look; want=$now
for each in "$LINES"/*; do
  IFS= read -r -d '' text <"$each"
  timeout -k 1 3 bash -c "$text" </dev/null >/dev/null 2>&1
  look; if [[ $now != "$want" ]]; then echo "${each##*/}"; break; fi
done`

// run runs lines one after the other and returns the first that changed the tree, empty where none did.
func (p *proof) run(t testing.TB, lines []string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range lines {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	_, err = p.box.Run(t.Context(), sandbox.Job{Argv: []string{"bash", "-c", driver}, Dir: p.env.Root, Env: []string{"LINES=" + dir},
		Writable: []string{p.env.Root}, Readable: append(p.more, dir), Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	found := strings.TrimSpace(out.String())
	if found == "" {
		return ""
	}
	at, err := strconv.Atoi(strings.TrimLeft(found, "0"))
	if err != nil && found != "000000" {
		t.Fatalf("the driver said %q", found)
	}
	return lines[at]
}

// The proof itself works: it finds the one line that writes.
func TestProof(t *testing.T) {
	p := newProof(t)
	for _, bad := range []string{"touch PWNED", "PATH=1; ls", "cd sub && git status", "echo x >> a.txt", "rm b.txt"} {
		if got := p.run(t, []string{"ls", bad, "pwd"}); got != bad {
			t.Errorf("%q was not found, but %q", bad, got)
		}
		p = newProof(t)
	}
}

// contract 30: what the policy alone allows of all lines we have changes nothing in a real bash.
func TestAllowedLinesInBash(t *testing.T) {
	p, policy := newProof(t), policy(t, guard.Parts{})
	var allowed []string
	for _, o := range ordinaryLines(t) {
		if p.allows(t, policy, o.line) {
			allowed = append(allowed, o.line)
		}
	}
	for _, w := range lines(t) {
		if w.Setup == "" && p.allows(t, policy, w.Line) {
			allowed = append(allowed, w.Line)
		}
	}
	if len(allowed) < 200 {
		t.Fatalf("only %d lines are allowed", len(allowed))
	}
	if bad := p.run(t, allowed); bad != "" {
		t.Errorf("%q is allowed and changed the tree", bad)
	}
}

// Vectors with a set-up that are allowed are so because the ant works in a worktree that colony made: the settings of the
// user's repository do not hold there.
func TestAllowedVectorsInAWorktree(t *testing.T) {
	for _, w := range lines(t) {
		if w.Setup == "" || w.Want != guard.Allow {
			continue
		}
		p := newProof(t)
		user := filepath.Join(filepath.Dir(p.env.Root), "user")
		bash(t, filepath.Dir(user), "mkdir user; cd user; git init -q; git config user.email a@b; git config user.name a; echo a > a.txt; git add -A; git commit -qm i")
		bash(t, user, w.Setup+"\ngit -c core.fsmonitor=false add -A; git commit -qm set; rm -f PWNED")
		state := filepath.Join(filepath.Dir(p.env.Root), "state")
		r, err := repo.Open(t.Context(), repo.Parts{Dir: user, State: state, Run: "r1"})
		if err != nil {
			t.Fatal(err)
		}
		base, err := r.Resolve(t.Context(), "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		tree, err := r.Worktree(t.Context(), "t1", base)
		if err != nil {
			t.Fatal(err)
		}
		bash(t, tree.Dir, "echo b >> a.txt")
		var out bytes.Buffer
		_, err = p.box.Run(t.Context(), sandbox.Job{Argv: []string{"bash", "-c", w.Line}, Dir: tree.Dir, Writable: []string{tree.Dir},
			Readable: []string{filepath.Join(state, "git"), filepath.Join(user, ".git", "objects")}, Stdout: &out, Stderr: &out})
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{tree.Dir, user} {
			if _, err := os.Stat(filepath.Join(dir, "PWNED")); err == nil {
				t.Errorf("%s %q ran a program of the repository", w.ID, w.Line)
			}
		}
		if strings.Contains(out.String(), "fatal") {
			t.Errorf("%s %q did not do its work: %s", w.ID, w.Line, out.String())
		}
	}
}
