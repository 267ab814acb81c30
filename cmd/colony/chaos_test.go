package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"colony/ant"
	"colony/event"
	"colony/ledger"
	tables "colony/ledger/report"
	"colony/model"
	"colony/model/anthropic"
	"colony/model/ollama"
	"colony/model/openai"
	"colony/model/scripted"
	"colony/tools"
)

const (
	chaosAnts    = 32
	chaosTurns   = 400
	chaosIdle    = 400 * time.Millisecond
	chaosLatency = 300 * time.Millisecond
	chaosWait    = 7 * time.Second // what a 429 asks for
)

// chaosFault is what an attempt comes to. What makes everybody wait is rare, so that there is time for the rest.
func chaosFault(random *rand.Rand) scripted.Fault {
	switch n := random.IntN(480); {
	case n == 0:
		return scripted.Fault{Status: 429, Code: "rate_limit_exceeded", Text: "slow down", RetryAfter: fmt.Sprint(chaosWait.Seconds())}
	case n < 4:
		return scripted.Fault{Status: 529, Code: "overloaded_error", Text: "overloaded"}
	case n < 70:
		return scripted.Fault{Status: 500, Text: "oops"}
	}
	kinds := []string{"reset", "stall", "cut", "early", "half_args", "bad_args"}
	return scripted.Fault{Kind: kinds[random.IntN(len(kinds))]}
}

// chaosScript is what every ant is told by its model, and what goes wrong with it.
func chaosScript(seed uint64) scripted.Scenario {
	random := rand.New(rand.NewPCG(seed, seed))
	s := scripted.Scenario{Name: "chaos", Cards: map[string]map[string][]scripted.Turn{"worker": {}}}
	for a := range chaosAnts {
		var turns []scripted.Turn
		for i := range chaosTurns {
			text := fmt.Sprintf("turn %d", i)
			turn := scripted.Turn{Text: text, Latency: chaosLatency, Calls: []scripted.Call{{Tool: "echo", Args: map[string]any{"text": text}}}}
			for random.Float64() < 0.3 && len(turn.Faults) < 4 {
				turn.Faults = append(turn.Faults, chaosFault(random))
			}
			turns = append(turns, turn)
		}
		s.Cards["worker"][fmt.Sprintf("t%d", a)] = turns
	}
	return s
}

type chaosEcho struct{ tools.Base }

func (chaosEcho) Spec() tools.Spec {
	return tools.Spec{Name: "echo", Description: "Say it again.", Params: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)}
}

func (chaosEcho) Effects(*tools.Env, json.RawMessage) (tools.Effects, error) {
	return tools.Effects{Known: true, ReadOnly: true}, nil
}

func (chaosEcho) Run(_ context.Context, _ *tools.Env, args json.RawMessage) (tools.Result, error) {
	return tools.Result{Text: string(args)}, nil
}

