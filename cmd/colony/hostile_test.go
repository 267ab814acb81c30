package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// A hostile is a repository that tries to run something, or to widen its rights, when colony is started in it. Its archive says
// what it tries, how a run ends (want), which links and programs it has, and whether the very thing it tries works where
// somebody trusts it (fires): a canary that cannot sing would show nothing.
type hostile struct {
	name, says string
	want       int
	links      [][2]string
	execs      []string
	fires      bool
	files      []txtar.File
}

// leastHostile is how many repositories there are at least. The list only grows.
const leastHostile = 59

func hostiles(t *testing.T) []hostile {
	t.Helper()
	paths, err := filepath.Glob("testdata/hostile/*.txtar")
	if err != nil || len(paths) < leastHostile {
		t.Fatalf("%d hostile repositories, %v", len(paths), err)
	}
	var all []hostile
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h := hostile{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), files: archive.Files, want: -1}
		for line := range strings.Lines(string(archive.Comment)) {
			switch words := strings.Fields(line); {
			case len(words) == 2 && words[0] == "want":
				h.want, err = strconv.Atoi(words[1])
			case len(words) == 3 && words[0] == "link":
				h.links = append(h.links, [2]string{words[1], words[2]})
			case len(words) == 2 && words[0] == "exec":
				h.execs = append(h.execs, words[1])
			case len(words) == 1 && words[0] == "fires":
				h.fires = true
			default:
				h.says += line
			}
		}
		if err != nil || h.want < 0 || h.says == "" {
			t.Fatalf("%s: it does not say what it tries and how a run ends: %v", path, err)
		}
		all = append(all, h)
	}
	return all
}

// trapped are programs that nothing but a repository's files could want of these runs. Of a run that is refused, shells
// belong to them.
var trapped = []string{"make", "npm", "npx", "node", "yarn", "python", "python3", "cargo", "direnv", "docker", "ssh", "curl", "wget", "code", "env"}

// hostileWorld is a user's machine on which colony is started in a hostile repository. Nothing confines processes there, so that
// whatever runs leaves its canary.
type hostileWorld struct {
	*canaryWorld
	canary, listener string
	heard            atomic.Int64
}

const hostileScenario = `name: any
cards:
  worker:
    t:
      - calls:
          - {tool: write, args: {path: made.txt, content: "made\n"}}
          - {tool: sh, args: {command: git status}}
          - {tool: sh, args: {command: git diff}}
          - {tool: sh, args: {command: git log -p}}
      - calls: [{tool: done, args: {summary: made}}]
  queen:
    "*":
      - calls: [{tool: plan, args: {tasks: [{id: t, title: T, prompt: T.}]}}]
`

