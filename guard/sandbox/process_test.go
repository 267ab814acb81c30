package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"colony/guard/sandbox"
)

// until polls a condition of the machine, which has no channel to wait on.
func until(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// survivors are the processes of this machine whose command line holds the mark.
func survivors(t *testing.T, mark string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(mark)) && !strings.Contains(path, fmt.Sprintf("/%d/", os.Getpid())) {
			found = append(found, path+" "+string(text))
		}
	}
	return found
}

// mark is a number of seconds to sleep that no other process has.
func mark(t *testing.T) string {
	return fmt.Sprintf("%d.%09d", 1000+os.Getpid(), time.Now().Nanosecond())
}

// Lines as data. A job that leaves processes behind ends when its shell ends, and they with it: contract 42, PR01, PR02. One
// that starts more and more is bounded, leaves others their turn, and is gone when its time is up: PR04.
func TestGivenProcesses(t *testing.T) {
	var cases []struct {
		Name, Line, Ended string
		Off               bool // it ends without namespaces too, where nothing holds a process that leaves its group
	}
	data, err := os.ReadFile("testdata/processes.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, level := range []string{"workspace", "off"} {
		w := newWorld(t)
		p := w.parts(level)
		p.Processes = 310
		s, err := sandbox.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		m := mark(t)
		for _, c := range cases {
			if level == "off" && !c.Off {
				continue
			}
			t.Run(level+" "+c.Name, func(t *testing.T) {
				job := w.sh(strings.ReplaceAll(c.Line, "MARK", m))
				if c.Ended == "" {
					began := time.Now()
					exit, out := run(t, s, job)
					if took := time.Since(began); took > time.Second || out != "done\n" || exit.Code != 0 {
						t.Errorf("%v %q after %v", exit, out, took)
					}
				} else {
					endless(t, s, job, c.Ended, w.sh("for i in 1 2 3; do /bin/echo fine; done"))
				}
				until(t, 2*time.Second, "no survivor", func() bool { return len(survivors(t, m)) == 0 })
			})
		}
	}
}

// endless runs a job for as long as it may, with another one beside it.
func endless(t *testing.T, s *sandbox.Sandbox, job sandbox.Job, limit string, other sandbox.Job) {
	t.Helper()
	most, err := time.ParseDuration(limit)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() {
		if exit, out := run(t, s, other); exit.Code != 0 || out != "fine\nfine\nfine\n" || ctx.Err() != nil {
			t.Errorf("the other: %+v %q", exit, out)
		}
	})
	began := time.Now()
	exit, err := s.Run(ctx, job)
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || exit.Signal != "SIGKILL" || took > most+2*time.Second {
		t.Errorf("%+v, %v after %v", exit, err, took)
	}
	group.Wait()
}

func TestCancelEndsAllAtOnce(t *testing.T) {
	for _, level := range []string{"workspace", "off"} {
		w := newWorld(t)
		s := w.open(t, level)
		m := mark(t)
		ctx, cancel := context.WithCancel(t.Context())
		pipe := &first{cancel: cancel}
		j := w.sh("trap '' TERM INT; sleep " + m + " & echo started; wait; sleep " + m)
		j.Stdout = pipe
		began := time.Now()
		exit, err := s.Run(ctx, j)
		if !errors.Is(err, context.Canceled) || exit.Code != 137 || exit.Signal != "SIGKILL" || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %+v, %v after %v", level, exit, err, time.Since(began))
		}
		until(t, 2*time.Second, "no survivor", func() bool { return len(survivors(t, m)) == 0 })
	}
}

// first cancels at the first byte written.
type first struct{ cancel context.CancelFunc }

func (f *first) Write(p []byte) (int, error) {
	f.cancel()
	return len(p), nil
}

// colonyMain is another colony: it runs one job until it is killed itself.
func colonyMain(w world, line string) {
	s, err := sandbox.New(context.Background(), w.parts("workspace"))
	if err != nil {
		fmt.Println(err)
		return
	}
	j := w.sh(line)
	j.Stdout = os.Stdout
	_, err = s.Run(context.Background(), j)
	fmt.Println(err)
}

