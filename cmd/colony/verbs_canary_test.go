package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spoken are the words of every verb, as they are typed after a run over a repository full of canaries. An empty list is a verb
// that only holds others.
var spoken = map[string][][]string{
	"answer": {{"answer", "worker-1.1", "allow"}}, "cards": {}, "cards explain": {{"cards", "explain", "worker"}, {"cards", "explain", "keeper", "--json"}},
	"cards import": {{"cards", "import"}, {"cards", "import", "--json"}}, "cards lint": {{"cards", "lint"}, {"cards", "lint", "--json"}},
	"cards list": {{"cards", "list"}, {"cards", "list", "--json"}}, "cards schema": {{"cards", "schema"}}, "cards show": {{"cards", "show", "worker"}},
	"completion": {{"completion", "bash"}}, "config": {},
	"config get": {{"config", "get", "run.gates"}, {"config", "get", "run.gates", "--origin"}}, "config list": {{"config", "list"}, {"config", "list", "--origin"}, {"config", "list", "--json"}},
	"config path": {{"config", "path"}}, "config schema": {{"config", "schema"}},
	"blame":  {{"blame", "made.txt"}, {"blame", "made.txt", "--json"}, {"blame", ".env"}},
	"cost":   {{"cost"}, {"cost", "r-1", "--by", "ant"}, {"cost", "r-1", "--json"}, {"cost", "--csv"}, {"cost", "--chart"}, {"cost", "--by", "tool"}},
	"ledger": {}, "ledger export": {{"ledger", "export"}}, "ledger import": {{"ledger", "import", "../plan.yaml"}},
	"ledger reconcile": {{"ledger", "reconcile", "../plan.yaml"}}, "ledger verify": {{"ledger", "verify"}, {"ledger", "verify", "--json"}},
	"demo": nil,
	"diff": {{"diff", "r-1"}, {"diff", "r-1", "a"}, {"diff", "--json"}}, "doctor": {{"doctor"}, {"doctor", "--json"}, {"doctor", "--fix"}},
	"gc": {{"gc"}, {"gc", "--json"}}, "guard": {}, "guard test": {{"guard", "test", `{"tool":"read","args":{"path":".env"}}`}, {"guard", "test", "--json", `{"tool":"sh","args":{"command":"cat .env"}}`}},
	"inbox": {{"inbox"}, {"inbox", "--json"}}, "init": {{"init"}, {"init", "--json"}}, "land": {{"land", "r-1", "--into", "side", "--json"}, {"land", "r-1"}},
	"log": {{"log", "r-1"}, {"log", "r-1", "--json"}, {"log", "r-1", "--ant", "worker-1"}}, "pause": {{"pause", "r-1"}},
	"plan": {{"plan", "--check", "../plan.yaml"}, {"plan", "--graph", "../plan.yaml"}, {"plan", "do it", "--model", "openai/any", "--gate", "cat .env"}}, "resume": {{"resume", "r-1"}, {"resume", "r-1", "--json"}},
	"retry": {{"retry", "a"}}, "run": {{"run", "--one", "do it", "--model", "openai/any", "--gate", "cat .env; false"}, {"run", "-f", "../plan.yaml", "--model", "openai/any", "--gate", "cat .env", "--run-id", "r-v", "-v"}},
	"replay":  {{"replay", "r-1"}, {"replay", "r-1", "--json"}},
	"sandbox": {}, "sandbox run": {{"sandbox", "run", "--json", "--", "true"}},
	"status": {{"status"}, {"status", "r-1"}, {"status", "r-1", "--json"}}, "steer": {{"steer", "worker-1", "hello"}}, "stop": {{"stop"}, {"stop", "r-1"}},
	"models": {}, "models list": {{"models", "list"}, {"models", "list", "--json"}},
	"tools": {{"tools"}, {"tools", "--json"}, {"tools", "--card", "worker", "--explain", "sh"}}, "trust": {{"trust", "--print"}, {"trust", "--json"}}, "version": {{"version"}, {"version", "--json"}},
}

// S8, SE02: no verb says a canary, in words or in JSON, nor does anything that colony keeps hold one, after a run over a
// repository that has all of them in its files, its instructions, its settings, its cards and its gates' output.
func TestNoVerbSaysACanary(t *testing.T) {
	t.Parallel()
	w := newCanaryWorld(t, canaryScenario)
	var all []string
	for _, canary := range canaries {
		line, _ := written(canary)
		all = append(all, strings.ReplaceAll(line, "\n", " "))
	}
	slices.Sort(all)
	command := "TOKEN=" + strings.ReplaceAll("ghp~_CommandCanaryCommandCanaryCommandCanary0", "~", "")
	_, inCommand := written(command)
	inCommand = strings.TrimPrefix(inCommand, "TOKEN=")
	w.put("repo/.colony/config.yaml", "run:\n  gates: [\"true "+command+"\"]\n")
	keeper := "name: keeper\ndescription: Keeps.\ntools: [read, write, sh, find, done]\nprompt: |\n  " + strings.Join(all, "\n  ") + "\n"
	w.put("repo/.colony/cards/keeper.yaml", keeper)
	w.put("plan.yaml", "tasks:\n  - id: a\n    title: A\n    gates: [\"true "+command+"\"]\n    prompt: |\n      "+strings.Join(all, "\n      ")+"\n")
	said := map[string]string{}
	hear := func(args ...string) string {
		out := w.run("colony", args...)
		said[strings.Join(args, " ")] = out
		return out
	}
	hear("trust")
	if out := hear("run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", "openai/any", "--run-id", "r-1", "--json"); !strings.Contains(out, `"status":"landed"`) {
		t.Fatalf("the run did not land: %s", out)
	}
	for verb, cmd := range verbs() {
		lines, known := spoken[verb]
		if !known || len(lines) == 0 && !cmd.HasSubCommands() && verb != "demo" {
			t.Errorf("colony %s is not tried with canaries", verb)
		}
		for _, args := range lines {
			hear(args...)
		}
	}
	said["what is kept"] = strings.ReplaceAll(w.bytesBelow("state/colony/repos"), keeper, "") // but for what a resume uses as it was written
	said["the model"] = w.requests()
	found := 0
	for kind, canary := range canaries {
		_, secret := written(canary)
		for sink, text := range said {
			if strings.Contains(text, secret) {
				found++
				at := strings.Index(text, secret)
				t.Errorf("%s: a canary of the kind %s: %.200q", sink, kind, text[max(0, at-150):])
			}
		}
	}
	for sink, text := range said {
		if sink != "what is kept" && strings.Contains(text, inCommand) { // as it was written, too
			found++
			t.Errorf("%s: the canary of a command", sink)
		}
	}
	t.Logf("security: S8 | canaries found in what verbs say, of kinds x commands | %d of %d x %d | 0", found, len(canaries)+1, len(said))
}
