package hatch

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"colony/configs"
	"colony/event"
	"colony/guard/hooks"
	"colony/model"
	"colony/model/anthropic"
	"colony/plan"
	"colony/strict"
)

// The sections of the settings, as hatch reads them. Each field has its effect here or in the room it is handed to.
type runSettings struct {
	Ants      string      `yaml:"ants"`
	Card      string      `yaml:"card"`
	Model     string      `yaml:"model"`
	Gates     []plan.Gate `yaml:"gates"`
	Setup     []string    `yaml:"setup"`
	Budget    string      `yaml:"budget"`
	Unseen    string      `yaml:"approve_over"`
	MaxTokens string      `yaml:"max_tokens"`
	Wall      string      `yaml:"wall"`
	Mode      string      `yaml:"mode"`
	Base      string      `yaml:"base"`
	Review    bool        `yaml:"review"`
}

type sandboxSettings struct {
	Level string   `yaml:"level"`
	Net   []string `yaml:"net"`
}

type permissionSettings struct {
	Allow []string `yaml:"allow"`
	Ask   []string `yaml:"ask"`
	Deny  []string `yaml:"deny"`
	// AllowSecrets are globs of files whose credentials may land.
	AllowSecrets []string `yaml:"allow_secrets"`
}

type hookSettings struct {
	PreToolUse  []hooks.Hook `yaml:"PreToolUse"`
	PostToolUse []hooks.Hook `yaml:"PostToolUse"`
	TaskDone    []hooks.Hook `yaml:"TaskDone"`
	Landing     []hooks.Hook `yaml:"Landing"`
	RunFinished []hooks.Hook `yaml:"RunFinished"`
}

type serverSettings struct {
	Start strict.Duration `yaml:"start"`
	Call  strict.Duration `yaml:"call"`
	Idle  strict.Duration `yaml:"idle"`
	Most  int             `yaml:"most"`
	// Env are variables whose values the servers of a repository may get.
	Env []string `yaml:"env"`
}

type limitSettings struct {
	GateReturns  int             `yaml:"gate_returns"`
	PlanFaults   int             `yaml:"plan_faults"`
	ReviewRounds int             `yaml:"review_rounds"`
	LandingBatch int             `yaml:"landing_batch"`
	Gate         strict.Duration `yaml:"gate"`
	Sh           strict.Duration `yaml:"sh"`
	Attempts     int             `yaml:"attempts"`
	FirstByte    strict.Duration `yaml:"first_byte"`
	Idle         strict.Duration `yaml:"idle"`
	Ask          strict.Duration `yaml:"ask"`
	Stop         strict.Duration `yaml:"stop"`
	ResultCap    int             `yaml:"result_cap"`
	Instructions int             `yaml:"instructions"`
	Output       int             `yaml:"output"`
	TextNudges   int             `yaml:"text_nudges"`
	Width        int             `yaml:"width"`
	Helpers      int             `yaml:"helpers"`
	HelperDepth  int             `yaml:"helper_depth"`
}

type providerSettings struct {
	BaseURL  string `yaml:"base_url"`
	KeyEnv   string `yaml:"key_env"`
	Wire     string `yaml:"wire"`
	Price    string `yaml:"price"`
	Parallel int    `yaml:"parallel"`
	Window   int    `yaml:"window"`

	FirstByte string `yaml:"first_byte"`
	Idle      string `yaml:"idle"`
}

// modelSettings is a name for models.
type modelSettings struct {
	Chain    string `yaml:"chain"`
	Window   int    `yaml:"window"`
	Output   int    `yaml:"output"`
	Price    string `yaml:"price"`
	Discount int    `yaml:"discount"`
}

type settings struct {
	run         runSettings
	sandbox     sandboxSettings
	permissions permissionSettings
	hooks       hookSettings
	mcp         serverSettings
	limits      limitSettings
	lsp         lspSettings
	models      map[string]modelSettings
	providers   map[string]providerSettings
}

func readSettings(from *configs.Settings) (settings, error) {
	var s settings
	for name, into := range map[string]any{
		"run": &s.run, "sandbox": &s.sandbox, "permissions": &s.permissions, "hooks": &s.hooks, "mcp": &s.mcp, "limits": &s.limits, "lsp": &s.lsp, "models": &s.models, "providers": &s.providers,
	} {
		if err := section(from, name, into); err != nil {
			return settings{}, err
		}
	}
	for name, p := range s.providers {
		switch event.Price(p.Price) {
		case event.Known, event.Free, event.Unknown:
		default:
			if _, err := model.ParsePrice(p.Price); err != nil {
				return settings{}, badSetting("providers."+name+".price", p.Price, "known, free, unknown or four rates like 1.25/0.125/1.25/10, and words like batch=50%")
			}
		}
	}
	return s, s.check()
}

