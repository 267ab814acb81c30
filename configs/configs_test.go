package configs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"colony/configs"
	"colony/strict"
)

// run is a section as a calling room owns it.
type run struct {
	Ants      string         `yaml:"ants"`
	Card      string         `yaml:"card"`
	Model     string         `yaml:"model"`
	Gates     []string       `yaml:"gates"`
	Budget    *strict.USD    `yaml:"budget"`
	MaxTokens *int64         `yaml:"max_tokens"`
	Wall      *time.Duration `yaml:"wall"`
	Mode      string         `yaml:"mode"`
	Base      string         `yaml:"base"`
}

type permissions struct {
	Allow []string `yaml:"allow"`
	Ask   []string `yaml:"ask"`
	Deny  []string `yaml:"deny"`
}

type limits struct {
	GateReturns int           `yaml:"gate_returns"`
	Gate        time.Duration `yaml:"gate"`
	Sh          time.Duration `yaml:"sh"`
	Width       int           `yaml:"width"`
	ResultCap   int           `yaml:"result_cap"`
}

type provider struct {
	BaseURL  string `yaml:"base_url"`
	KeyEnv   string `yaml:"key_env"`
	Wire     string `yaml:"wire"`
	Price    string `yaml:"price"`
	Parallel int    `yaml:"parallel"`
}

func file(path, text string) configs.File { return configs.File{Path: path, Data: []byte(text)} }

