//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"colony/model/scripted"
)

const diskScenario = `name: any
cards:
  "*":
    a:
      - calls: [{tool: write, args: {path: a.txt, content: "a\n"}}]
      - calls: [{tool: done, args: {summary: wrote}}]
`

// smallDisk is a machine whose state directory has a file system of its own, and a model that holds its first reply.
type smallDisk struct {
	t           *testing.T
	dir         string // holds home, repo and plan
	state       string
	asked, hold chan bool // the first request came; closed to let its reply go
	environ     []string
}

// inNamespaces runs the test again where it may mount, and reports whether this is that run.
func inNamespaces(t *testing.T) bool {
	t.Helper()
	if os.Getenv("COLONY_TEST_MOUNTS") == t.Name() {
		return true
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=3m")
	again.Env = append(os.Environ(), "COLONY_TEST_MOUNTS="+t.Name())
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func newSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	d := &smallDisk{t: t, dir: t.TempDir(), state: t.TempDir(), asked: make(chan bool), hold: make(chan bool)}
	d.mount("none", "tmpfs", 0, "size=24m")
	scenario, err := scripted.Parse("any", []byte(diskScenario))
	if err != nil {
		t.Fatal(err)
	}
	server, err := scripted.Serve(context.Background(), scripted.Parts{Scenarios: []scripted.Scenario{scenario}, Key: "test-key-0123456789"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	to, err := url.Parse(strings.TrimSuffix(server.URL, "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(d.holding(httputil.NewSingleHostReverseProxy(to)))
	t.Cleanup(proxy.Close)
	home := d.put("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.test\n")
	d.put("plan.yaml", "tasks: [{id: a, title: A, prompt: A.}]\n")
	d.environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(home), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb",
		"OPENAI_API_KEY=test-key-0123456789", "OPENAI_BASE_URL=" + proxy.URL + "/v1", "COLONY_LIMITS_STOP=200ms",
	}
	repo := filepath.Dir(d.put("repo/base.txt", "base\n"))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "base"}} {
		git := exec.Command("git", append([]string{"-C", repo}, args...)...)
		git.Env = d.environ
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return d
}

// holding lets the first request wait.
func (d *smallDisk) holding(to http.Handler) http.Handler {
	var once sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() {
			close(d.asked)
			<-d.hold
		})
		to.ServeHTTP(w, r)
	})
}

func (d *smallDisk) mount(source, kind string, flags uintptr, data string) {
	d.t.Helper()
	if err := syscall.Mount(source, d.state, kind, flags, data); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { syscall.Unmount(d.state, syscall.MNT_DETACH) })
}

func (d *smallDisk) put(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// fill leaves no room in the state directory; the file that takes it can be removed.
func (d *smallDisk) fill() (ballast string) {
	d.t.Helper()
	ballast = filepath.Join(d.state, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			d.t.Fatal(err)
		}
	}
	return ballast
}

func (d *smallDisk) colony(args ...string) *exec.Cmd {
	c := exec.Command("colony", append([]string{"-C", filepath.Join(d.dir, "repo")}, args...)...)
	c.Env = d.environ
	return c
}

// says runs a verb, and is its exit code and what it printed.
func (d *smallDisk) says(args ...string) (int, string) {
	d.t.Helper()
	c := d.colony(append(args, "--state-dir", d.state)...)
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// fullRun starts a run and fills the disk under it; it is back when the run waits.
func (d *smallDisk) fullRun() (run *exec.Cmd, out *strings.Builder, said *bufio.Scanner, ballast string) {
	d.t.Helper()
	run, out = d.colony("run", "-f", filepath.Join(d.dir, "plan.yaml"), "--model", "openai/any", "--no-gate", "--run-id", "r-1", "--json", "--state-dir", d.state), new(strings.Builder)
	run.Stdout = out
	errs, err := run.StderrPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { run.Process.Kill() })
	<-d.asked
	ballast = d.fill()
	close(d.hold)
	for said = bufio.NewScanner(errs); said.Scan(); {
		if strings.Contains(said.Text(), "the run waits: ") {
			return run, out, said, ballast
		}
	}
	d.t.Fatalf("the run does not wait\n%s", out)
	return
}