func section(from *configs.Settings, name string, into any) error { return from.Section(name, into) }

// What settings say that leave a choice to colony, or that set no bound.
const (
	auto = "auto"
	none = "none"
)

// check looks at what is said of models, providers and servers.
func (s settings) check() error {
	if err := s.lsp.check(); err != nil {
		return err
	}
	if s.mcp.Most < 1 || s.mcp.Start <= 0 || s.mcp.Call <= 0 || s.mcp.Idle <= 0 {
		return badSetting("mcp", fmt.Sprintf("%+v", s.mcp), "times and a number above zero")
	}
	for name, m := range s.models {
		key := "models." + name
		if _, err := model.ParsePrice(m.Price); m.Price != "" && m.Price != string(event.Free) && err != nil {
			return badSetting(key+".price", m.Price, "free or four rates like 1.25/0.125/1.25/10")
		}
		if m.Discount < 0 || m.Discount > 100 {
			return badSetting(key+".discount", strconv.Itoa(m.Discount), "a part of a hundred")
		}
		if m.Window < 0 || m.Output < 0 || m.Window > 0 && m.Output >= m.Window {
			return badSetting(key+".window", strconv.Itoa(m.Window), "above the output, in tokens")
		}
	}
	for name, p := range s.providers {
		for key, text := range map[string]string{"first_byte": p.FirstByte, "idle": p.Idle} {
			if d, err := time.ParseDuration(text); text != "" && (err != nil || d <= 0) {
				return badSetting("providers."+name+"."+key, text, "a duration such as 10m")
			}
		}
		if p.Window < 0 {
			return badSetting("providers."+name+".window", strconv.Itoa(p.Window), "a number of tokens")
		}
	}
	return nil
}

// limit is a time limit of the provider's own, or the one for all.
func limit(own string, all strict.Duration) time.Duration {
	if d, err := time.ParseDuration(own); err == nil {
		return d
	}
	return time.Duration(all)
}

// wire is the format that a provider is spoken to in.
func (p providerSettings) wire() string {
	if p.Wire != auto && p.Wire != "" {
		return p.Wire
	}
	if address, err := url.Parse(p.BaseURL); err == nil && strings.EqualFold(address.Hostname(), "api.anthropic.com") {
		return messagesWire
	}
	return ""
}

// The formats beside those of openai.
const (
	messagesWire = anthropic.Messages
	ollamaWire   = "ollama"
)

// wall is the longest time the run may take; nil for none.
func (r runSettings) wall() (*time.Duration, error) {
	if r.Wall == none || r.Wall == "" {
		return nil, nil
	}
	d, err := time.ParseDuration(r.Wall)
	if err != nil || d <= 0 {
		return nil, badSetting("run.wall", r.Wall, "a duration such as 30m, or none")
	}
	return &d, nil
}

// budget is the most the run may spend in picodollars; nil for none.
func (r runSettings) budget() (*int64, error) { return dollars("run.budget", r.Budget) }

// unseen is the high estimate in picodollars up to which a plan starts without being shown; nil where all are shown.
func (r runSettings) unseen() (*int64, error) { return dollars("run.approve_over", r.Unseen) }

func dollars(key, text string) (*int64, error) {
	if text == none {
		return nil, nil
	}
	var usd strict.USD
	if err := usd.UnmarshalText([]byte(text)); err != nil || usd < 0 {
		return nil, badSetting(key, text, "an amount in dollars such as 2.50, or none")
	}
	n := int64(usd)
	return &n, nil
}

// tokens is the most the run may use; nil for none.
func (r runSettings) tokens() (*int64, error) {
	if r.MaxTokens == none {
		return nil, nil
	}
	n, err := strconv.ParseInt(r.MaxTokens, 10, 64)
	if err != nil || n < 0 {
		return nil, badSetting("run.max_tokens", r.MaxTokens, "a number, or none")
	}
	return &n, nil
}

// ants is how many ants work at once; 0 for auto.
func (r runSettings) ants() (int, error) {
	if r.Ants == auto {
		return 0, nil
	}
	n, err := strconv.Atoi(r.Ants)
	if err != nil || n < 1 {
		return 0, badSetting("run.ants", r.Ants, "a number from 1, or auto")
	}
	return n, nil
}

func badSetting(key, value, want string) *Problem {
	return &Problem{Exit: 2, Code: "bad_setting", Message: key + " is " + strconv.Quote(value) + ", which is not " + want, Next: "colony config list --origin says where it comes from"}
}
