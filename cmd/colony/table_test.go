package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"colony/configs"

	"github.com/spf13/pflag"
)

// flagsShown names, for each flag of each verb, the script or test that shows its effect.
var flagsShown = map[string]string{
	"--dir":                   "runs.txtar",
	"--no-color":              "person.txtar",
	"--quiet":                 "runs.txtar",
	"--verbose":               "runs.txtar",
	"answer --run":            "desk.txtar",
	"answer --state-dir":      "desk.txtar",
	"cards explain --json":    "cards.txtar",
	"cards import --json":     "import.txtar",
	"cards import --output":   "import.txtar",
	"cards lint --json":       "cards.txtar",
	"cards list --json":       "cards.txtar",
	"cards schema --json":     "cards.txtar",
	"cards show --json":       "cards.txtar",
	"completion --json":       "completion.txtar",
	"config get --json":       "config.txtar",
	"config get --origin":     "config.txtar",
	"config list --json":      "config.txtar",
	"config list --origin":    "config.txtar",
	"config path --json":      "config.txtar",
	"config schema --json":    "config.txtar",
	"cost --by":               "runs.txtar",
	"cost --json":             "runs.txtar",
	"cost --state-dir":        "runs.txtar",
	"demo --fast":             "demo_test.go",
	"demo --json":             "demo_test.go",
	"demo --keep":             "demo_test.go",
	"diff --json":             "diff.txtar",
	"replay --json":           "replay.txtar",
	"replay --state-dir":      "replay.txtar",
	"diff --state-dir":        "gc.txtar",
	"doctor --fix":            "damaged.txtar",
	"doctor --json":           "doctor.txtar",
	"doctor --prove":          "prove.txtar",
	"doctor --sandbox":        "prove.txtar",
	"doctor --state-dir":      "doctor.txtar",
	"sandbox run --json":      "confined.txtar",
	"sandbox run --level":     "confined.txtar",
	"sandbox run --state-dir": "confined.txtar",
	"gc --json":               "gc.txtar",
	"gc --state-dir":          "gc.txtar",
	"guard test --card":       "guard.txtar",
	"guard test --expect":     "guard.txtar",
	"guard test --json":       "guard.txtar",
	"guard test --mode":       "guard.txtar",
	"guard test --rules":      "guard.txtar",
	"guard test --sandbox":    "guard.txtar",
	"inbox --json":            "desk.txtar",
	"inbox --state-dir":       "desk.txtar",
	"init --json":             "init.txtar",
	"land --into":             "land.txtar",
	"land --pr":               "pull_request.txtar",
	"land --json":             "land.txtar",
	"land --state-dir":        "gc.txtar",
	"log --ant":               "runs.txtar",
	"log --follow":            "runs.txtar",
	"log --json":              "runs.txtar",
	"log --state-dir":         "runs.txtar",
	"log --task":              "runs.txtar",
	"plan --base":             "plan.txtar",
	"plan --budget":           "plan.txtar",
	"plan --card":             "plan.txtar",
	"plan --check":            "plan.txtar",
	"plan --gate":             "plan.txtar",
	"plan --graph":            "plan.txtar",
	"plan --json":             "plan.txtar",
	"plan --max-tokens":       "plan.txtar",
	"plan --model":            "plan.txtar",
	"plan --no-gate":          "plan.txtar",
	"plan --output":           "plan.txtar",
	"plan --run-id":           "plan.txtar",
	"plan --state-dir":        "plan.txtar",
	"plan --update":           "plan_update.txtar",
	"resume --ants":           "resume.txtar",
	"resume --budget":         "resume.txtar",
	"resume --json":           "resume.txtar",
	"resume --max-tokens":     "resume.txtar",
	"resume --model":          "resume.txtar",
	"resume --on-ask":         "asks.txtar",
	"resume --state-dir":      "resume.txtar",
	"resume --wall":           "resume.txtar",
	"pause --state-dir":       "pause.txtar",
	"retry --run":             "pause.txtar",
	"retry --state-dir":       "pause.txtar",
	"resume --yes":            "approve.txtar",
	"run --ants":              "settings.txtar",
	"run --base":              "settings.txtar",
	"run --include-dirty":     "dirty.txtar",
	"run --approve-over":      "estimate.txtar",
	"run --budget":            "caps.txtar",
	"run --card":              "cards.txtar",
	"run --detach":            "detach.txtar",
	"run --file":              "run.txtar",
	"run --from":              "land.txtar",
	"run --gate":              "gates.txtar",
	"run --issue":             "issue.txtar",
	"run --json":              "run.txtar",
	"run --label":             "report.txtar",
	"run --land":              "land.txtar",
	"run --max-tokens":        "caps.txtar",
	"run --mode":              "permissions.txtar",
	"run --model":             "cards.txtar",
	"run --no-gate":           "gates.txtar",
	"run --one":               "goal.txtar",
	"run --on-ask":            "asks.txtar",
	"run --red-base":          "gates.txtar",
	"run --report":            "report.txtar",
	"run --review":            "review.txtar",
	"run --run-id":            "runs.txtar",
	"run --sandbox":           "permissions.txtar",
	"run --state-dir":         "runs.txtar",
	"run --trust":             "digests.txtar",
	"run --wall":              "caps.txtar",
	"run --yes":               "person.txtar",
	"status --json":           "runs.txtar",
	"status --state-dir":      "runs.txtar",
	"steer --run":             "desk.txtar",
	"steer --state-dir":       "desk.txtar",
	"stop --ant":              "desk.txtar",
	"stop --state-dir":        "desk.txtar",
	"mcp add --bearer-env":    "mcp_http.txtar",
	"mcp add --env":           "mcp_verbs.txtar",
	"mcp add --json":          "mcp_http.txtar",
	"mcp add --per":           "mcp_http.txtar",
	"mcp add --url":           "mcp_http.txtar",
	"mcp list --json":         "mcp_verbs.txtar",
	"mcp remove --json":       "mcp_verbs.txtar",
	"mcp test --accept":       "mcp_verbs.txtar",
	"mcp test --args":         "mcp_verbs.txtar",
	"mcp test --call":         "mcp_verbs.txtar",
	"mcp test --json":         "mcp_verbs.txtar",
	"models list --json":      "chain.txtar",
	"tools --card":            "cards.txtar",
	"tools --explain":         "guard.txtar",
	"tools --json":            "cards.txtar",
	"trust --json":            "trust.txtar",
	"trust --print":           "trust.txtar",
	"version --json":          "runs.txtar",

	"blame --html":                 "blame.txtar",
	"blame --json":                 "blame.txtar",
	"blame --state-dir":            "blame.txtar",
	"cost --all":                   "bills.txtar",
	"cost --chart":                 "bills.txtar",
	"cost --compare":               "bills.txtar",
	"cost --csv":                   "bills.txtar",
	"cost --html":                  "bills.txtar",
	"cost --merge-cards":           "bills.txtar",
	"cost --month":                 "bills.txtar",
	"cost --since":                 "bills.txtar",
	"cost --until":                 "bills.txtar",
	"ledger export --all":          "ledger.txtar",
	"ledger export --output":       "ledger.txtar",
	"ledger export --state-dir":    "ledger.txtar",
	"ledger import --json":         "ledger.txtar",
	"ledger import --state-dir":    "ledger.txtar",
	"ledger reconcile --json":      "ledger.txtar",
	"ledger reconcile --state-dir": "ledger.txtar",
	"ledger verify --all":          "ledger.txtar",
	"ledger verify --json":         "ledger.txtar",
	"ledger verify --state-dir":    "ledger.txtar",
}