// kill -9 of colony ends its jobs. PR01, law 10
func TestNothingSurvivesColony(t *testing.T) {
	each(t, testNothingSurvivesColony)
}

func testNothingSurvivesColony(t *testing.T, w world) {
	m := mark(t)
	line := "setsid sleep " + m + " & (trap '' TERM HUP; sleep " + m + ") & echo started; wait"
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "SANDBOX_TEST_ROOT="+filepath.Dir(w.home), "SANDBOX_TEST_LINE="+line, "SANDBOX_TEST_BY="+w.by[0])
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 8)
	if n, err := out.Read(said); err != nil || string(said[:n]) != "started\n" {
		t.Fatalf("%q, %v", said[:n], err)
	}
	until(t, 5*time.Second, "job runs", func() bool { return len(survivors(t, "sleep\x00"+m)) >= 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("colony was not killed")
	}
	until(t, 5*time.Second, "no survivor", func() bool { return len(survivors(t, "sleep\x00"+m)) == 0 })
}

func TestExitIsForwarded(t *testing.T) {
	for _, level := range []string{"workspace", "read-only", "off"} {
		w := newWorld(t)
		s := w.open(t, level)
		for _, c := range []struct {
			argv   []string
			code   int
			signal string
		}{
			{[]string{"true"}, 0, ""},
			{[]string{"sh", "-c", "exit 7"}, 7, ""},
			{[]string{"sh", "-c", "kill -TERM $$"}, 143, "SIGTERM"},
			{[]string{"sh", "-c", "kill -KILL $$"}, 137, "SIGKILL"},
			{[]string{"no-such-command"}, 127, ""},
			{[]string{"/no/such/command"}, 127, ""},
			{[]string{"/etc/passwd"}, 126, ""},
			{[]string{"sh", "-c", "kill 0; exit 3"}, 143, "SIGTERM"},
		} {
			exit, out := run(t, s, sandbox.Job{Argv: c.argv, Dir: w.work, Writable: []string{w.work}})
			if exit.Code != c.code || exit.Signal != c.signal {
				t.Errorf("%s: %v: %+v, want %d %s\n%s", level, c.argv, exit, c.code, c.signal, out)
			}
			if c.code == 127 && out == "" {
				t.Errorf("%s: %v: nothing said", level, c.argv)
			}
		}
	}
}

// The job cannot end its supervisor and go on, or speak in its name.
func TestProcessOneIsOutOfReach(t *testing.T) {
	each(t, testProcessOneIsOutOfReach)
}

func testProcessOneIsOutOfReach(t *testing.T, w world) {
	s := w.open(t, "workspace")
	supervisor := "1"
	if w.isLocked() {
		supervisor = "$PPID"
	}
	exit, out := run(t, s, w.sh("for s in TERM INT HUP QUIT KILL STOP USR1 ABRT; do kill -$s "+supervisor+" 2>/dev/null; done; echo alive; exit 5"))
	if exit.Code != 5 || out != "alive\n" {
		t.Errorf("%+v %q", exit, out)
	}
}

// A job that does end its supervisor ends with it, and is a job that was killed.
func TestJobThatEndsProcessOneWasKilled(t *testing.T) {
	each(t, testJobThatEndsProcessOneWasKilled)
}

func testJobThatEndsProcessOneWasKilled(t *testing.T, w world) {
	s := w.open(t, "workspace")
	if w.isLocked() {
		return // there it can send nothing to its supervisor
	}
	for _, signal := range []string{"SEGV", "BUS", "FPE", "ILL", "STKFLT"} {
		exit, out := run(t, s, w.sh("kill -"+signal+" 1; sleep 5; echo alive"))
		if exit.Code != 137 || exit.Signal != "SIGKILL" || strings.Contains(out, "alive") {
			t.Errorf("%s: %+v %q", signal, exit, out)
		}
	}
}

// A job that closes its worktree to its owner does not keep the next one out.
func TestClosedDirectoryIsReopened(t *testing.T) {
	each(t, testClosedDirectoryIsReopened)
}