func load(t *testing.T, parts configs.Parts) *configs.Settings {
	t.Helper()
	s, err := configs.Load(parts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// section decodes or ends the test.
func section[T any](t *testing.T, s *configs.Settings, name string) T {
	t.Helper()
	var into T
	if err := s.Section(name, &into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestDefaults(t *testing.T) {
	s := load(t, configs.Parts{})
	r := section[run](t, s, "run")
	if n := section[run](t, load(t, configs.Parts{User: file("/u", "run: {ants: 2, model: 1.50}")}), "run"); n.Ants != "2" || n.Model != "1.50" {
		t.Errorf("texts take any scalar: got %+v", n)
	}
	if r.Ants != "auto" || r.Card != "worker" || r.Gates == nil || len(r.Gates) > 0 || *r.Budget != 10e12 || *r.MaxTokens != 5000000 || r.Wall != nil || r.Mode != "auto" || r.Base != "HEAD" {
		t.Errorf("got %+v", r)
	}
	if l := section[limits](t, s, "limits"); l != (limits{3, 10 * time.Minute, 2 * time.Minute, 10, 32768}) {
		t.Errorf("got %+v", l)
	}
	all := section[map[string]provider](t, s, "providers")
	if got := all["ollama"]; got != (provider{"http://127.0.0.1:11434/v1", "", "ollama", "free", 1}) || len(all) != 8 {
		t.Errorf("got %+v", all)
	}
	if s.Origin("run.ants") != "default" || s.Origin("run.gates") != "default" || s.Origin("run.nothing") != "" {
		t.Errorf("origins %q %q %q", s.Origin("run.ants"), s.Origin("run.gates"), s.Origin("run.nothing"))
	}
}

func TestEveryKeyHasACommentAndADefault(t *testing.T) {
	keys := configs.Keys()
	if len(keys) < 50 || keys[0].Name != "run.ants" || keys[0].Default != "auto" || !strings.HasPrefix(keys[0].Comment, "Ants at work at once") {
		t.Fatalf("got %+v", keys)
	}
	s := load(t, configs.Parts{})
	for _, k := range keys {
		if k.Comment == "" || k.Default == "" || s.Get(k.Name) != k.Default || s.Origin(k.Name) != "default" {
			t.Errorf("key %+v, in force %q from %q", k, s.Get(k.Name), s.Origin(k.Name))
		}
	}
}

// Each tier beats the ones below it, whichever tiers there are.
func TestPrecedence(t *testing.T) {
	user := file("/u/config.yaml", "# mine\nrun:\n  ants: 2\n")
	project := file("/p/config.yaml", "run: {ants: 3}\n")
	env := []string{"COLONY_RUN_ANTS=4", "COLONY_LOG=debug", "HOME=/h"}
	flags := map[string]string{"run.ants": "5"}
	for name, c := range map[string]struct {
		parts        configs.Parts
		want, origin string
	}{
		"default":    {configs.Parts{}, "auto", "default"},
		"user":       {configs.Parts{User: user}, "2", "/u/config.yaml:3"},
		"project":    {configs.Parts{User: user, Project: project}, "3", "/p/config.yaml:1"},
		"env":        {configs.Parts{User: user, Project: project, Env: env}, "4", "COLONY_RUN_ANTS"},
		"flag":       {configs.Parts{User: user, Project: project, Env: env, Flags: flags}, "5", "--ants"},
		"flag alone": {configs.Parts{Flags: flags}, "5", "--ants"},
		"env alone":  {configs.Parts{Env: env}, "4", "COLONY_RUN_ANTS"},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, c.parts)
			if got := section[run](t, s, "run").Ants; got != c.want || s.Origin("run.ants") != c.origin {
				t.Errorf("got %s from %s, want %s from %s", got, s.Origin("run.ants"), c.want, c.origin)
			}
		})
	}
}

func TestListsReplaceAndGatesAndDeniesUnite(t *testing.T) {
	s := load(t, configs.Parts{
		Organisation: file("/o", "run: {gates: [make org]}\npermissions: {deny: [\"sh(sudo:*)\"]}\n"),
		User:         file("/u", "run: {gates: [make user]}\npermissions: {allow: [read, find], deny: [fetch], ask: [a]}\n"),
		Project:      file("/p", "run:\n  gates: [make org, make project]\npermissions: {deny: [search], ask: [b]}\n"),
		Env:          []string{`COLONY_PERMISSIONS_ALLOW=["sh(go test:*)", edit]`},
		Flags:        map[string]string{"run.gates": "go test ./... # all"},
	})
	r, p := section[run](t, s, "run"), section[permissions](t, s, "permissions")
	if got := strings.Join(r.Gates, "|"); got != "make org|make user|make project|go test ./... # all" {
		t.Errorf("gates %s", got)
	}
	if got := fmt.Sprint(p); got != "{[sh(go test:*) edit] [a b] [sh(sudo:*) fetch search]}" {
		t.Errorf("permissions %s", got)
	}
	if got := s.Origin("run.gates"); got != "/o:1, /u:1, /p:2, --gate" {
		t.Errorf("origin %s", got)
	}
}

// A project may only lower caps; a flag or variable of the user may raise them again.
func TestAProjectOnlyLowers(t *testing.T) {
	for name, c := range map[string]struct {
		user, project, env string
		want, held         string
	}{
		"lower":           {"", "run: {budget: 2.50}", "", "2.50", ""},
		"higher":          {"", "run: {budget: 20}", "", "10", "/p:1:7 run.budget stays 10 (default): a project may only lower it"},
		"none":            {"run: {budget: 4}", "run: {budget: none}", "", "4", "/p:1:7 run.budget stays 4 (/u:1): a project may only lower it"},
		"lower than none": {"run: {budget: none}", "run: {budget: 7}", "", "7", ""},
		"same":            {"", "run: {budget: 10.0}", "", "10.0", ""},
		"user's variable": {"", "run: {budget: 2}", "COLONY_RUN_BUDGET=30", "30", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, configs.Parts{User: file("/u", c.user), Project: file("/p", c.project), Env: []string{c.env}})
			var held string
			for _, f := range s.Held() {
				held = fmt.Sprintf("%s:%d:%d %s", f.File, f.Line, f.Column, f.Text)
			}
			if got := s.Get("run.budget"); got != c.want || held != c.held {
				t.Errorf("got %s, held %q", got, held)
			}
		})
	}
	s := load(t, configs.Parts{Project: file("/p", "limits: {gate: 20m, sh: 90s, width: 4, result_cap: 99999}\nrun: {wall: 1h, max_tokens: 6000000}\n")})
	if l := section[limits](t, s, "limits"); l != (limits{3, 10 * time.Minute, 90 * time.Second, 4, 32768}) || len(s.Held()) != 3 {
		t.Errorf("got %+v, held %v", l, s.Held())
	}
	if r := section[run](t, s, "run"); *r.Wall != time.Hour || *r.MaxTokens != 5000000 {
		t.Errorf("got %+v", r)
	}
}

