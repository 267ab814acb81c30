package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"colony/guard/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Helper()
	os.Exit(m.Run())
}

// A world is a user's machine in little: a home with a secret in it, colony's directories, a worktree.
type world struct {
	home, state, config, work string
}

func newWorld(t testing.TB) world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{
		home:  filepath.Join(root, "home"),
		state: filepath.Join(root, "home/.local/state/colony"),
		work:  filepath.Join(root, "home/.local/state/colony/repos/r1/wt/t1"),
	}
	w.config = filepath.Join(w.home, ".config/colony")
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
	return sandbox.Parts{Level: level, Home: w.home, State: w.state, Config: w.config}
}

func (w world) open(t testing.TB, level string) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(context.Background(), w.parts(level))
	if err != nil {
		t.Fatal(err)
	}
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