// chaosClients are one client for each wire.
func chaosClients(t *testing.T, url string) map[string]model.Provider {
	t.Helper()
	ok := func(p model.Provider, err error) model.Provider {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const first = 5 * time.Second
	return map[string]model.Provider{
		"chat":      ok(openai.New(openai.Parts{BaseURL: url, Wire: openai.Chat, FirstByte: first, Idle: chaosIdle})),
		"responses": ok(openai.New(openai.Parts{BaseURL: url, Wire: openai.Responses, FirstByte: chaosIdle * 3, Idle: chaosIdle})),
		"messages":  ok(anthropic.New(anthropic.Parts{BaseURL: url, FirstByte: chaosIdle * 3, Idle: chaosIdle})),
		"ollama":    ok(ollama.New(ollama.Parts{BaseURL: url, FirstByte: first, Idle: chaosIdle})),
	}
}

// TestChaos lets 32 ants, a quarter of them on each wire, work for a while against a provider of which three attempts in
// ten go wrong: no turn is lost, and none is paid for or asked for more than needed.
func TestChaos(t *testing.T) {
	lasts := 3 * time.Second
	if text := os.Getenv("COLONY_CHAOS"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	scenario := chaosScript(seed)
	server, err := scripted.Serve(t.Context(), scripted.Parts{Scenarios: []scripted.Scenario{scenario}, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	log := event.NewMemory("r", time.Now)
	book, err := ledger.NewBook(ledger.Parts{Log: log, Now: time.Now, Rate: func(string, string) ledger.Rate {
		return ledger.Rate{State: event.Known, Cost: func(u model.Usage) event.PicoUSD { return event.PicoUSD(2*u.Input() + 5*u.Output) }}
	}})
	if err != nil {
		t.Fatal(err)
	}
	key, clients, governors := model.NewKey(), chaosClients(t, server.URL), map[string]*model.Governor{}
	wires := []string{"chat", "responses", "messages", "ollama"}
	for _, wire := range wires {
		if governors[wire], err = model.NewGovernor(model.GovernorParts{Key: key, Throttled: func(string, time.Time) {}}); err != nil {
			t.Fatal(err)
		}
	}
	book.OpenTask("t", ledger.Caps{})
	until := time.Now().Add(lasts)
	endings := make([]ant.Ending, chaosAnts)
	var all sync.WaitGroup
	for i := range chaosAnts {
		wire := wires[i%len(wires)]
		account := ledger.Account{Run: "r", Task: "t", Ant: fmt.Sprintf("a%d", i), Card: "worker", Provider: wire, Model: "chaos"}
		book.OpenAnt(account, ledger.Caps{})
		one := chaosAnt(t, log, account, governors[wire].Around(book.Meter(account, clients[wire])), until)
		all.Go(func() {
			if err := one.Tell(t.Context(), "task", fmt.Sprintf("Task t%d: work", i)); err != nil {
				t.Error(err)
			}
			ending, err := one.Work(t.Context())
			if err != nil {
				t.Error(err)
			}
			endings[i] = ending
		})
	}
	all.Wait()
	turns := chaosLost(t, log, endings)
	chaosLedger(t, log, server)
	chaosTimes(t, server, scenario, turns, lasts)
}

func chaosAnt(t *testing.T, log event.Log, account ledger.Account, p model.Provider, until time.Time) *ant.Ant {
	t.Helper()
	registry := tools.NewRegistry(nil)
	if err := registry.Register("built-in", chaosEcho{}); err != nil {
		t.Fatal(err)
	}
	one, err := ant.New(ant.Parts{
		Run: "r", Task: account.Task, Ant: account.Ant, System: ant.System("worker", "Work.", nil), Model: p, Name: "chaos", OutputLimit: 1000, CacheKey: "worker",
		Env: &tools.Env{Root: "/w", Ant: account.Ant, Tools: registry, Files: tools.NewFileState(), Now: time.Now},
		Log: log, Width: 1, Nudges: 1, Layers: []tools.Layer{tools.Refused()}, Memory: ant.NewMemory("/w"),
		Calls: func(int) error {
			if time.Now().After(until) {
				return &model.CapError{Scope: "ant", Cap: "calls", Text: "the time is over"}
			}
			return nil
		},
		Foresee: func(context.Context, *tools.Env, []tools.Prepared) error { return nil },
		Low:     func() (string, error) { return "", nil }, Heard: func(context.Context) []event.AntTold { return nil },
		Window: ant.Window{Tokens: func() int { return 0 }, Learn: func(int) {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return one
}

// chaosLost wants every ant to have heard every turn once, in order, and to have ended for the time and nothing else.
func chaosLost(t *testing.T, log event.Log, endings []ant.Ending) (turns int) {
	t.Helper()
	heard := map[string]int{}
	for e, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		r, ok := e.Body.(event.ModelReplied)
		if !ok || r.Outcome != "ok" {
			continue
		}
		var m model.Message
		if err := json.Unmarshal(r.Content, &m); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("turn %d", heard[e.Ant]); m.Text != want || len(m.Calls) != 1 || !json.Valid(m.Calls[0].Args) {
			t.Errorf("%s heard %q where %q was due", e.Ant, m.Text, want)
		}
		heard[e.Ant]++
		turns++
	}
	for i, e := range endings {
		if e.Reason != ant.Calls && heard[fmt.Sprintf("a%d", i)] < chaosTurns {
			t.Errorf("ant %d ended as %s: %s", i, e.Reason, e.Detail)
		}
	}
	return turns
}

// chaosLedger is law 6: what the server counted is on the bill to the token, and the sum of the ants is the run.
func chaosLedger(t *testing.T, log event.Log, server *scripted.Server) {
	t.Helper()
	bill, err := ledger.Fold(log.Read(t.Context(), 0))
	if err != nil {
		t.Fatal(err)
	}
	table, err := tables.Make(&bill, tables.Options{By: []string{"ant"}})
	if err != nil {
		t.Fatal(err)
	}
	var sum event.PicoUSD
	for _, r := range table.Rows {
		sum += *r.USD
	}
	if sum != *table.Total.USD {
		t.Errorf("the ants cost %s, the run %s", sum, *table.Total.USD)
	}
	var told, want [3]int64
	for e, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.Body.(event.ModelReplied); ok && !r.Estimated {
			told[0], told[1], told[2] = told[0]+r.Usage.Requests, told[1]+r.Usage.Input, told[2]+r.Usage.Output
		}
	}
	for _, r := range server.Counts().Rows {
		want[0], want[1], want[2] = want[0]+r.Replies, want[1]+r.Input, want[2]+r.Output
	}
	if told != want {
		t.Errorf("billed %v, the server counted %v", told, want)
	}
}

// chaosTimes looks at when requests came: none while the provider wants everybody to wait, the first retry of any other
// fault soon, and no more of them than there are turns and faults.
func chaosTimes(t *testing.T, server *scripted.Server, s scripted.Scenario, turns int, lasts time.Duration) {
	t.Helper()
	type place struct {
		task string
		turn int
	}
	all := server.Received()
	faultOf := func(r scripted.Received) scripted.Fault {
		if list := s.Cards["worker"][r.Task][r.Turn].Faults; r.Attempt < len(list) {
			return list[r.Attempt]
		}
		return scripted.Fault{}
	}
	var cool time.Time // until when the last refusal wants everybody to wait
	var early, faults int
	var quiet, noisy []time.Duration             // first retries, by whether anything made all wait meanwhile
	failed := map[place]time.Time{}              // when a first attempt went wrong
	back := map[time.Time]map[string]time.Time{} // by wait, when each ant came back from it
	var holds [][2]time.Time
	for _, r := range all {
		const onItsWay = 500 * time.Millisecond // what left before the refusal was known
		if r.At.Before(cool) && r.At.Sub(cool.Add(-chaosWait)) > onItsWay {
			early++
		}
		if r.At.After(cool) && !cool.IsZero() {
			if back[cool] == nil {
				back[cool] = map[string]time.Time{}
			}
			if _, ok := back[cool][r.Task]; !ok {
				back[cool][r.Task] = r.At
			}
		}
		here := place{r.Task, r.Turn}
		if at, ok := failed[here]; ok && r.Attempt == 1 {
			if slices.ContainsFunc(holds, func(h [2]time.Time) bool { return h[0].Before(r.At) && h[1].After(at) }) {
				noisy = append(noisy, r.At.Sub(at))
			} else {
				quiet = append(quiet, r.At.Sub(at))
			}
		}
		switch f := faultOf(r); {
		case f.Status == 429:
			cool, faults = r.At.Add(chaosWait), faults+1
			holds = append(holds, [2]time.Time{r.At, cool.Add(5 * time.Second)}) // they come back over five seconds
		case f.Status == 529:
			faults++
			holds = append(holds, [2]time.Time{r.At, r.At.Add(3 * time.Second)}) // a probe every two seconds
		case f.Kind == "stall":
			failed[here], faults = r.At.Add(chaosLatency+3*chaosIdle), faults+1 // a model may think in silence
		case f != scripted.Fault{}:
			failed[here], faults = r.At.Add(chaosLatency), faults+1
		}
	}
	var spans []time.Duration
	for _, ants := range back {
		if times := slices.SortedFunc(maps.Values(ants), time.Time.Compare); len(times) >= chaosAnts*3/4 {
			spans = append(spans, times[len(times)-1].Sub(times[0]))
		}
	}
	slices.Sort(quiet)
	slices.Sort(spans)
	last := func(list []time.Duration) time.Duration {
		if len(list) == 0 {
			return 0
		}
		return list[len(list)-1]
	}
	t.Logf("%d ants, %s: %d turns, %d faults, %d attempts (%.2f a turn); %d too early; first retry alone %s at most of %d, others %d; %d cool-downs, spread %v",
		chaosAnts, lasts, turns, faults, len(all), float64(len(all))/float64(max(turns, 1)), early, last(quiet), len(quiet), len(noisy), len(back), spans)
	if early > 0 {
		t.Errorf("%d requests came while everybody was to wait", early)
	}
	if len(all) > turns+faults+chaosAnts {
		t.Errorf("%d attempts for %d turns and %d faults", len(all), turns, faults)
	}
	if turns > 200 && len(all)*2 > turns*3 {
		t.Errorf("%d attempts for %d turns", len(all), turns)
	}
	if len(quiet) > 0 && last(quiet) > time.Second {
		t.Errorf("a first retry took %s", last(quiet))
	}
	for _, span := range spans {
		if span < 3*time.Second {
			t.Errorf("after a wait all came back within %s", span)
		}
	}
}
