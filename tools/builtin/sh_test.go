package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"colony/tools"
	"colony/view"
)

// contract 19: both streams, the exit code and how long it took; no output is stated.
func TestShSaysWhatHappened(t *testing.T) {
	w := newWorld(t)
	cases := []struct {
		command string
		exit    int
		want    string
	}{
		{"echo out", 0, "out\n"},
		{"true", 0, "[no output]"},
		{"printf x", 0, "x"},
		{"echo out; echo err >&2; exit 3", 3, "out\n[stderr]\nerr\n[exit code 3 after"},
		{"false", 1, "[no output]\n[exit code 1 after"},
		{"kill -9 $$", 137, "[no output]\n[ended by killed, exit code 137"},
		{"if", 2, "syntax error"},
		{"printf 'a\\xffb\\0c'", 0, `a\xffb\x00c` + "\n[2 bytes are not UTF-8"},
		{"no-such-command", 127, "not found"},
		{"set -e; false; echo no", 1, "[no output]\n[exit code 1"},
		{`echo "$# [$*] $0"`, 0, "0 [] bash\n"},
		{"exec echo replaced", 0, "replaced\n"},
	}
	for _, c := range cases {
		res := w.ok("sh", args{"command": c.command})
		if !strings.HasPrefix(res.Text, c.want) && !(c.want[0] != '[' && strings.Contains(res.Text, c.want)) {
			t.Errorf("%s: %q, want %q", c.command, res.Text, c.want)
		}
		if res.Exit == nil || *res.Exit != c.exit || res.Duration <= 0 || res.Views[0].(view.Exit).Code != c.exit {
			t.Errorf("%s: exit %v after %v, want %d", c.command, res.Exit, res.Duration, c.exit)
		}
	}
}

// contract 43: the working directory carries over, shell state does not.
func TestShCarriesTheWorkingDirectory(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.path("sub/deep dir"), 0o755))
	w.must(os.Symlink("sub/deep dir", w.path("link")))
	sub, deep := w.path("sub"), w.path("sub/deep dir")
	cases := []struct{ command, cwd, says string }{
		{"cd sub; x=1; f() { :; }", sub, "working directory: " + sub},
		{"echo [$x]; type -t f; pwd", sub, "[]\n" + sub},
		{"cd ../link && exit 4", deep, "exit code 4"},
		{"(cd /); cd ..; cd 'deep dir' >/dev/null", deep, ""},
		{"cd /tmp", deep, "outside the worktree"},
		{"exec >log; echo x; cd ..", sub, ""},
		{"trap 'echo bye' EXIT; cd 'deep dir'", deep, "bye"},
		{`printf '\0abc /tmp\0'; cd ..`, sub, `\x00abc /tmp\x00`},
		{"pwd() { echo /; }; cd() { :; }; printf() { echo no; }; builtin cd ..", w.env.Root, ""},
		{"cd sub; false", sub, "exit code 1"},
		{"mkdir gone; cd gone", w.path("sub/gone"), ""},
		{"cd ..; rmdir gone; cd ..; cd $OLDPWD", sub, ""},
	}
	for _, c := range cases {
		res := w.ok("sh", args{"command": c.command})
		if w.cwd != c.cwd || !strings.Contains(res.Text, c.says) {
			t.Errorf("%s: in %s, %q; want %s, %q", c.command, w.cwd, res.Text, c.cwd, c.says)
		}
	}
	if got := w.get("sub/deep dir/log"); got != "x\n" {
		t.Errorf("the redirected output is %q", got)
	}
	w.cwd = w.path("sub/gone")
	if res := w.ok("sh", args{"command": "pwd"}); !strings.Contains(res.Text, w.env.Root+"\n") || w.cwd != w.env.Root {
		t.Errorf("from a directory that is gone: %q in %s", res.Text, w.cwd)
	}
}

// contract 43, case PR05: nothing waits for an answer.
func TestShNothingCanWait(t *testing.T) {
	w := newWorld(t)
	w.ok("sh", args{"command": "git init -q ."})
	start := time.Now()
	res := w.ok("sh", args{"command": "git -c user.name=a -c user.email=a@b commit --allow-empty; cat; read x; echo read said $?", "timeout": "20s"})
	if took := time.Since(start); took > 5*time.Second || !strings.Contains(res.Text, "read said 1") || !strings.Contains(res.Text, "editor") {
		t.Errorf("after %v: %s", took, res.Text)
	}
	res = w.ok("sh", args{"command": `echo "$PAGER $GIT_EDITOR $TERM $GIT_TERMINAL_PROMPT"`})
	if res.Text != "cat false dumb 0\n" {
		t.Errorf("%q", res.Text)
	}
}

