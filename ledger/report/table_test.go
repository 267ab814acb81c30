package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"colony/event"
	"colony/ledger"
	"colony/ledger/report"
)

func pico(v int64) *event.PicoUSD { p := event.PicoUSD(v); return &p }

func asked(run, task, ant, request, name string) event.Event {
	provider, name, _ := strings.Cut(name, "/")
	return event.Event{Run: run, Task: task, Ant: ant, Body: event.ModelRequested{
		Request: request, Attempt: 1, Provider: provider, Model: name, ReservedUSD: pico(9_000), ReservedTokens: 90, OutputLimit: 50,
	}}
}

func got(run, task, ant, request string, usd *event.PicoUSD, p event.Price) event.Event {
	return event.Event{Run: run, Task: task, Ant: ant, Body: event.ModelReplied{
		Request: request, Attempt: 1, Outcome: "ok", USD: usd, Price: p,
		Usage: event.Usage{Requests: 1, Input: 100, Cached: 60, Output: 20, Reasoning: 5},
	}}
}

func hatched(run, task, ant, hash string) event.Event {
	return event.Event{Run: run, Task: task, Ant: ant, Body: event.AntHatched{Card: "worker", CardHash: hash}}
}

func done(run, task, status string) event.Event {
	return event.Event{Run: run, Task: task, Body: event.TaskDone{Status: status}}
}

// aRun is a run of two tasks: one landed, one failed and holds a reply that a crash lost.
func aRun(run string) []event.Event {
	return []event.Event{
		{Run: run, Body: event.RunStarted{Cards: []event.Card{{Name: "worker", Source: "built-in", SHA256: "aaaaaaaabb"}}}},
		hatched(run, "t1", "worker-1", "aaaaaaaabb"), hatched(run, "t2", "worker-2", "ccccccccdd"),
		asked(run, "t1", "worker-1", "q1", "openai/large"), asked(run, "t2", "worker-2", "q1", "openai/large"),
		got(run, "t1", "worker-1", "q1", pico(12_345_678_901), event.Known),
		asked(run, "t1", "worker-1", "q2", "openai/small"), got(run, "t1", "worker-1", "q2", pico(99), event.Known),
		got(run, "t2", "worker-2", "q1", pico(1_000_000), event.Known),
		done(run, "t1", "landed"),
		asked(run, "t2", "worker-2", "q2", "openai/large"),
		done(run, "t2", "failed"),
		{Run: run, Body: event.RunFinished{Status: "partial"}},
	}
}

func billOf(events ...event.Event) *ledger.Bill {
	var b ledger.Bill
	for _, e := range events {
		b.Add(e)
	}
	return &b
}

