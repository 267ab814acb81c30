package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"colony/event"
	"colony/model/scripted"

	"github.com/goccy/go-yaml"
)

// wireCase is what a provider does to an ant, and what has to come of it.
type wireCase struct {
	ID        string          `yaml:"id"`
	About     string          `yaml:"about"`
	Wires     []string        `yaml:"wires"` // empty for all
	Turns     []scripted.Turn `yaml:"turns"`
	Outcomes  []string        `yaml:"outcomes"`
	Estimated []bool          `yaml:"estimated"`
	Limits    []int           `yaml:"limits"`
	Waits     []float64       `yaml:"waits"`
	Usage     *struct{ Input, Cached, Output, Reasoning int64 }
	Longest   int    `yaml:"longest"` // of the requests, in bytes
	Started   int    `yaml:"started"`
	Fault     bool   `yaml:"fault"`
	Recovered bool   `yaml:"recovered"`
	Status    string `yaml:"status"`
}

func (c wireCase) task() string { return strings.ToLower(strings.ReplaceAll(c.ID, " ", "")) }

func (c wireCase) on(wire string) bool { return len(c.Wires) == 0 || slices.Contains(c.Wires, wire) }

// wireEnv is how a provider is set up that is spoken to over a wire, and what its model is called.
var wireEnv = map[string]struct {
	model string
	env   []string
	fault string // how a result that carries a fault is marked
}{
	"chat":      {"openai/any", []string{"COLONY_PROVIDERS_OPENAI_WIRE=chat", "COLONY_PROVIDERS_OPENAI_WINDOW=128000"}, `"error: `},
	"responses": {"openai/any", []string{"COLONY_PROVIDERS_OPENAI_WIRE=responses", "COLONY_PROVIDERS_OPENAI_WINDOW=128000"}, `"error: `},
	"messages":  {"anthropic/any", []string{"COLONY_PROVIDERS_ANTHROPIC_WINDOW=128000"}, `"is_error":true`},
	"ollama":    {"ollama/any", []string{"COLONY_PROVIDERS_OLLAMA_WINDOW=128000", "COLONY_PROVIDERS_OLLAMA_IDLE=400ms", "COLONY_PROVIDERS_OLLAMA_FIRST_BYTE=1200ms"}, `"error: `},
}

// The cases of testdata/wires.yaml over every wire: each is a task of one run, against a server that does what it says.
func TestEveryWire(t *testing.T) {
	data, err := os.ReadFile("testdata/wires.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []wireCase
	if err := yaml.UnmarshalWithOptions(data, &cases, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for wire := range wireEnv {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			w, events := ranOver(t, wire, cases)
			for _, c := range cases {
				if c.on(wire) {
					t.Run(c.ID, func(t *testing.T) { c.check(t, wire, events[c.task()], w.server.Received()) })
				}
			}
		})
	}
}

// ranOver is a run of all cases, and its events by task.
func ranOver(t *testing.T, wire string, cases []wireCase) (*canaryWorld, map[string][]event.Event) {
	t.Helper()
	s := scripted.Scenario{Name: "any", Cards: map[string]map[string][]scripted.Turn{"worker": {}}}
	plan := "tasks:\n"
	for _, c := range cases {
		if c.on(wire) {
			done := scripted.Turn{Calls: []scripted.Call{{Tool: "done", Args: map[string]any{"summary": "done"}}}}
			s.Cards["worker"][c.task()] = append(c.Turns, done)
			plan += fmt.Sprintf("  - {id: %s, prompt: Do it.}\n", c.task())
		}
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	w, out, code := over(t, wire, string(text), plan)
	if code != 6 { // contract 67 is in it
		t.Fatalf("the run ended with %d: %s", code, out)
	}
	events := map[string][]event.Event{}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		events[e.Task] = append(events[e.Task], e)
	}
	return w, events
}

// over is a run of a plan over a wire: the world, its events as they were printed, and its exit code.
func over(t *testing.T, wire, scenario, plan string) (*canaryWorld, string, int) {
	t.Helper()
	w, at := newCanaryWorld(t, scenario), wireEnv[wire]
	w.env = append(w.env, "COLONY_LIMITS_ATTEMPTS=4", "COLONY_LIMITS_IDLE=400ms", "COLONY_LIMITS_FIRST_BYTE=1200ms", "ANTHROPIC_API_KEY="+providerKey,
		"COLONY_PROVIDERS_ANTHROPIC_BASE_URL="+w.server.URL, "COLONY_PROVIDERS_OLLAMA_BASE_URL="+w.server.URL, "COLONY_PROVIDERS_OLLAMA_KEY_ENV=OPENAI_API_KEY")
	w.env = append(w.env, at.env...)
	w.put("plan.yaml", plan)
	out, err := w.command("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--model", at.model, "--gate", "true", "--ants", "16", "--run-id", "r-1", "--json").Output()
	return w, string(out), exitOf(err)
}