// contract 42, cases PR01 and PR02: whoever holds the pipe does not delay the result. That nothing is left
// afterwards is the sandbox's to prove; what this test leaves it ends itself.
func TestShDoesNotWaitForGrandchildren(t *testing.T) {
	for _, line := range []string{
		"setsid sleep 1000 & echo pid $!; disown; (trap '' TERM; exec sleep 1000) & echo pid $!; echo done",
		"sh -c 'sleep 300 & echo pid $!; echo done'",
	} {
		w := newWorld(t)
		start := time.Now()
		res := w.ok("sh", args{"command": line, "timeout": "20s"})
		if took := time.Since(start); took > 2*time.Second || !strings.Contains(res.Text, "done\n") {
			t.Errorf("after %v: %q", took, res.Text)
		}
		for out := range strings.Lines(res.Text) {
			if pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(out, "pid "))); err == nil {
				w.must(syscall.Kill(pid, syscall.SIGKILL))
			}
		}
	}
}

// contract 42, case PR03: bounded memory, head and tail kept, the bytes counted, ended at the timeout.
func TestShKeepsHeadAndTail(t *testing.T) {
	w := newWorld(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := w.fault(tools.Timeout, "timed out after 500ms", "sh", args{"command": "echo first; yes", "timeout": "500ms"})
	runtime.ReadMemStats(&after)
	if !strings.HasPrefix(res.Text, "first\ny\ny\n") || !strings.Contains(res.Text, "bytes left out …]\n") || len(res.Text) > 1<<20 {
		t.Errorf("%d bytes: %.200q", len(res.Text), res.Text)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 50<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	res = w.ok("sh", args{"command": "head -c 1000000 /dev/zero | tr '\\0' 'é'; cd /; cd -; echo last"})
	if !strings.Contains(res.Text, "of 100") || !strings.Contains(res.Text, "last\n") || strings.Contains(res.Text, "\ufffd") {
		t.Errorf("%d bytes end with %q", len(res.Text), res.Text[len(res.Text)-100:])
	}
}

func TestShTimeoutAndCancelKeepTheOutput(t *testing.T) {
	w := newWorld(t)
	res := w.fault(tools.Timeout, "so far\n", "sh", args{"command": "echo so far; sleep 100", "timeout": "300ms"})
	if res.Exit == nil || *res.Exit == 0 {
		t.Errorf("exit %v", res.Exit)
	}
	ctx, stop := context.WithCancel(t.Context())
	w.env.Progress = func(line string) {
		if line == "started" {
			stop()
		}
	}
	if res := w.callIn(ctx, "sh", args{"command": "echo started; sleep 100"}); res.Fault != tools.Cancelled || !strings.Contains(res.Text, "started\n") {
		t.Errorf("%q: %s", res.Fault, res.Text)
	}
}

// contract 42: live output ends before the mark that holds the call's secret, however what was printed comes in pieces.
func TestShShowsNoMarkWhileItRuns(t *testing.T) {
	w := newWorld(t)
	var shown []string
	w.env.Progress = func(line string) { shown = append(shown, line) }
	secret := ""
	for _, pieces := range [][]string{{"a line\n<>"}, {"a line\n", "<>"}, {"a line\n<", ">"}, {"a line\n\x00", "MARK /\x00"}, {"a line\x00\n<><>"}, {"a line\x00", "", "<>"}} {
		shown = nil
		now := time.Now()
		w.env.Now = func() time.Time { now = now.Add(time.Second); return now }
		w.env.Exec = func(_ context.Context, p tools.Process) (tools.Exit, error) {
			secret = p.Argv[len(p.Argv)-1]
			fill := strings.NewReplacer("<", "\x00"+secret+" /", ">", "\x00", "MARK", secret)
			for _, piece := range pieces {
				if _, err := p.Stdout.Write([]byte(fill.Replace(piece))); err != nil {
					t.Error(err)
				}
			}
			return tools.Exit{}, nil
		}
		w.ok("sh", args{"command": "x"})
		if len(shown) == 0 || !strings.HasPrefix(shown[0], "a line") || strings.Contains(strings.Join(shown, " "), secret) {
			t.Errorf("%q shows %q", pieces, shown)
		}
	}
}

// contract 44
func TestShBackgroundJobs(t *testing.T) {
	w := newWorld(t)
	w.put("gate", "")
	id := func(res tools.Result) string { return strings.TrimSuffix(strings.Fields(res.Text)[1], ":") }
	job := id(w.ok("sh", args{"command": "echo one; while [ -e gate ]; do sleep 0.01; done; echo two; exit 5", "background": true}))
	for said := ""; !strings.Contains(said, "one\n"); {
		said = w.fault(tools.Timeout, "still runs", "sh", args{"job": job, "action": "wait", "timeout": "200ms"}).Text
	}
	w.must(os.Remove(w.path("gate")))
	res := w.ok("sh", args{"job": job, "action": "wait"})
	if !strings.HasPrefix(res.Text, "two\n") || !strings.Contains(res.Text, "exit code 5") || *res.Exit != 5 {
		t.Errorf("only what is new: %q", res.Text)
	}
	if res := w.ok("sh", args{"job": job, "action": "read"}); !strings.HasPrefix(res.Text, "[no output]") {
		t.Errorf("read again: %q", res.Text)
	}
	long := id(w.ok("sh", args{"command": "yes", "background": true}))
	if res := w.ok("sh", args{"job": long, "action": "kill"}); !strings.Contains(res.Text, "has ended") || len(res.Text) > 1<<20 {
		t.Errorf("killed: %.200q", res.Text)
	}
	w.fault(tools.Validation, "no job", "sh", args{"job": "job-99", "action": "read"})
}

// Effects are read at the call's turn: a link made meanwhile changes them.
func TestEffectsFollowTheTree(t *testing.T) {
	w := newWorld(t)
	out := t.TempDir()
	effects := func(name string, a args) tools.Effects {
		e, err := tool(name).Effects(w.env, raw(t, a))
		w.must(err)
		return e
	}
	for name, a := range map[string]args{
		"write": {"path": "d/x", "content": "x"}, "edit": {"path": "d/x", "old": "x", "new": "y"}, "sh": {"command": "echo > d/x"},
	} {
		if e := effects(name, a); !e.Known || e.ReadOnly || len(e.Writes) != 1 || e.Writes[0] != w.path("d/x") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	w.must(os.Symlink(out, w.path("d")))
	for name, a := range map[string]args{
		"write": {"path": "d/x", "content": "x"}, "edit": {"path": "d/x", "old": "x", "new": "y"}, "sh": {"command": "echo > d/x"},
	} {
		if e := effects(name, a); len(e.Writes) != 1 || e.Writes[0] != filepath.Join(out, "x") {
			t.Errorf("%s through a link: %+v", name, e)
		}
	}
	w.must(os.Mkdir(w.path("sub"), 0o755))
	if e := effects("sh", args{"command": "cd sub && echo > x"}); len(e.Writes) != 1 || e.Writes[0] != w.path("sub/x") {
		t.Errorf("after cd: %+v", e)
	}
	if e := effects("sh", args{"command": "ls sub"}); !e.ReadOnly || len(e.Commands) != 1 || e.Subjects[0] != "ls sub" {
		t.Errorf("ls: %+v", e)
	}
	if e := effects("sh", args{"command": "if"}); e.Known || e.Commands != nil || e.Why == "" {
		t.Errorf("what does not parse: %+v", e)
	}
	if e := effects("sh", args{"job": "job-1", "action": "read"}); !e.Known || !e.ReadOnly {
		t.Errorf("a job is read: %+v", e)
	}
	if e := effects("find", args{}); !e.ReadOnly || e.Reads[0] != w.env.Root {
		t.Errorf("find: %+v", e)
	}
}

// contract 24: only a line known to change nothing, not even the directory, may run beside others.
func TestShRunsAloneUnlessItOnlyReads(t *testing.T) {
	for command, want := range map[string]bool{"ls": true, "cat a | head": true, "cd sub": false, "ls > x": false, "$x": false, "make": false, "if": false} {
		if got := tool("sh").IsConcurrencySafe(raw(t, args{"command": command})); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