func by(t testing.TB, b *ledger.Bill, keys ...string) report.Table {
	t.Helper()
	table, err := report.Make(b, report.Options{By: keys})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// What scripts read. Run with COLONY_GOLDEN=write to change it.
func TestBillGolden(t *testing.T) {
	var out strings.Builder
	for _, keys := range [][]string{{"ant"}, {"card"}, {"task"}, {"model"}, {"run"}, {"task", "model"}} {
		data, err := json.MarshalIndent(by(t, billOf(aRun("r")...), keys...), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(data, '\n'))
	}
	escape := func(s string) string { return s }
	out.WriteString(by(t, billOf(aRun("r")...), "ant").Text(0, escape))
	const path = "testdata/bill.golden"
	if os.Getenv("COLONY_GOLDEN") == "write" {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the bill is not %s:\n%s", path, out.String())
	}
}

func TestBillRows(t *testing.T) {
	b := billOf(aRun("r")...)
	for _, c := range []struct {
		keys []string
		rows []string
	}{
		{[]string{"ant"}, []string{"worker-1", "worker-2"}},
		{[]string{"card"}, []string{"worker built-in aaaaaaaa", "worker cccccccc"}},
		{[]string{"task"}, []string{"t1", "t2"}},
		{[]string{"model"}, []string{"openai/large", "openai/small"}},
		{[]string{"run"}, []string{"r"}},
		{[]string{"task", "model"}, []string{"t1 × openai/large", "t2 × openai/large", "t1 × openai/small"}},
	} {
		var keys []string
		for _, r := range by(t, b, c.keys...).Rows {
			keys = append(keys, r.Key)
		}
		if strings.Join(keys, "|") != strings.Join(c.rows, "|") {
			t.Errorf("by %v: %q", c.keys, keys)
		}
	}
	two := billOf(append(aRun("r"), aRun("s")...)...)
	if table := by(t, two, "ant"); len(table.Rows) != 4 || table.Rows[2].Key != "s/worker-1" || table.Run != "" {
		t.Errorf("two runs: %+v", table)
	}
}

// A request whose reply is in no log is a row marked lost, at what was set aside for it.
func TestLost(t *testing.T) {
	r := by(t, billOf(aRun("r")...), "ant").Rows[1]
	if r.Lost != 1 || !r.Estimated || (r.Usage != event.Usage{Requests: 2, Input: 140, Cached: 60, Output: 70, Reasoning: 5}) || *r.USD != 1_009_000 {
		t.Errorf("%+v", r)
	}
	late := event.Event{Run: "r", Task: "t2", Ant: "worker-2", Body: event.ModelReplied{Request: "q2", Attempt: 1, Outcome: "lost", USD: pico(7), Price: event.Known}}
	if r := by(t, billOf(append(aRun("r"), late)...), "ant").Rows[1]; r.Lost != 1 || !r.Estimated || *r.USD != 1_000_007 {
		t.Errorf("a loss that was recorded: %+v", r)
	}
	again := got("r", "t1", "worker-1", "q2", pico(1_000_000), event.Known)
	if r := by(t, billOf(append(aRun("r"), again)...), "ant").Rows[0]; *r.USD != 12_345_679_000 {
		t.Errorf("a second reply to one attempt: %+v", r)
	}
	for price, e := range map[event.Price]event.Event{
		event.Free:    {Run: "r", Ant: "a", Body: event.ModelRequested{Request: "q", ReservedUSD: pico(0), ReservedTokens: 5, OutputLimit: 9}},
		event.Unknown: {Run: "r", Ant: "a", Body: event.ModelRequested{Request: "q", ReservedTokens: 5}},
	} {
		usage, usd, got := billOf(e).Total()
		if got != price || (usd == nil) != (price == event.Unknown) || usage.Input < 0 {
			t.Errorf("lost at a price that is %s: %+v %v %s", price, usage, usd, got)
		}
	}
}

// contract 59: what is unknown makes the sum unknown, never 0; what was not billed does not.
func TestPricesAddUp(t *testing.T) {
	refused := event.Event{Run: "r", Task: "t", Ant: "a", Body: event.ModelReplied{Request: "q0", Outcome: "rate_limited", Price: event.Unknown}}
	known, free := got("r", "t", "a", "q1", pico(5), event.Known), got("r", "t", "a", "q2", pico(0), event.Free)
	unknown := got("r", "t", "a", "q3", nil, event.Unknown)
	for _, c := range []struct {
		name   string
		events []event.Event
		usd    string
		price  event.Price
	}{
		{"nothing", nil, "0", event.Known},
		{"known", []event.Event{known}, "0.000000000005", event.Known},
		{"free", []event.Event{free}, "0", event.Free},
		{"known and free", []event.Event{known, free}, "0.000000000005", event.Known},
		{"unknown", []event.Event{unknown}, "", event.Unknown},
		{"known and unknown", []event.Event{known, unknown}, "", event.Unknown},
		{"free and unknown", []event.Event{free, unknown}, "", event.Unknown},
		{"refused by a model without a price", []event.Event{refused}, "", event.Unknown},
		{"that and known", []event.Event{refused, known}, "0.000000000005", event.Known},
	} {
		_, usd, price := billOf(c.events...).Total()
		text := ""
		if usd != nil {
			text = usd.String()
		}
		if text != c.usd || price != c.price {
			t.Errorf("%s: %q, %s", c.name, text, price)
		}
		_, taskUSD, taskPrice := billOf(c.events...).Task("t")
		if taskPrice != price || (taskUSD == nil) != (usd == nil) {
			t.Errorf("%s: the task says %v, %s", c.name, taskUSD, taskPrice)
		}
	}
}

func TestWasteAndPerTask(t *testing.T) {
	table := by(t, billOf(aRun("r")...), "ant")
	if *table.Waste.Unlanded != 1_009_000 || *table.PerTask != *table.Total.USD {
		t.Errorf("%s unlanded, %s a task", table.Waste.Unlanded, table.PerTask)
	}
	running := by(t, billOf(aRun("r")[:9]...), "ant")
	if *running.Waste.Unlanded != 0 || running.PerTask != nil || running.Rows[0].Status != "running" {
		t.Errorf("while it runs: %+v", running)
	}
	if table := by(t, billOf(got("r", "", "queen", "q", pico(5), event.Known)), "ant"); *table.Waste.Unlanded != 0 || table.Rows[0].Status != "running" {
		t.Errorf("an ant without a task: %+v", table)
	}
}

func TestByRefuses(t *testing.T) {
	for want, keys := range map[string][]string{
		"by 0 keys": {}, "by 3 keys": {"ant", "card", "task"}, `by "label:"`: {"ant", "label:"},
		`by "size": unknown, use one of ant, card`: {"size"},
	} {
		if _, err := report.Make(new(ledger.Bill), report.Options{By: keys}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("by %v: %v", keys, err)
		}
	}
}

// A resume may name other cards; a log of a queen that hatched nobody has no card.
func TestCardsOfAResume(t *testing.T) {
	resumed := event.Event{Run: "r", Body: event.RunResumed{Cards: []event.Card{{Name: "worker", Source: ".colony/cards/worker.yaml", SHA256: "ccccccccdd"}}}}
	rows := by(t, billOf(append(aRun("r"), resumed)...), "card").Rows
	if len(rows) != 2 || rows[1].Key != "worker .colony/cards/worker.yaml cccccccc" {
		t.Errorf("%+v", rows)
	}
}

// The table fits the width of a terminal, and shows nothing of the log that was not escaped.
func TestTextFits(t *testing.T) {
	events := aRun("r")
	for i := range events {
		if events[i].Ant == "worker-2" {
			events[i].Ant = "worker-\x1b[31m" + strings.Repeat("é", 60)
		}
	}
	table := by(t, billOf(events...), "ant")
	escape := func(s string) string { return strings.ReplaceAll(s, "\x1b", `\e`) }
	for _, width := range []int{0, 200, 100, 80, 60, 40, 30, 20} {
		text := table.Text(width, escape)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) < 5 || lines[4] != "" || strings.Contains(text, "\x1b") {
			t.Errorf("width %d:\n%s", width, text)
		}
		for i, l := range lines {
			if width > 0 && utf8.RuneCountInString(l) > width {
				t.Errorf("%d columns of %d: %q", utf8.RuneCountInString(l), width, l)
			}
			if i < 4 && !strings.Contains(l, "worker") && !strings.Contains(l, "total") && !strings.Contains(l, "ant") {
				t.Errorf("width %d: a line without its key: %q", width, l)
			}
		}
		if !strings.Contains(lines[1], "$0.012346") || !strings.Contains(lines[2], "~$0.000001") || !strings.Contains(lines[3], "~$0.012347") {
			t.Errorf("width %d: the costs are not all there:\n%s", width, text)
		}
	}
	for want, e := range map[string]event.Event{
		"unknown": got("r", "t", "a", "q", nil, event.Unknown), "free": got("r", "t", "a", "q", pico(0), event.Free),
	} {
		if text := by(t, billOf(e), "ant").Text(80, escape); !strings.Contains(text, want+"\n") {
			t.Errorf("%s:\n%s", want, text)
		}
	}
	if text := by(t, billOf(got("r", "", "", "q", pico(0), event.Free)), "task").Text(80, escape); !strings.Contains(text, "\n- ") {
		t.Errorf("no task:\n%s", text)
	}
}

// A row says how much of its input the cache served, and why it did not serve more, where the provider says so.
func TestARowSaysWhatTheCacheServed(t *testing.T) {
	var b ledger.Bill
	for i, miss := range []string{"", "tools_changed", "tools_changed"} {
		b.Add(event.Event{Run: "r", Ant: "a", Body: event.ModelReplied{
			Request: fmt.Sprint(i), Attempt: 1, Outcome: "ok", Usage: event.Usage{Requests: 1, Input: 1000, Cached: int64(100 * i)}, CacheMiss: miss,
		}})
	}
	table, err := report.Make(&b, report.Options{By: []string{"ant"}})
	if err != nil || len(table.Rows) != 1 {
		t.Fatalf("got %+v, %v", table, err)
	}
	if r := table.Rows[0]; r.Cached != 0.1 || len(r.Misses) != 1 || r.Misses["tools_changed"] != 2 {
		t.Errorf("served %v, misses %v", r.Cached, r.Misses)
	}
}
