//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/secrets"
	"colony/model/scripted"

	"golang.org/x/sys/unix"
)

// providerKey is the key that the scripted server wants.
const providerKey = "test-key-0123456789"

// canaries are a credential of each kind, as it stands in the repository's files. A ~ keeps this file from holding one.
var canaries = map[string]string{
	secrets.OpenAI:        "OPENAI=sk~-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1",
	secrets.Anthropic:     "CLAUDE=sk~-ant-api03-Ab3dEf6hIj9lMn2pQr5t",
	secrets.GitHub:        "GH=ghp~_Ab3dEf6hIj9lMn2pQr5tUv8xYz1234567890",
	secrets.GitLab:        "GL=glpat~-Ab3dEf6hIj9lMn2pQr5t",
	secrets.AWS:           "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCY~zzzCANARY1",
	secrets.Google:        "G=AIza~SyAb3dEf6hIj9lMn2pQr5tUv8xYz12345_-",
	secrets.HuggingFace:   "HF=hf~_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh",
	secrets.Slack:         "SLACK=xoxb~-1234567890-Ab3dEf6hIj9l",
	secrets.Stripe:        "PAY=sk_live~_Ab3dEf6hIj9lMn2pQr5t",
	secrets.NPM:           "NPM=npm~_Ab3dEf6hIj9lMn2pQr5tUv8xYz1234567890",
	secrets.PyPI:          "PYPI=pypi~-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDA",
	secrets.JWT:           "JWT=eyJ~hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
	secrets.PrivateKey:    "-----BEGIN~ PRIVATE KEY-----\nMIIC4n4ryMIIC4n4ryMIIC4n4ryMIIC4n4ry\n-----END PRIVATE KEY-----",
	secrets.URLPassword:   "DB=postgres://app:s3~cr3t-c4nary@db.example/app",
	secrets.Netrc:         "machine api.example login ada password c4n~ary-word-9",
	secrets.Authorization: "Authorization: Bearer c4n~aryDEF0123456789abcdef",
	secrets.Env:           "IT=of-the-c4n~ary-Variable", // the value of a variable of the user's
}

// written is what of a canary must be nowhere: its last word.
func written(canary string) (line, secret string) {
	line = strings.ReplaceAll(canary, "~", "")
	secret = line[strings.LastIndexAny(line, " =")+1:]
	if strings.Contains(line, "PRIVATE") {
		secret = "MIIC4n4ryMIIC4n4ry"
	}
	if at := strings.Index(secret, "app:"); at >= 0 {
		secret, _, _ = strings.Cut(secret[at+4:], "@")
	}
	return line, secret
}

const canaryScenario = `name: any
cards:
  worker:
    a:
      - calls:
          - {tool: read, args: {path: .env}}
          - {tool: sh, args: {command: "cat .env; cat .env >&2; env; cat /proc/self/environ /proc/$PPID/environ /proc/1/environ; cat $HOME/.config/colony/*"}}
          - {tool: find, args: {content: "=", path: .env, mode: matches}}
      - calls: [{tool: sh, args: {command: "while true; do cat .env; sleep 60; done", background: true}}]
      - calls: [{tool: write, args: {path: made.txt, content: "made\n"}}]
      - calls: [{tool: done, args: {summary: made}}]
`

// canaryWorld is a repository that holds every canary, in its files, its instructions and what its gate prints.
type canaryWorld struct {
	t      *testing.T
	dir    string
	env    []string
	server *scripted.Server
}

func newCanaryWorld(t *testing.T, scenario string) *canaryWorld {
	t.Helper()
	w := &canaryWorld{t: t, dir: t.TempDir()}
	parsed, err := scripted.Parse("any", []byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	if w.server, err = scripted.Serve(context.Background(), scripted.Parts{Scenarios: []scripted.Scenario{parsed}, Key: providerKey, Record: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.server.Close() })
	var all strings.Builder
	for _, canary := range canaries {
		line, _ := written(canary)
		all.WriteString(line + "\n")
	}
	_, private := written(canaries[secrets.Env])
	w.env = append(os.Environ(), "HOME="+filepath.Join(w.dir, "home"), "XDG_STATE_HOME="+filepath.Join(w.dir, "state"), "XDG_CONFIG_HOME=", "XDG_CACHE_HOME="+testCache(t),
		"GIT_CONFIG_NOSYSTEM=1", "COLONY_LOG=trace", "TERM=xterm", "OPENAI_API_KEY="+providerKey, "OPENAI_BASE_URL="+w.server.URL, "MY_TOKEN="+private)
	w.put("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.test\n")
	w.put("repo/.env", all.String())
	w.put("repo/AGENTS.md", "Mind these:\n"+all.String())
	w.put("reports/empty", "")
	w.put("plan.yaml", "tasks: [{id: a, title: A, prompt: A.}]\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "base"}} {
		w.run("git", append([]string{"-C", filepath.Join(w.dir, "repo")}, args...)...)
	}
	return w
}

func (w *canaryWorld) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *canaryWorld) command(name string, args ...string) *exec.Cmd {
	if name == "colony" {
		name, args = filepath.Join(built, "colony"), append([]string{"-C", filepath.Join(w.dir, "repo")}, args...)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = w.env
	return cmd
}

// run is all that a command prints, whatever it ends with.
func (w *canaryWorld) run(name string, args ...string) string {
	w.t.Helper()
	out, err := w.command(name, args...).CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		w.t.Fatal(err)
	}
	return string(out)
}

