package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/secrets"
)

// tries are what an ant may think of to decide for the person who started it. P is a copy of the command in its worktree, R the
// run, S the state directory, C the user's settings, L the address of the model's server.
var tries = []struct{ name, line string }{
	{"answer", "P answer worker-1.1 allow"},
	{"steer", "P steer --run R worker-1 hello"},
	{"stop", "P stop R"},
	{"pause", "P pause R"},
	{"retry", "P retry t"},
	{"trust", "P trust"},
	{"init", "P init"},
	{"land", "P land r-old"},
	{"gc", "P gc"},
	{"resume", "P resume R"},
	{"doctor", "P doctor --fix"},
	{"where the user's settings are", "XDG_CONFIG_HOME=C/.. XDG_STATE_HOME=S/.. P trust"},
	{"read the log", "cat S/repos/*/runs/*/*.db"},
	{"write the log", "for f in S/repos/*/runs/*/*.db; do echo x >>$f || exit 1; done"},
	{"write to the desk", "for d in S/repos/*/runs/*; do mkdir -p $d/desk && echo '{}' >$d/desk/x || exit 1; done"},
	{"write the trust store", "echo '{}' >C/trust.json"},
	{"the model's port", "exec 3<>/dev/tcp/L"},
}

const triesScenario = `name: any
cards:
  worker:
    t:
      - calls: [{tool: sh, args: {command: sh tries.sh}}]
      - calls: [{tool: sh, args: {command: sh tries.sh}}]
      - calls: [{tool: done, args: {summary: tried}}]
    old:
      - calls: [{tool: write, args: {path: old.txt, content: "old\n"}}]
      - calls: [{tool: done, args: {summary: made}}]
`

// S11, contract 78: an ant whose sh runs colony, opens the log's file or a port of colony's changes nothing.
func TestAnAntDecidesNothing(t *testing.T) {
	t.Parallel()
	changed, all := 0, 0
	for _, level := range []string{"workspace", "off"} {
		t.Run(level, func(t *testing.T) {
			w := newCanaryWorld(t, triesScenario)
			w.env = append(w.env, "COLONY_LOG=", `COLONY_PERMISSIONS_ALLOW=["sh", "write"]`)
			names := w.tries(level)
			w.runIn("old", "r-old", "workspace")
			before := w.decided()
			out := w.runIn("t", "r-in", level)
			if !strings.Contains(out, `"status":"landed"`) {
				t.Fatalf("the run did not land: %s", out)
			}
			codes := w.run("git", "-C", filepath.Join(w.dir, "repo"), "show", "colony/r-in:codes.txt")
			if !strings.HasPrefix(codes, "it runs\n") {
				t.Fatalf("the ant could not run the command at all: %s", codes)
			}
			for _, name := range names {
				all++
				if !strings.Contains(codes, " "+name+"\n") || strings.Contains(codes, "\n0 "+name+"\n") {
					changed++
					t.Errorf("%s was not refused: %s", name, codes)
				}
			}
			for _, word := range []string{"steered", "cancelled", "granted", "run.paused", "ask.answered"} {
				if strings.Contains(out, `"type":"`+word+`"`) {
					t.Errorf("the log has a %s", word)
				}
			}
			if after := w.decided(); after != before {
				t.Errorf("it changed:\n%s\nwas\n%s", after, before)
			}
			if out := w.run("colony", "doctor", "--json"); strings.Contains(out, "damaged") {
				t.Error(out)
			}
		})
	}
	t.Logf("security: S11 | what an ant's colony, log file and port changed | %d of %d | 0 of 12", changed, all)
}

// tries puts what is tried into the repository. Without a sandbox nothing hides files; what is left are the verbs.
func (w *canaryWorld) tries(level string) (names []string) {
	w.t.Helper()
	program, err := os.ReadFile(filepath.Join(built, "colony"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.put("repo/program", string(program))
	if err := os.Chmod(filepath.Join(w.dir, "repo/program"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	fill := strings.NewReplacer("P ", "./program ", " R", " r-in", "S/", filepath.Join(w.dir, "state/colony")+"/", "C/", filepath.Join(w.dir, "home/.config/colony")+"/",
		"/L", "/"+strings.Replace(strings.TrimSuffix(strings.TrimPrefix(w.server.URL, "http://"), "/v1"), ":", "/", 1))
	script := "./program version && echo it runs > codes.txt\n"
	for _, try := range tries {
		if level == "off" && !strings.HasPrefix(try.line, "P ") {
			continue
		}
		names = append(names, try.name)
		w.put("repo/tries/"+try.name, fill.Replace(try.line)+"\n")
		script += fmt.Sprintf("bash 'tries/%s' >/dev/null 2>&1 </dev/null; echo \"$? %s\" >> codes.txt\n", strings.ReplaceAll(try.name, "'", `'\''`), try.name)
	}
	w.put("repo/tries.sh", script)
	w.put("repo/.colony/config.yaml", "run: {gates: [\"true\"]}\n")
	w.put("repo/.gitignore", ".env\n")
	for _, args := range [][]string{{"rm", "-q", "--cached", ".env"}, {"add", "-A"}, {"commit", "-qm", "tries"}} {
		w.run("git", append([]string{"-C", filepath.Join(w.dir, "repo")}, args...)...)
	}
	w.run("colony", "trust")
	w.put("repo/.colony/config.yaml", "run: {gates: [\"echo other\"]}\n") // now trust would say something
	return names
}

// runIn carries out the task at a level of the sandbox, by the trusted settings' content.
func (w *canaryWorld) runIn(task, id, level string) string {
	w.t.Helper()
	w.put("plan.yaml", fmt.Sprintf("tasks: [{id: %s, title: A, prompt: A.}]\n", task))
	w.put("repo/.colony/config.yaml", "run: {gates: [\"true\"]}\n")
	out := w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--run-id", id, "--sandbox", level, "--json")
	w.put("repo/.colony/config.yaml", "run: {gates: [\"echo other\"]}\n")
	return out
}

// decided is all that only a person may change: trust, branches, what is kept, and the runs there are.
func (w *canaryWorld) decided() string {
	w.t.Helper()
	refs := w.run("git", "-C", filepath.Join(w.dir, "repo"), "for-each-ref", "refs/heads/main", "refs/heads/colony/r-old", "refs/colony/r-old")
	old := w.run("colony", "log", "r-old", "--json")
	return w.bytesBelow("home/.config") + refs + fmt.Sprint(len(old))
}

// The page says which verbs are refused in processes of ants, and how many kinds of credentials are found by their looks.
func TestThePageSaysWhatHolds(t *testing.T) {
	page, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range deciding {
		if !strings.Contains(string(page), "`"+verb+"`") {
			t.Errorf("SECURITY.md does not name %s", verb)
		}
	}
	if kinds := fmt.Sprintf("%d kinds", len(secrets.Kinds())-1); !strings.Contains(string(page), kinds) { // one is of values
		t.Errorf("SECURITY.md does not say that there are %s", kinds)
	}
}
