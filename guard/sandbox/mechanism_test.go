package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/sandbox"
)

// fakeBubblewrap is a bwrap on PATH that keeps its arguments and then does what the script says.
func fakeBubblewrap(t *testing.T, script string) (argv func() []string) {
	t.Helper()
	dir := t.TempDir()
	told := filepath.Join(dir, "argv")
	text := "#!/bin/bash\nprintf '%s\\0' \"$@\" > " + told + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() []string {
		data, err := os.ReadFile(told)
		if err != nil {
			t.Fatal("it was not asked: ", err)
		}
		return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	}
}

// Bubblewrap is tried first, and is asked for every namespace, a read-only root and what is to be hidden. Where it does
// not hold the next mechanism is tried, none that is weaker.
func TestBubblewrapIsTriedFirst(t *testing.T) {
	w := newWorld(t)
	argv := fakeBubblewrap(t, "echo no such thing here >&2; exit 3")
	s := w.open(t, "workspace")
	if s.Mechanism() != sandbox.Namespaces {
		t.Errorf("%s holds", s.Mechanism())
	}
	said := "\x00" + strings.Join(argv(), "\x00") + "\x00"
	for _, want := range []string{
		"--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session", "--as-pid-1",
		"--ro-bind\x00/\x00/", "--proc\x00/proc", "--tmpfs\x00/tmp", "--tmpfs\x00" + w.home + "/.ssh", "--remount-ro\x00" + w.home + "/.ssh",
		"--ro-bind\x00/dev/null\x00" + w.home + "/.npmrc", "--tmpfs\x00" + w.state, "--tmpfs\x00" + w.config, "--tmpfs\x00/dev", "--remount-ro\x00/dev",
		"--\x00/proc/self/fd/5\x00colony: sandbox wrapped",
	} {
		if !strings.Contains(said, "\x00"+want+"\x00") {
			t.Errorf("not asked for %q", want)
		}
	}
	if strings.Contains(said, "--share-net") || strings.Contains(said, "\x00--bind\x00") {
		t.Errorf("asked for too much: %q", said)
	}
}

// What bubblewrap says that it made is looked at: one that makes nothing, or half of it, is not used.
func TestBubblewrapIsNotTakenAtItsWord(t *testing.T) {
	after := `while [ "$1" != -- ]; do shift; done; shift; `
	for name, c := range map[string]struct{ script, why string }{
		"nothing":         {after + `exec "$@"`, "bubblewrap made no user namespace"},
		"no network":      {after + `exec unshare -U -r -m -p -f -i -u "$@"`, "bubblewrap made no net namespace"},
		"namespaces only": {after + `exec unshare -U -r -m -p -f -i -u -n --mount-proc "$@"`, "bubblewrap made a wrong "},
		"an error":        {"echo no permission >&2; exit 1", "no permission"},
		"silence":         {"exit 0", "helper ended before the job began"},
	} {
		if _, err := exec.LookPath("unshare"); err != nil && strings.Contains(c.script, "unshare") {
			t.Log("skipped, since unshare is not on PATH: ", name)
			continue
		}
		w := newWorld(t)
		fakeBubblewrap(t, c.script)
		w.by = []string{sandbox.Bubblewrap}
		_, err := sandbox.New(t.Context(), w.parts("workspace"))
		if refused, ok := errors.AsType[*sandbox.RefusedError](err); !ok || !strings.Contains(refused.Why, c.why) || !strings.HasPrefix(refused.Why, "bubblewrap: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where no mechanism holds the refusal says of each why, and one thing to do.
func TestEveryMechanismIsNamedInTheRefusal(t *testing.T) {
	w := newWorld(t)
	fakeBubblewrap(t, "exit 3")
	w.by = []string{sandbox.Bubblewrap, sandbox.Landlock, sandbox.Seatbelt}
	_, err := sandbox.New(t.Context(), w.parts("workspace+net"))
	refused, ok := errors.AsType[*sandbox.RefusedError](err)
	if !ok || refused.Level != "workspace+net" || refused.Next == "" {
		t.Fatalf("%v", err)
	}
	at := 0
	for _, part := range []string{"bubblewrap: ", "; landlock: it has no network of a job's own", "; seatbelt: it is not of this platform"} {
		i := strings.Index(refused.Why[at:], part)
		if i < 0 {
			t.Fatalf("no %q in %q", part, refused.Why)
		}
		at += i
	}
	t.Setenv("PATH", "/nowhere")
	w.by = []string{sandbox.Bubblewrap}
	if _, err := sandbox.New(t.Context(), w.parts("workspace")); err == nil || !strings.Contains(err.Error(), "bwrap is not on PATH") {
		t.Errorf("%v", err)
	}
}

// What Landlock cannot keep as it is, it does not run a job on.
func TestLandlockRefusesWhatItCannotHold(t *testing.T) {
	w := newWorld(t)
	w.by = []string{sandbox.Landlock}
	s, err := sandbox.New(t.Context(), w.parts("workspace"))
	if err != nil && lacks(err) {
		t.Skip("this machine cannot: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	j := w.sh("echo ran")
	put(t, w.work+"/.vscode/large", strings.Repeat("x", 17<<20))
	j.Protected = []string{w.work + "/.vscode"}
	if exit, err := s.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "it holds more than 16 MiB") {
		t.Errorf("%+v, %v", exit, err)
	}
	p := w.parts("workspace")
	p.Hide = []string{w.work + "/secret"}
	put(t, w.work+"/secret/key", "SECRET")
	if s, err = sandbox.New(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if exit, err := s.Run(t.Context(), w.sh("cat secret/key")); err == nil || !strings.Contains(err.Error(), "landlock cannot hide") {
		t.Errorf("%+v, %v", exit, err)
	}
}