func TestAProjectMayNot(t *testing.T) {
	_, err := configs.Load(configs.Parts{Project: file(".colony/config.yaml", `run:
  mode: auto
  model: openai/x
sandbox: {level: off}
permissions: {allow: ["sh(curl:*)"]}
providers:
  openai: {base_url: "http://evil", key_env: HOME}
`)})
	var faults strict.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", f.File, f.Line, f.Column, strings.TrimSuffix(f.Text, ": set it in your own settings")))
	}
	want := `.colony/config.yaml:2:3 a project may not set run.mode
.colony/config.yaml:3:3 a project may not set run.model
.colony/config.yaml:4:11 a project may not set sandbox.level
.colony/config.yaml:5:15 a project may not set permissions.allow
.colony/config.yaml:7:12 a project may not set providers.openai.base_url
.colony/config.yaml:7:37 a project may not set providers.openai.key_env`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// What a project may set is a list: every other key, also one added later, is refused.
func TestAProjectsKeysAreListed(t *testing.T) {
	may := map[string]bool{"run.ants": true, "run.card": true, "run.gates": true, "run.setup": true, "run.budget": true, "run.approve_over": true, "run.max_tokens": true, "run.wall": true, "lsp.wait": true, "lsp.commands": true, "permissions.ask": true, "permissions.deny": true}
	for _, k := range configs.Keys() {
		if strings.HasPrefix(k.Name, "providers.") {
			continue
		}
		section, name, _ := strings.Cut(k.Name, ".")
		_, err := configs.Load(configs.Parts{Project: file("/p", fmt.Sprintf("%s: {%s: %s}", section, name, k.Default))})
		if allowed := may[k.Name] || section == "limits" || section == "hooks"; (err == nil) != allowed {
			t.Errorf("%s: got %v, want allowed %t", k.Name, err, allowed)
		}
		if listed := may[k.Name] || section == "limits" || section == "hooks"; strings.HasSuffix(k.Comment, "project") != listed {
			t.Errorf("%s: the default file's comment says otherwise: %s", k.Name, k.Comment)
		}
	}
}