// keysShown is flagsShown for the keys of the settings. The keys of all providers are the same, and those of all names for models.
var keysShown = map[string]string{
	"run.ants":                  "settings.txtar",
	"run.card":                  "settings.txtar",
	"run.model":                 "settings.txtar",
	"run.setup":                 "build.txtar",
	"run.gates":                 "settings.txtar",
	"run.approve_over":          "estimate.txtar",
	"run.budget":                "budgets.txtar",
	"run.max_tokens":            "budgets.txtar",
	"run.wall":                  "budgets.txtar",
	"run.mode":                  "settings.txtar",
	"run.base":                  "settings.txtar",
	"run.review":                "review.txtar",
	"sandbox.level":             "settings.txtar",
	"sandbox.net":               "network.txtar",
	"permissions.allow":         "permissions.txtar",
	"permissions.ask":           "permissions.txtar",
	"permissions.deny":          "permissions.txtar",
	"permissions.allow_secrets": "secrets.txtar",
	"hooks.PreToolUse":          "hooks.txtar",
	"hooks.PostToolUse":         "hooks.txtar",
	"hooks.TaskDone":            "hooks.txtar",
	"hooks.Landing":             "hooks.txtar",
	"hooks.RunFinished":         "hooks.txtar",
	"mcp.start":                 "mcp_hostile.txtar",
	"mcp.call":                  "mcp_hostile.txtar",
	"mcp.idle":                  "mcp_hostile.txtar",
	"mcp.most":                  "mcp_hostile.txtar",
	"mcp.env":                   "mcp_verbs.txtar",
	"limits.gate_returns":       "limits.txtar",
	"limits.plan_faults":        "planner.txtar",
	"limits.gate":               "limits.txtar",
	"limits.review_rounds":      "inputs.txtar",
	"limits.landing_batch":      "sum.txtar",
	"limits.sh":                 "limits.txtar",
	"limits.attempts":           "limits.txtar",
	"limits.first_byte":         "limits.txtar",
	"limits.helper_depth":       "helpers.txtar",
	"limits.helpers":            "helpers.txtar",
	"limits.idle":               "limits.txtar",
	"limits.stop":               "interrupt.txtar",
	"limits.ask":                "person.txtar",
	"limits.result_cap":         "bounds.txtar",
	"limits.instructions":       "bounds.txtar",
	"limits.output":             "bounds.txtar",
	"limits.text_nudges":        "bounds.txtar",
	"limits.width":              "bounds.txtar",
	"lsp.diagnostics":           "languages.txtar",
	"lsp.wait":                  "languages.txtar",
	"lsp.idle":                  "languages.txtar",
	"lsp.roots":                 "languages.txtar",
	"lsp.commands":              "languages.txtar",
	"models.*.chain":            "chain.txtar",
	"models.*.window":           "chain.txtar",
	"models.*.output":           "chain.txtar",
	"models.*.price":            "chain.txtar",
	"models.*.discount":         "chain.txtar",
	"providers.*.window":        "messages.txtar",
	"providers.*.first_byte":    "messages.txtar",
	"providers.*.idle":          "messages.txtar",
	"providers.*.base_url":      "providers.txtar",
	"providers.*.key_env":       "providers.txtar",
	"providers.*.wire":          "providers.txtar",
	"providers.*.price":         "providers.txtar",
	"providers.*.parallel":      "providers.txtar",
}

