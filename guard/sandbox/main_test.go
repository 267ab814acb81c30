package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Helper()
	switch {
	case os.Getenv("SANDBOX_TEST_ROOT") != "":
		w := worldAt(os.Getenv("SANDBOX_TEST_ROOT"))
		w.by = []string{os.Getenv("SANDBOX_TEST_BY")}
		colonyMain(w, os.Getenv("SANDBOX_TEST_LINE"))
	case os.Getenv("SANDBOX_TEST_DIAL") != "":
		os.Exit(dial("unix", os.Getenv("SANDBOX_TEST_DIAL")))
	case os.Getenv("SANDBOX_TEST_LOOP") != "":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			os.Exit(8)
		}
		os.Exit(dial("tcp", l.Addr().String()))
	case os.Getenv("SANDBOX_TEST_NEW") != "":
		os.Exit(newInside(worldAt(os.Getenv("SANDBOX_TEST_NEW"))))
	case os.Getenv("SANDBOX_TEST_EAT") != "":
		eat(os.Getenv("SANDBOX_TEST_EAT"))
	case os.Getenv("SANDBOX_TEST_FORK") != "":
		fork(os.Getenv("SANDBOX_TEST_FORK"))
	default:
		os.Exit(m.Run())
	}
}

// dial answers 9 where nobody could be reached.
func dial(network, address string) int {
	if _, err := net.Dial(network, address); err != nil {
		fmt.Println(err)
		return 9
	}
	return 0
}

// A world is a user's machine in little: a home with a secret in it, colony's directories, a worktree.
type world struct {
	home, state, config, work string
	by                        []string // mechanisms; all where it is nil
}

// lacks says that what a mechanism is made of is not there: bwrap, or the kernel's Landlock.
func lacks(err error) bool {
	return strings.Contains(err.Error(), "is not on PATH") || strings.Contains(err.Error(), "this kernel")
}

// eachWithBinds is each, for what Landlock refuses.
func eachWithBinds(t *testing.T, test func(t *testing.T, w world)) {
	each(t, func(t *testing.T, w world) {
		if !w.isLocked() {
			test(t, w)
			return
		}
		j := w.sh("echo ran")
		j.Bound = []sandbox.Bind{{At: filepath.Join(w.work, "../../next"), From: w.home + "/notes"}}
		if exit, err := w.open(t, "workspace").Run(t.Context(), j); err == nil {
			t.Errorf("it ran: %+v", exit)
		}
	})
}

func (w world) isLocked() bool { return len(w.by) > 0 && w.by[0] == sandbox.Landlock }

// each runs a test by each mechanism that this machine has.
func each(t *testing.T, test func(t *testing.T, w world)) {
	for _, by := range []string{sandbox.Namespaces, sandbox.Bubblewrap, sandbox.Landlock} {
		t.Run(by, func(t *testing.T) {
			w := newWorld(t)
			w.by = []string{by}
			s, err := sandbox.New(t.Context(), w.parts("workspace"))
			if err != nil && lacks(err) {
				t.Skip("this machine cannot: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			test(t, w)
		})
	}
}

func newWorld(t testing.TB) world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := worldAt(root)
	for path, text := range map[string]string{
		w.home + "/notes":              "notes",
		w.home + "/.ssh/id_ed25519":    "SECRET",
		w.home + "/.npmrc":             "SECRET",
		w.state + "/events.db":         "SECRET",
		w.state + "/repos/r1/git/HEAD": "ref",
		w.config + "/trust.json":       "SECRET",
		w.work + "/file":               "work",
		w.work + "/.git":               "gitdir: " + w.state + "/repos/r1/git",
	} {
		put(t, path, text)
	}
	return w
}

func worldAt(root string) world {
	home := filepath.Join(root, "home")
	return world{
		home:   home,
		config: filepath.Join(home, ".config/colony"),
		state:  filepath.Join(home, ".local/state/colony"),
		work:   filepath.Join(home, ".local/state/colony/repos/r1/wt/t1"),
	}
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w world) parts(level string) sandbox.Parts {
	return sandbox.Parts{Level: level, Home: w.home, State: w.state, Config: w.config, Mechanisms: w.by}
}

func (w world) open(t testing.TB, level string) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(context.Background(), w.parts(level))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// sh is an ant's shell job in the worktree.
func (w world) sh(line string) sandbox.Job {
	return sandbox.Job{
		Argv: []string{"bash", "-c", line}, Dir: w.work,
		Writable: []string{w.work}, Readable: []string{w.work + "/.git", w.state + "/repos/r1/git"},
	}
}

// run returns the exit and all output of a job.
func run(t testing.TB, s *sandbox.Sandbox, j sandbox.Job) (sandbox.Exit, string) {
	t.Helper()
	var out bytes.Buffer
	j.Stdout, j.Stderr = &out, &out
	exit, err := s.Run(context.Background(), j)
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out.String())
	}
	return exit, out.String()
}