// onTerminal is what a command writes to a terminal.
func (w *canaryWorld) onTerminal(args ...string) string {
	w.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := w.command("colony", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	terminal.Close()
	var shown bytes.Buffer
	_, _ = shown.ReadFrom(master) // ends with an error when the other side is closed
	_ = cmd.Wait()
	return shown.String()
}

// bytesBelow are all files in a directory, one after the other.
func (w *canaryWorld) bytesBelow(dir string) string {
	w.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(w.dir, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all.String()
}

// requests are all that the model's server was sent.
func (w *canaryWorld) requests() string {
	var all strings.Builder
	for _, r := range w.server.Received() {
		all.Write(r.Body)
	}
	return all.String()
}

// sinks are all places where what an ant read can come to.
func (w *canaryWorld) sinks(run string) map[string]string {
	w.t.Helper()
	runs, err := filepath.Glob(filepath.Join(w.dir, "state", "colony", "repos", "*", "runs"))
	if err != nil || len(runs) != 1 {
		w.t.Fatal(runs, err)
	}
	rel, _ := filepath.Rel(w.dir, runs[0])
	shown := w.onTerminal("run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--gate", "cat .env", "--run-id", "r-tty", "-v")
	return map[string]string{
		"model":    w.requests(),
		"log":      w.run("colony", "log", run, "--json") + w.bytesBelow(rel),
		"terminal": shown + w.run("colony", "log", run) + w.run("colony", "status", run) + w.run("colony", "inbox"),
		"report":   w.bytesBelow("reports"),
		"status":   w.run("colony", "status", run, "--json"),
		"bill":     w.run("colony", "cost", run, "--json"),
		"diff":     w.run("colony", "diff", run),
	}
}

// S8, SE01, SE02: what an ant reads, what it is told of the repository, what gates print and what its processes find in
// their environment reaches no sink; the model is told what stood there.
func TestCanariesReachNoSink(t *testing.T) {
	w := newCanaryWorld(t, canaryScenario)
	operator := w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--gate", "cat .env; test -f made.txt || true", "--run-id", "r-1",
		"--json", "--report", filepath.Join(w.dir, "reports/r.md"))
	if !strings.Contains(operator, `"status":"landed"`) {
		t.Fatalf("the run did not land: %s", operator)
	}
	w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--gate", "cat .env", "--run-id", "r-2", "--report", filepath.Join(w.dir, "reports/r.html"))
	sinks := w.sinks("r-1")
	sinks["operator"] = operator
	found := 0
	for kind, canary := range canaries {
		_, secret := written(canary)
		for sink, text := range sinks {
			if strings.Contains(text, secret) {
				found++
				t.Errorf("%s: a canary of the kind %s", sink, kind)
			}
		}
		if !strings.Contains(sinks["model"], secrets.Marker(kind)) {
			t.Errorf("the model was not told of the kind %s", kind)
		}
	}
	for sink, text := range sinks {
		if strings.Contains(text, providerKey) {
			found++
			t.Errorf("%s: the provider's key", sink)
		}
		if text == "" {
			t.Errorf("%s: nothing came there", sink)
		}
	}
	t.Logf("security: S8 | canaries found, of kinds x sinks | %d of %d x %d | 0 of 12 x 8", found, len(canaries), len(sinks))
}

// SE03: a provider that refuses and echoes the key, with the operator's log at its finest.
func TestAnEchoedKeyReachesNoSink(t *testing.T) {
	w := newCanaryWorld(t, fmt.Sprintf(`name: any
cards:
  worker:
    "*":
      - faults: [{status: 401, code: invalid_api_key, times: -1, text: "Incorrect API key provided: %[1]s (Authorization: Bearer %[1]s)"}]
`, providerKey))
	operator := w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--gate", "true", "--run-id", "r-1", "--report", filepath.Join(w.dir, "reports/r.md"))
	if !strings.Contains(operator, "refused the key") {
		t.Fatalf("the provider did not refuse: %s", operator)
	}
	sinks := w.sinks("r-1")
	sinks["operator"] = operator
	for sink, text := range sinks {
		if strings.Contains(text, providerKey) {
			t.Errorf("%s: the provider's key", sink)
		}
	}
	if !strings.Contains(sinks["report"], "worker-1") {
		t.Errorf("the report: %q", sinks["report"])
	}
}

// What colony keeps of a run is its user's alone.
func TestARunIsItsUsersAlone(t *testing.T) {
	w := newCanaryWorld(t, canaryScenario)
	w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--gate", "true", "--run-id", "r-1")
	state := filepath.Join(w.dir, "state", "colony")
	count := 0
	err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		inRun := strings.Contains(path, "/runs/")
		if err == nil && info.Mode().Perm()&0o077 != 0 && (inRun || path == state) && info.Mode().Type()&fs.ModeSymlink == 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		if inRun {
			count++
		}
		return err
	})
	if err != nil || count < 5 {
		t.Errorf("%d files, %v", count, err)
	}
}