func testClosedDirectoryIsReopened(t *testing.T, w world) {
	s := w.open(t, "workspace")
	if w.isLocked() {
		return // there a job changes no modes
	}
	if exit, out := run(t, s, w.sh("chmod 000 .")); exit.Code != 0 {
		t.Fatalf("%+v %s", exit, out)
	}
	if exit, out := run(t, s, w.sh("stat -c %a .")); exit.Code != 0 || out != "700\n" {
		t.Errorf("%+v %q", exit, out)
	}
}

// A directory that an ant removed is the command's fault, not the sandbox's.
func TestMissingDirectoryIsAnExit(t *testing.T) {
	each(t, testMissingDirectoryIsAnExit)
}

func testMissingDirectoryIsAnExit(t *testing.T, w world) {
	s := w.open(t, "workspace")
	for _, dir := range []string{filepath.Join(w.work, "gone"), filepath.Join(w.config, "hidden")} {
		exit, out := run(t, s, sandbox.Job{Argv: []string{"echo", "ran"}, Dir: dir, Writable: []string{w.work}})
		if exit.Code != 126 || !strings.HasPrefix(out, "colony: cannot enter") || strings.Contains(out, "ran") {
			t.Errorf("%s: %+v %q", dir, exit, out)
		}
	}
}

func TestForkBombIsBounded(t *testing.T) {
	each(t, testForkBombIsBounded)
}

func testForkBombIsBounded(t *testing.T, w world) {
	p := w.parts("workspace")
	p.Processes = 310
	s, err := sandbox.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := mark(t)
	j := w.sh("exec " + exe)
	j.Readable = append(j.Readable, exe)
	j.Env = []string{"SANDBOX_TEST_FORK=" + m}
	exit, out := run(t, s, j)
	var n int
	if _, err := fmt.Sscan(out, &n); err != nil || n < 100 || n > 310 {
		t.Errorf("%+v: %d processes, %v\n%s", exit, n, err, out)
	}
	until(t, 2*time.Second, "no survivor", func() bool { return len(survivors(t, m)) == 0 })
}

// A job that holds more memory than it may is ended, with all its processes, and says why.
func TestMemoryIsBounded(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		p := w.parts("workspace")
		p.Memory = 96 << 20
		s, err := sandbox.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		m := mark(t)
		j := w.sh("setsid sleep " + m + " & SANDBOX_TEST_EAT=256 " + exe + "; echo alive; sleep " + m)
		j.Readable = append(j.Readable, exe)
		if exit, out := run(t, s, j); exit.Code != 137 || exit.Signal != "SIGKILL" || !strings.Contains(out, "colony: this command was ended: it used more than 96 MiB of memory\n") {
			t.Errorf("%+v %s", exit, out)
		}
		until(t, 2*time.Second, "no survivor", func() bool { return len(survivors(t, m)) == 0 })
		j = w.sh("SANDBOX_TEST_EAT=16 " + exe)
		j.Readable = append(j.Readable, exe)
		if exit, out := run(t, s, j); exit.Code != 0 || strings.Contains(out, "memory") {
			t.Errorf("%+v %s", exit, out)
		}
	})
}

// eat holds so many MiB, for longer than it takes somebody to look where they are many.
func eat(text string) {
	mib, err := strconv.Atoi(text)
	if err != nil {
		os.Exit(8)
	}
	held := bytes.Repeat([]byte{1}, mib<<20)
	if mib > 100 {
		time.Sleep(time.Minute)
	}
	runtime.KeepAlive(held)
}

// fork starts sleepers until the kernel refuses, and says how many.
func fork(seconds string) {
	n := 0
	for ; n < 2000; n++ {
		if err := exec.Command("sleep", seconds).Start(); err != nil {
			break
		}
	}
	fmt.Println(n)
}

func TestOutsideProcessesAreOutOfReach(t *testing.T) {
	each(t, testOutsideProcessesAreOutOfReach)
}

func testOutsideProcessesAreOutOfReach(t *testing.T, w world) {
	s := w.open(t, "workspace")
	victim := exec.Command("sleep", mark(t))
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	pid := victim.Process.Pid
	all := "kill -9 -1; "
	if w.isLocked() {
		all = "" // it sees the processes of this machine
	}
	run(t, s, w.sh(fmt.Sprintf("kill -9 %d; "+all+"kill -9 %d; cat /proc/%d/environ", pid, os.Getpid(), pid)))
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("victim: %v", err)
	}
	if got := survivors(t, "sleep\x00"); len(got) == 0 {
		t.Error("the victim is gone")
	}
	if err := errors.Join(victim.Process.Kill()); err != nil {
		t.Error(err)
	}
	if err := victim.Wait(); err == nil {
		t.Error("the victim had ended by itself")
	}
}