// JR04: the disk fills up under a run; it waits, says so, and goes on when there is room.
func TestRunWaitsForRoom(t *testing.T) {
	t.Parallel()
	if !inNamespaces(t) {
		return
	}
	d := newSmallDisk(t)
	run, out, said, ballast := d.fullRun()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for said.Scan() {
		t.Log(said.Text())
	}
	if err := run.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{`"type":"run.paused","why":"the log could not be written for `, `"status":"landed"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if code, out := d.says("log"); code != 0 || !strings.Contains(out, "paused: the log could not be written for ") {
		t.Errorf("log: %d\n%s", code, out)
	}
	if code, out := d.says("doctor"); !strings.Contains(out, "1 of this repository, each whole") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
}

// A run that waits for the disk ends when it is stopped, says what to do, and goes on with a resume.
func TestStoppedWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	if !inNamespaces(t) {
		return
	}
	d := newSmallDisk(t)
	run, out, said, ballast := d.fullRun()
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for said.Scan() {
		t.Log(said.Text())
	}
	run.Wait()
	if code := run.ProcessState.ExitCode(); code != 1 || !strings.Contains(out.String(), `"code":"disk_full"`) {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, out := d.says("resume"); code != 1 || !strings.Contains(out, "disk that is full") {
		t.Errorf("resume on a full disk: %d\n%s", code, out)
	}
	if code, out := d.says("status"); code != 0 || !strings.Contains(out, "stopped") {
		t.Errorf("status on a full disk: %d\n%s", code, out)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if code, out := d.says("resume"); code != 0 {
		t.Errorf("resume: %d\n%s", code, out)
	}
}

// A state directory that is full or read-only is refused in one sentence with a next step; reading goes on.
func TestStateDirectoryFullOrReadOnly(t *testing.T) {
	t.Parallel()
	if !inNamespaces(t) {
		return
	}
	d := newSmallDisk(t)
	close(d.hold)
	begin := []string{"run", "-f", filepath.Join(d.dir, "plan.yaml"), "--model", "openai/any", "--no-gate"}
	go func() { <-d.asked }()
	if code, out := d.says(begin...); code != 0 {
		t.Fatalf("%d\n%s", code, out)
	}
	ballast := d.fill()
	if code, out := d.says(begin...); code != 1 || !strings.Contains(out, "is on a disk that is full") || !strings.Contains(out, "next: free some space") {
		t.Errorf("full: %d\n%s", code, out)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	d.mount("none", "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=24m")
	if code, out := d.says(begin...); code != 2 || !strings.Contains(out, "cannot be written: read-only file system") || !strings.Contains(out, "next: make it writable") {
		t.Errorf("read-only: %d\n%s", code, out)
	}
	for _, verb := range []string{"status", "cost", "log"} {
		if code, out := d.says(verb); code != 0 || out == "" {
			t.Errorf("%s: %d\n%s", verb, code, out)
		}
	}
}

// JR07, contract 66: while its owner lives a second one is refused, and told which process it is; when that was killed,
// another takes over.
func TestSecondOwner(t *testing.T) {
	t.Parallel()
	if !inNamespaces(t) {
		return
	}
	d := newSmallDisk(t)
	run := d.colony("run", "-f", filepath.Join(d.dir, "plan.yaml"), "--model", "openai/any", "--no-gate", "--run-id", "r-1", "--json", "--state-dir", d.state)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Process.Kill() })
	<-d.asked
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("the run r-1 is carried out by process %d on %s", run.Process.Pid, host)
	if code, out := d.says("resume"); code != 2 || !strings.Contains(out, want) || !strings.Contains(out, "next: colony log r-1 --follow") {
		t.Errorf("a second owner: %d\n%s", code, out)
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.Wait()
	close(d.hold)
	if code, out := d.says("resume"); code != 0 {
		t.Errorf("taken over: %d\n%s", code, out)
	}
}