func newHostileWorld(t *testing.T, h hostile) *hostileWorld {
	t.Helper()
	w := &hostileWorld{canaryWorld: newCanaryWorld(t, hostileScenario)}
	w.canary = filepath.Join(w.dir, "canary", h.name)
	for name, text := range map[string]string{
		"canary/none": "", "home/.ssh/id_ed25519": "the-key-of-the-User", "out/config.yaml": "run: {gates: [\"" + w.trap() + "\"]}\n",
		"out/cards/worker.yaml": "name: worker\ndescription: W.\nprompt: W.\ntools: [write, done]\n", "plan.yaml": "tasks: [{id: t, title: T, prompt: T.}]\n",
	} {
		w.put(name, text)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			w.heard.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	w.listener = "http://" + listener.Addr().String()
	w.trapPrograms("traps", trapped)
	w.trapPrograms("shells", []string{"sh", "bash", "dash"})
	w.env = append(w.env, "COLONY_LOG=", `COLONY_PERMISSIONS_ALLOW=["write"]`, "PATH="+filepath.Join(w.dir, "traps")+":"+os.Getenv("PATH"))
	w.settle(h)
	return w
}

func (w *hostileWorld) trap() string { return "touch " + w.canary }

// trapPrograms puts programs into a directory that only leave a canary.
func (w *hostileWorld) trapPrograms(dir string, names []string) {
	for _, name := range names {
		w.put(filepath.Join(dir, name), "#!/bin/sh\n/bin/touch "+filepath.Join(w.dir, "canary", "program-"+name)+"\nexit 1\n")
		if err := os.Chmod(filepath.Join(w.dir, dir, name), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
}

// settle makes the repository: its files are committed, and what is for its .git is put there then.
func (w *hostileWorld) settle(h hostile) {
	w.t.Helper()
	repo := filepath.Join(w.dir, "repo")
	if err := os.RemoveAll(repo); err != nil {
		w.t.Fatal(err)
	}
	fill := strings.NewReplacer("$TRAP", w.trap(), "$LISTENER", w.listener, "$HOME", filepath.Join(w.dir, "home"), "$OUT", filepath.Join(w.dir, "out"))
	w.put("repo/base.txt", "base\n")
	for _, link := range h.links {
		path := filepath.Join(repo, link[0])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Symlink(fill.Replace(link[1]), path); err != nil {
			w.t.Fatal(err)
		}
	}
	put := func(inGit bool) {
		for _, f := range h.files {
			if strings.HasPrefix(f.Name, ".git/") != inGit {
				continue
			}
			name, text := f.Name, fill.Replace(string(f.Data))
			if plain, more := strings.CutSuffix(name, "+"); more {
				before, err := os.ReadFile(filepath.Join(repo, plain))
				if err != nil {
					w.t.Fatal(err)
				}
				name, text = plain, string(before)+text
			}
			w.put(filepath.Join("repo", name), text)
			if slices.Contains(h.execs, f.Name) {
				if err := os.Chmod(filepath.Join(repo, name), 0o755); err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
	put(false)
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-qm", "base")
	put(true)
}

func (w *hostileWorld) git(args ...string) {
	w.t.Helper()
	if out := w.run("git", append([]string{"-C", filepath.Join(w.dir, "repo")}, args...)...); strings.Contains(out, "fatal") {
		w.t.Fatal(out)
	}
}

// fired are the canaries that somebody left.
func (w *hostileWorld) fired() []string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, "canary"))
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "none" {
			names = append(names, e.Name())
		}
	}
	return names
}

// exit is how a command ends, and what it says.
func (w *hostileWorld) exit(path string, args ...string) (int, string) {
	w.t.Helper()
	cmd := w.command("colony", args...)
	cmd.Env = append(cmd.Env, "PATH="+path)
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// looks are verbs that only look, in a repository that nobody trusts.
var looks = [][]string{
	{"trust", "--print"}, {"trust", "--print", "--json"}, {"config", "list", "--origin"}, {"cards", "list"}, {"cards", "lint"}, {"cards", "explain", "worker"},
	{"tools"}, {"guard", "test", `{"tool":"sh","args":{"command":"ls"}}`}, {"status"}, {"inbox"}, {"cost"}, {"plan", "--check", "plan.yaml"}, {"init"}, {"gc"}, {"doctor"},
}

// S7, TR01, TR02, TR03, TR07, contract 52: before anybody trusts it, a repository starts no process, gets no request sent and
// widens no right, whatever it holds. Each sees a third of the verbs that look, and each of these a third of the repositories;
// with COLONY_LOOKS=all, as in make security, each sees all.
func TestHostileRepositoriesBeforeTrust(t *testing.T) {
	t.Parallel()
	all, each := hostiles(t), 3
	if os.Getenv("COLONY_LOOKS") == "all" {
		each = 1
	}
	var canaries, started, requests atomic.Int64
	t.Run("each", func(t *testing.T) {
		for n, h := range all {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				w := newHostileWorld(t, h)
				w.refusedOr(h, &started, &requests)
				for i, verb := range looks {
					if (i+n)%each > 0 {
						continue
					}
					if code, out := w.exit(w.path(), verb...); code == 1 || strings.Contains(out, "the-key-of-the-User") {
						t.Errorf("colony %s: %d: %s", strings.Join(verb, " "), code, out)
					}
				}
				fired := w.fired()
				if canaries.Add(int64(len(fired))); len(fired) > 0 {
					t.Errorf("%s: %v", h.says, fired)
				}
				if n := w.heard.Load(); n > 0 {
					requests.Add(n)
					t.Errorf("%s: %d connections", h.says, n)
				}
				if strings.Contains(w.requests(), "the-key-of-the-User") {
					t.Error("the model was sent the user's key")
				}
				w.sings(h)
			})
		}
	})
	t.Logf("security: S7 | hostile repositories before trust: canaries, other processes, requests | %d, %d, %d of %d | 0 of 25",
		canaries.Load(), started.Load(), requests.Load(), len(all))
}

func (w *hostileWorld) path() string { return filepath.Join(w.dir, "traps") + ":" + os.Getenv("PATH") }

// refusedOr carries a goal out, or a plan. What is refused started nothing and sent nothing; what is not ends as if the
// hostile files were not there.
func (w *hostileWorld) refusedOr(h hostile, started, requests *atomic.Int64) {
	w.t.Helper()
	path := w.path()
	if h.want != 0 {
		path = filepath.Join(w.dir, "shells") + ":" + path
	}
	goals := [][]string{{"do it", "--yes"}}
	if h.want != 0 {
		goals = append(goals, []string{"-f", filepath.Join(w.dir, "plan.yaml")})
	}
	for i, goal := range goals {
		args := append([]string{"run", "--model", "openai/any", "--gate", "true", "--sandbox", "off", "--mode", "ask", "--run-id", fmt.Sprintf("r-%d", i), "--json"}, goal...)
		code, out := w.exit(path, args...)
		if code != h.want {
			w.t.Errorf("%s: the run ended with %d, want %d: %s", h.says, code, h.want, out)
		}
		if h.want != 0 {
			sent, ran := len(w.server.Received()), len(w.fired())
			requests.Add(int64(sent))
			started.Add(int64(ran))
			if sent+ran > 0 || strings.Contains(out, `"run":`) {
				w.t.Errorf("%s: refused, and %d requests were sent, %d programs started: %s", h.says, sent, ran, out)
			}
		}
	}
}

// sings wants that the canary does sing where what the repository tries is let happen: by its user's trust, or by plain git.
func (w *hostileWorld) sings(h hostile) {
	if !h.fires {
		return
	}
	w.t.Helper()
	if h.want == 0 {
		for _, f := range h.files { // of another time than git has written down, so that it looks at them
			if path := filepath.Join(w.dir, "repo", f.Name); !strings.HasPrefix(f.Name, ".git/") {
				if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil {
					w.t.Fatal(err)
				}
			}
		}
		for _, args := range [][]string{{"status"}, {"add", "-A"}, {"branch", "other"}} {
			w.run("git", append([]string{"-C", filepath.Join(w.dir, "repo")}, args...)...)
		}
	} else {
		w.run("colony", "trust")
		w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--gate", "true", "--sandbox", "off", "--mode", "ask", "--run-id", "r-trusted")
	}
	if len(w.fired()) == 0 {
		w.t.Errorf("%s: it does nothing where it is trusted either", h.says)
	}
}