func TestTheOrganisationOnlyTightens(t *testing.T) {
	organisation := file("/etc/colony/config.yaml", "run: {budget: 5, mode: ask, wall: 1h}\nsandbox: {level: workspace}\nlimits: {sh: 5m}\n")
	s := load(t, configs.Parts{Organisation: organisation})
	if s.Get("run.budget") != "5" || s.Get("run.mode") != "ask" || s.Get("run.wall") != "1h" || s.Get("limits.sh") != "2m" || s.Origin("limits.sh") != "default" {
		t.Errorf("got\n%s", s.Text())
	}
	s = load(t, configs.Parts{Organisation: organisation, User: file("/u", "run: {budget: 3, mode: plan}\nlimits: {sh: 4m}\n")})
	if s.Get("run.budget") != "3" || s.Get("run.mode") != "plan" || s.Get("limits.sh") != "4m" {
		t.Errorf("got\n%s", s.Text())
	}
	_, err := configs.Load(configs.Parts{Organisation: organisation,
		User:  file("/u", "run: {budget: 6}\nsandbox: {level: off}\n"),
		Env:   []string{"COLONY_RUN_WALL=none"},
		Flags: map[string]string{"run.mode": "auto"}})
	want := []string{
		"--mode: run.mode may be at most ask: /etc/colony/config.yaml:1 says so",
		"/u:1:7: run.budget may be at most 5: /etc/colony/config.yaml:1 says so",
		"/u:2:11: sandbox.level may be at most workspace: /etc/colony/config.yaml:2 says so",
		"COLONY_RUN_WALL: run.wall may be at most 1h: /etc/colony/config.yaml:1 says so",
	}
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("got %v, want %s", err, w)
		}
	}
	for _, text := range []string{"run: {model: x}", "permissions: {allow: [x]}", "providers: {openai: {base_url: x}}", "run: {ants: 3}"} {
		if _, err := configs.Load(configs.Parts{Organisation: file("/o", text)}); err == nil || !strings.Contains(err.Error(), "only tighten") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestFaultsNameWhereTheyStand(t *testing.T) {
	for name, c := range map[string]struct {
		parts configs.Parts
		want  string
	}{
		"section":          {configs.Parts{User: file("/u", "runs: {}")}, `/u:1:1: unknown key "runs": did you mean run?`},
		"key":              {configs.Parts{User: file("/u", "run:\n  atns: 3")}, `/u:2:3: unknown key "atns": did you mean ants?`},
		"field":            {configs.Parts{User: file("/u", "providers: {x: {url: 3}}")}, `/u:1:17: unknown key "url"`},
		"section's kind":   {configs.Parts{User: file("/u", "run: 3")}, `/u:1:6: want a mapping for run, got a scalar`},
		"file's kind":      {configs.Parts{User: file("/u", "- run")}, `/u:1:1: want sections such as run, got a list`},
		"duplicate":        {configs.Parts{User: file("/u", "run: {ants: 1, ants: 2}")}, `/u:1:16: ants is here twice: keep one`},
		"syntax":           {configs.Parts{User: file("/u", "run: [")}, `/u:1:6: syntax:`},
		"type":             {configs.Parts{User: file("/u", "run: {budget: lots}")}, `/u:1:15: want dollars such as 0.50, got "lots"`},
		"project's type":   {configs.Parts{Project: file("/p", "run: {budget: lots}")}, `/p:1:15: want dollars such as 0.50, got "lots"`},
		"list":             {configs.Parts{User: file("/u", "run: {gates: make}")}, `/u:1:14: want a list, got "make"`},
		"entry":            {configs.Parts{User: file("/u", "run: {gates: [1]}")}, `/u:1:15: want text, got a number`},
		"scalar":           {configs.Parts{User: file("/u", "run: {mode: [a]}")}, `/u:1:13: want text, got a list`},
		"control":          {configs.Parts{User: file("/u", `run: {mode: "a\x1b"}`)}, `/u:1:13: the character U+001B is not allowed here`},
		"zero":             {configs.Parts{User: file("/u", "limits: {width: 0}")}, `/u:1:10: limits.width must be more than 0`},
		"zero span":        {configs.Parts{User: file("/u", "limits: {sh: 0s}")}, `/u:1:10: limits.sh must be more than 0`},
		"zero nudges":      {configs.Parts{User: file("/u", "limits: {text_nudges: 0}")}, ``},
		"negative":         {configs.Parts{Env: []string{"COLONY_LIMITS_TEXT_NUDGES=-1"}}, `COLONY_LIMITS_TEXT_NUDGES: limits.text_nudges must not be less than 0`},
		"no value":         {configs.Parts{User: file("/u", "run:\n  mode:\n")}, `/u:2:3: this has no value`},
		"variable":         {configs.Parts{Env: []string{"COLONY_RUN_BUDGET=lots"}}, `COLONY_RUN_BUDGET: want dollars such as 0.50, got "lots"`},
		"variable's list":  {configs.Parts{Env: []string{"COLONY_RUN_GATES=[a"}}, `COLONY_RUN_GATES:1:1: syntax:`},
		"variable's name":  {configs.Parts{Env: []string{"COLONY_RUN_ANST=3"}}, `COLONY_RUN_ANST: no setting has this name: did you mean COLONY_RUN_ANTS?`},
		"flag":             {configs.Parts{Flags: map[string]string{"run.max_tokens": "1.5"}}, `--max-tokens: want a whole number, got "1.5"`},
		"dotted provider":  {configs.Parts{User: file("/u", "providers: {a.b: {wire: chat}}")}, `/u:1:13: a name here has no dot`},
		"anchor":           {configs.Parts{User: file("/u", "run: &x {ants: 1}")}, `/u:1:6: anchors`},
		"all at once":      {configs.Parts{User: file("/u", "x: 1"), Project: file("/p", "y: 1")}, "/p:1:1: unknown key \"y\"\n    y: 1\n    ^\n/u:1:1: unknown key \"x\""},
		"empty variable":   {configs.Parts{Env: []string{"COLONY_LIMITS_SH="}}, ""},
		"stranger's names": {configs.Parts{Env: []string{"COLONY_STATE=1", "COLONY_RUN=r1", "COLONY_X_Y=2", "=x", "novalue"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := configs.Load(c.parts)
			if err == nil {
				err = s.Section("run", new(run))
			}
			if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestProvidersMergeByField(t *testing.T) {
	s := load(t, configs.Parts{
		User: file("/u", "providers:\n  openai: {base_url: \"http://127.0.0.1:1/v1\"}\n  MyServer: {base_url: \"http://h/v1\", price: free}\n"),
		Env:  []string{"COLONY_PROVIDERS_MYSERVER_PARALLEL=3", "COLONY_PROVIDERS_OPENAI_PRICE=unknown"},
	})
	all := section[map[string]provider](t, s, "providers")
	if all["openai"] != (provider{"http://127.0.0.1:1/v1", "OPENAI_API_KEY", "auto", "unknown", 4}) || all["MyServer"] != (provider{BaseURL: "http://h/v1", Price: "free", Parallel: 3}) {
		t.Errorf("got %+v", all)
	}
	if s.Origin("providers.openai.base_url") != "/u:2" || s.Origin("providers.openai.price") != "COLONY_PROVIDERS_OPENAI_PRICE" {
		t.Errorf("origins %s %s", s.Origin("providers.openai.base_url"), s.Origin("providers.openai.price"))
	}
}

// Text is YAML that says the same settings again.
func TestTextComesBack(t *testing.T) {
	s := load(t, configs.Parts{
		User:  file("/u", "run: {gates: [\"go test ./...\", {run: \"a: b # c\", dir: x}], model: \"007\", base: \"a'b\\\"c\"}\nproviders: {MyServer: {base_url: \"http://h/v1?a=b&c\"}}\n"),
		Env:   []string{"COLONY_RUN_BUDGET=1.25"},
		Flags: map[string]string{"run.wall": "2h"},
	})
	again := load(t, configs.Parts{User: file("/again", s.Text())})
	if s.Text() != again.Text() || s.SHA256() != again.SHA256() {
		t.Errorf("got\n%s\nthen\n%s", s.Text(), again.Text())
	}
	if s.SHA256() == load(t, configs.Parts{}).SHA256() {
		t.Error("other settings have the same hash")
	}
}

func TestSectionRefusesWhatIsNoKey(t *testing.T) {
	s := load(t, configs.Parts{})
	if err := s.Section("nothing", new(run)); err == nil {
		t.Error("a section that is none was decoded")
	}
	if err := s.Section("run", &struct {
		X int `yaml:"x"`
	}{}); err == nil {
		t.Error("a field that is no key was decoded")
	}
}

// FuzzLoad holds that no file of any tier panics, and that a project never changes what it may not.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("run: {ants: 3, mode: auto}\nproviders: {openai: {base_url: x}}"))
	f.Add([]byte("sandbox: {level: off}\npermissions:\n  allow: [x]\n"))
	f.Add([]byte("run:\n  budget: none\nlimits: {sh: 1h}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		base, _ := configs.Load(configs.Parts{})
		s, _ := configs.Load(configs.Parts{Project: configs.File{Path: "/p", Data: data}})
		for _, key := range []string{"run.mode", "run.model", "run.base", "sandbox.level", "permissions.allow", "providers.openai.base_url", "providers.openai.key_env"} {
			if s.Get(key) != base.Get(key) {
				t.Errorf("a project set %s to %s", key, s.Get(key))
			}
		}
		for _, tier := range []configs.Parts{{User: configs.File{Path: "/u", Data: data}}, {Organisation: configs.File{Path: "/o", Data: data}}} {
			if s, err := configs.Load(tier); err == nil {
				_ = s.Section("run", new(run))
				_ = s.Text()
			}
		}
	})
}
