package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/sandbox"
)

func TestLevelsThatCannotBeHeldAreRefusedByName(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ level, why string }{
		{"workspace+internet", "no such level"}, {"", "no such level"}, {"Workspace", "no such level"}, {"none", "no such level"},
	} {
		_, err := sandbox.New(t.Context(), w.parts(c.level))
		refused, ok := errors.AsType[*sandbox.RefusedError](err)
		if !ok || refused.Level != c.level || refused.Why != c.why || refused.Next == "" {
			t.Errorf("%q: %v", c.level, err)
		}
	}
}

// Where the kernel forbids namespaces, as it does in a job, New says which command allows them.
func TestRefusalNamesTheCure(t *testing.T) {
	w := newWorld(t)
	s := w.open(t, "workspace")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := w.sh("exec " + exe)
	j.Readable = append(j.Readable, exe)
	j.Env = []string{"SANDBOX_TEST_NEW=" + filepath.Dir(w.home)}
	exit, out := run(t, s, j)
	if exit.Code != 7 || !strings.Contains(out, "sudo sysctl -w user.max_user_namespaces=15000") || strings.Count(out, "\n") != 1 {
		t.Errorf("%+v %q", exit, out)
	}
}

// newInside answers 7 and the error where the sandbox is refused.
func newInside(w world) int {
	w.by = []string{sandbox.Namespaces}
	_, err := sandbox.New(context.Background(), w.parts("workspace"))
	if _, ok := errors.AsType[*sandbox.RefusedError](err); !ok {
		return 0
	}
	fmt.Println(err)
	return 7
}

func TestJobsThatCouldLeadOutAreRefused(t *testing.T) {
	each(t, testJobsThatCouldLeadOutAreRefused)
}

func testJobsThatCouldLeadOutAreRefused(t *testing.T, w world) {
	s := w.open(t, "workspace")
	if err := errors.Join(os.Symlink(w.home, w.work+"/out"), os.Symlink(w.home+"/.npmrc", w.work+"/token")); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*sandbox.Job){
		"no command":           func(j *sandbox.Job) { j.Argv = nil },
		"relative directory":   func(j *sandbox.Job) { j.Dir = "x" },
		"writable link":        func(j *sandbox.Job) { j.Writable = []string{w.work + "/out"} },
		"writable behind link": func(j *sandbox.Job) { j.Writable = []string{w.work + "/out/.config"} },
		"readable link":        func(j *sandbox.Job) { j.Readable = []string{w.work + "/token"} },
		"writable missing":     func(j *sandbox.Job) { j.Writable = []string{w.work + "/missing"} },
		"writable unclean":     func(j *sandbox.Job) { j.Writable = []string{w.work + "/../t1"} },
		"writable root":        func(j *sandbox.Job) { j.Writable = []string{"/"} },
		"writable home":        func(j *sandbox.Job) { j.Writable = []string{w.home} },
		"writable above home":  func(j *sandbox.Job) { j.Writable = []string{filepath.Dir(w.home)} },
		"writable state":       func(j *sandbox.Job) { j.Writable = []string{w.state} },
		"writable config":      func(j *sandbox.Job) { j.Writable = []string{w.config} },
		"scratch through link": func(j *sandbox.Job) { j.Scratch = w.work + "/out" },
		"scratch is the home":  func(j *sandbox.Job) { j.Scratch = w.home },
		"scratch is not there": func(j *sandbox.Job) { j.Scratch = w.work + "/missing" },
	} {
		j := w.sh("echo ran")
		change(&j)
		var out strings.Builder
		j.Stdout = &out
		if _, err := s.Run(t.Context(), j); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v %q", name, err, out.String())
		}
	}
}

func TestReadOnlyLevelWritesNothingButItsOwn(t *testing.T) {
	each(t, testReadOnlyLevelWritesNothingButItsOwn)
}

func testReadOnlyLevelWritesNothingButItsOwn(t *testing.T, w world) {
	s := w.open(t, "read-only")
	before := snapshot(t, w.home, "")
	if exit, out := run(t, s, w.sh("cat file && echo x > $TMPDIR/x && ! echo x > new && ! rm file")); exit.Code != 0 {
		t.Errorf("%+v %s", exit, out)
	}
	if snapshot(t, w.home, "") != before {
		t.Error("the worktree changed")
	}
}

// What a job leaves in its scratch the next one finds; without one, /tmp ends with the job.
func TestScratchIsKeptBetweenJobs(t *testing.T) {
	each(t, testScratchIsKeptBetweenJobs)
}

func testScratchIsKeptBetweenJobs(t *testing.T, w world) {
	s := w.open(t, "workspace")
	scratch := w.state + "/repos/r1/scratch"
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scratch, want string
	}{{scratch, "ab"}, {"", ""}} {
		j := w.sh("printf a > $TMPDIR/a; printf b > ~/b; ln -sfn /etc $TMPDIR/link")
		j.Scratch = c.scratch
		if exit, out := run(t, s, j); exit.Code != 0 {
			t.Errorf("%+v %s", exit, out)
		}
		j.Argv = []string{"sh", "-c", "cat $TMPDIR/a ~/b 2>/dev/null"}
		if _, out := run(t, s, j); out != c.want {
			t.Errorf("scratch %q: found %q, want %q", c.scratch, out, c.want)
		}
	}
}

// Two kinds of job share a directory that only one of them may write, as ants and gates do with caches.
func TestEachJobHasItsOwnWritablePaths(t *testing.T) {
	each(t, testEachJobHasItsOwnWritablePaths)
}

func testEachJobHasItsOwnWritablePaths(t *testing.T, w world) {
	s := w.open(t, "workspace")
	cache := w.state + "/repos/r1/gate-cache"
	put(t, cache+"/entry", "true")
	ant, gate := w.sh("echo forged > "+cache+"/entry"), w.sh("echo own > "+cache+"/entry")
	ant.Readable = append(ant.Readable, cache)
	gate.Writable = append(gate.Writable, cache)
	if exit, _ := run(t, s, ant); exit.Code == 0 {
		t.Error("an ant wrote the cache of the gates")
	}
	if exit, out := run(t, s, gate); exit.Code != 0 {
		t.Errorf("gate: %+v %s", exit, out)
	}
	if got, err := os.ReadFile(cache + "/entry"); err != nil || string(got) != "own\n" {
		t.Errorf("%q, %v", got, err)
	}
}