// Contract 76: who is refused for good costs one request and one sentence, over every wire.
func TestARefusalForGoodCostsOneRequest(t *testing.T) {
	for wire := range wireEnv {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			for name, fault := range map[string]string{
				"check ":              `{status: 401, text: "Incorrect API key provided.", times: -1}`,
				"quota is used up":    `{status: 429, code: insufficient_quota, text: "You exceeded your current quota.", times: -1}`,
				"to be verified":      `{status: 403, text: "Your organization must be verified to use the model.", times: -1}`,
				"name another with":   `{status: 404, code: model_not_found, text: "The model does not exist.", times: -1}`,
				"look at your plan":   `{status: 400, code: billing_error, text: "Your credit balance is too low.", times: -1}`,
				"look at your plan t": `{status: 402, text: "Payment required", times: -1}`,
			} {
				scenario := "name: any\ncards: {worker: {\"*\": [{text: x, faults: [" + fault + "]}]}}\n"
				w, out, code := over(t, wire, scenario, "tasks: [{id: a, prompt: A.}, {id: b, prompt: B.}, {id: c, prompt: C.}]\n")
				if sent := len(w.server.Received()); sent != 1 || code != 6 {
					t.Errorf("%s: %d requests, exit %d", name, sent, code)
				}
				finished := out[strings.LastIndex(out, `"exit":6`)+1:]
				if strings.Count(finished, name) != 1 {
					t.Errorf("%s: %s", name, finished)
				}
			}
		})
	}
}

// exitOf is the exit code of a command.
func exitOf(err error) int {
	if coded, ok := err.(interface{ ExitCode() int }); ok {
		return coded.ExitCode()
	}
	return 0
}

func (c wireCase) check(t *testing.T, wire string, events []event.Event, sent []scripted.Received) {
	var replies []event.ModelReplied
	var limits []int
	var waits []float64
	var ended time.Time
	started, status, recovered := 0, "", false
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.ModelRequested:
			if limits = append(limits, b.OutputLimit); len(limits) > 1 {
				waits = append(waits, e.Time.Sub(ended).Seconds())
			}
		case event.ModelReplied:
			replies, ended = append(replies, b), e.Time
			recovered = recovered || strings.Contains(string(b.Content), `"recovered":true`)
		case event.ToolStarted:
			started++
		case event.TaskDone:
			status = b.Status
		}
	}
	c.checkReplies(t, wire, replies)
	if c.Limits != nil && !slices.Equal(limits, c.Limits) {
		t.Errorf("output limits %v", limits)
	}
	for i, least := range c.Waits {
		if i < len(waits) && waits[i] < least {
			t.Errorf("attempt %d came after %.2f s", i+2, waits[i])
		}
	}
	if want := map[string]string{"": "landed"}[c.Status] + c.Status; status != want {
		t.Errorf("the task ended as %s", status)
	}
	if c.Started > 0 && started != c.Started || recovered != c.Recovered {
		t.Errorf("%d calls had an effect, recovered %v", started, recovered)
	}
	marked := false
	for _, r := range sent {
		if r.Task == c.task() {
			marked = marked || strings.Contains(string(r.Body), wireEnv[wire].fault)
			if c.Longest > 0 && len(r.Body) > c.Longest {
				t.Errorf("a request of %d bytes", len(r.Body))
			}
		}
	}
	if marked != c.Fault {
		t.Errorf("a fault was marked: %v", marked)
	}
}

// checkReplies looks at the attempts: what became of them, and what is on the bill.
func (c wireCase) checkReplies(t *testing.T, wire string, replies []event.ModelReplied) {
	var got []string
	for i, r := range replies {
		got = append(got, r.Outcome)
		if c.Estimated != nil && i < len(c.Estimated) && (r.Estimated != c.Estimated[i] || r.Estimated && (r.Usage.Requests != 1 || r.Usage.Input == 0 || r.Usage.Output == 0)) {
			t.Errorf("attempt %d: estimated %v, %+v", i+1, r.Estimated, r.Usage)
		}
	}
	want := "^" + strings.ReplaceAll("("+strings.Join(c.Outcomes, ") (")+")", "()", "") + "$"
	if !regexp.MustCompile(want).MatchString(strings.Join(got, " ")) {
		t.Errorf("attempts came to %v, want %v", got, c.Outcomes)
	}
	if c.Usage == nil || len(replies) == 0 {
		return
	}
	u := event.Usage{Requests: 1, Input: c.Usage.Input, Cached: c.Usage.Cached, Output: c.Usage.Output, Reasoning: c.Usage.Reasoning}
	if wire == "ollama" { // which counts nothing but input and output
		u.Cached, u.Reasoning = 0, 0
	}
	if replies[0].Usage != u {
		t.Errorf("usage %+v, want %+v", replies[0].Usage, u)
	}
}