// Every flag has its effect in a script or test that types it with its verb.
func TestEveryFlagIsShown(t *testing.T) {
	there := map[string]*pflag.Flag{}
	for verb, cmd := range verbs() {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				there[verb+" --"+f.Name] = f
			}
		})
	}
	(&app{}).root().PersistentFlags().VisitAll(func(f *pflag.Flag) { there["--"+f.Name] = f })
	compare(t, "flag", slices.Sorted(maps.Keys(there)), flagsShown, func(name, line string) bool {
		words := strings.Fields(name)
		return inOrder(line, words[:len(words)-1]) && types(line, there[name])
	})
}

// Every key of the settings has its effect in a script that sets it in a file or a variable.
func TestEveryKeyIsShown(t *testing.T) {
	var keys []string
	for _, k := range configs.Keys() {
		name := regexp.MustCompile(`^(providers|models)\.[^.]+`).ReplaceAllString(k.Name, "$1.*")
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	compare(t, "key", keys, keysShown, func(name, line string) bool {
		leaf := name[strings.LastIndex(name, ".")+1:]
		variable := "COLONY_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_")) + "="
		return strings.Contains(line, variable) || regexp.MustCompile(`(^|[ {])`+leaf+`: `).MatchString(line) || strings.TrimSpace(line) == leaf+":"
	})
}

// compare wants one entry for each name, none more, and in its file a line that shows it.
func compare(t *testing.T, what string, names []string, shown map[string]string, shows func(name, line string) bool) {
	t.Helper()
	for _, name := range names {
		file, ok := shown[name]
		if !ok {
			t.Errorf("nothing is said to show the %s %s", what, name)
			continue
		}
		path := file
		if strings.HasSuffix(file, ".txtar") {
			path = filepath.Join("testdata", "script", file)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("the %s %s: %v", what, name, err)
			continue
		}
		if !slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return shows(name, line) }) {
			t.Errorf("%s does not show the %s %s", file, what, name)
		}
	}
	for name := range shown {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s %s to show", what, name)
		}
	}
}

// inOrder says that a line starts colony, or quotes its arguments, with these words in this order.
func inOrder(line string, words []string) bool {
	if !strings.Contains(line, "colony") && !strings.Contains(line, `"`) {
		return false
	}
	for _, w := range words {
		at := regexp.MustCompile(`(^|[ "])` + regexp.QuoteMeta(w) + `($|[ ",])`).FindStringIndex(line)
		if at == nil {
			return false
		}
		line = line[at[1]-1:]
	}
	return true
}

// types says that a line types a flag, long or short.
func types(line string, f *pflag.Flag) bool {
	spelt := `--` + f.Name
	if f.Shorthand != "" {
		spelt = `(--` + f.Name + `|-` + f.Shorthand + `)`
	}
	return regexp.MustCompile(`[ "]` + spelt + `($|[ =",)])`).MatchString(line)
}