// Files, variables and input of colony do not reach a job. S8
func TestNothingIsInherited(t *testing.T) {
	each(t, testNothingIsInherited)
}

func testNothingIsInherited(t *testing.T, w world) {
	t.Setenv("OPENAI_API_KEY", "KEY")
	t.Setenv("SSH_AUTH_SOCK", "/tmp/agent")
	t.Setenv("LC_TIME", "C")
	s := w.open(t, "workspace")
	// A descriptor that the kernel would pass on, of a directory that the job must not write.
	fd, err := syscall.Open(w.home, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	j := w.sh("ls /proc/self/fd; cat; env")
	j.Env, j.Scratch = []string{"OWN=1", "LC_TIME=D"}, w.state+"/scratch"
	if err := os.Mkdir(j.Scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	_, out := run(t, s, j)
	if !strings.HasPrefix(out, "0\n1\n2\n3\n") || strings.HasPrefix(out, "0\n1\n2\n3\n4") {
		t.Errorf("files: %s", out)
	}
	for _, want := range []string{"\nOWN=1\n", "\nLC_TIME=D\n", "\nHOME=" + s.Seen(j.Scratch) + "/home\n", "\nTERM=dumb\n", "\nGIT_OPTIONAL_LOCKS=0\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, bad := range []string{"KEY", "SSH_AUTH", "LC_TIME=C", "SANDBOX"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q in\n%s", bad, out)
		}
	}
}

// Sockets of processes outside are out of reach wherever they are. docker.sock, agents
func TestSocketsAreOutOfReach(t *testing.T) {
	each(t, testSocketsAreOutOfReach)
}

func testSocketsAreOutOfReach(t *testing.T, w world) {
	short, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	paths := []string{short + "/a.sock", "/run/colony-test-" + fmt.Sprint(os.Getpid()), w.home + "/s", "@colony-test-" + fmt.Sprint(os.Getpid())}
	for _, path := range paths {
		l, err := net.Listen("unix", path)
		if errors.Is(err, os.ErrPermission) {
			continue // not root: /run is not ours
		}
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	s := w.open(t, "workspace")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		j := w.sh("exec " + exe)
		j.Readable = append(j.Readable, exe)
		j.Env = []string{"SANDBOX_TEST_DIAL=" + path}
		if exit, out := run(t, s, j); exit.Code != 9 {
			t.Errorf("%s: %+v %s", path, exit, out)
		}
	}
}

func TestOwnLoopbackWorks(t *testing.T) {
	each(t, testOwnLoopbackWorks)
}

func testOwnLoopbackWorks(t *testing.T, w world) {
	s := w.open(t, "workspace")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := w.sh("exec " + exe)
	j.Readable = append(j.Readable, exe)
	j.Env = []string{"SANDBOX_TEST_LOOP=1"}
	if exit, out := run(t, s, j); (exit.Code != 0) != w.isLocked() { // which has no network at all
		t.Errorf("%+v %s", exit, out)
	}
}

// A toolchain that lives in the home and a cache of colony's own are enough to build.
func TestToolchainWorks(t *testing.T) {
	each(t, testToolchainWorks)
}

func testToolchainWorks(t *testing.T, w world) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	p := w.parts("workspace")
	p.Home = home
	s, err := sandbox.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	cache := w.state + "/cache"
	put(t, cache+"/README", "")
	put(t, w.work+"/go.mod", "module m\n\ngo 1.26\n")
	put(t, w.work+"/m.go", "package m\n\nfunc M() int { return 1 }\n")
	j := w.sh("go build ./... && go list -m")
	j.Writable = append(j.Writable, cache)
	j.Env = []string{"GOCACHE=" + cache, "GOPROXY=off", "CGO_ENABLED=0"}
	if exit, out := run(t, s, j); exit.Code != 0 || out != "m\n" {
		t.Errorf("%+v %s", exit, out)
	}
}
