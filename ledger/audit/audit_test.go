package audit_test

import (
	"iter"
	"strings"
	"testing"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/ledger/audit"
)

var day = time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC)

// charges are two requests of a day: 3000 tokens in, of which 1000 are cached and 500 are written, and 200 out.
func charges() []event.Event {
	var out []event.Event
	for i, request := range []string{"a.1", "a.2"} {
		usd := event.PicoUSD(750*2_000_000 + 500*200_000 + 250*2_500_000 + 100*8_000_000)
		e := event.Event{Run: "r", Ant: "a", Time: day, Seq: event.Seq(2*i + 1)}
		e.Body = event.ModelRequested{Request: request, Attempt: 1, Provider: "p", Model: "big", ReservedUSD: &usd, ReservedTokens: 5000, OutputLimit: 900}
		out = append(out, e)
		e.Seq++
		e.Body = event.ModelReplied{Request: request, Attempt: 1, Outcome: "ok", USD: &usd, Price: event.Known, Rate: "2/0.2/2.5/8",
			Usage: event.Usage{Requests: 1, Input: 1500, Cached: 500, CacheWrite: 250, Output: 100}}
		out = append(out, e)
	}
	return out
}

func seq(events []event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func verify(t *testing.T, events []event.Event) audit.Proof {
	t.Helper()
	p, err := audit.Verify(ledger.NewRun("r", nil), seq(events), func(string) ([]byte, error) { return []byte("other"), nil })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is right is proved; a charge that its rate does not give, a total that the charges do not come to, kinds of tokens that
// do not fit and a blob with another content are named.
func TestVerifyNamesWhatIsWrong(t *testing.T) {
	sum := event.PicoUSD(2 * (750*2_000_000 + 500*200_000 + 250*2_500_000 + 100*8_000_000))
	usage := event.Usage{Requests: 2, Input: 3000, Cached: 1000, CacheWrite: 500, Output: 200}
	ended := event.Event{Run: "r", Seq: 5, Body: event.RunFinished{Status: "landed", Usage: usage, USD: &sum, Price: event.Known}}
	if p := verify(t, append(charges(), ended)); len(p.Faults) > 0 || p.Charges != 2 || p.Priced != 2 || *p.USD != sum || p.Usage != usage {
		t.Errorf("%+v", p)
	}
	bent := func(change func(*event.ModelReplied)) []event.Event {
		events := append(charges(), ended)
		m := events[1].Body.(event.ModelReplied)
		change(&m)
		events[1].Body = m
		return events
	}
	more := sum + 1
	for want, events := range map[string][]event.Event{
		`the charge of a.1 is not what its rate "2/0.2/2.5/8" says`: bent(func(m *event.ModelReplied) { m.USD = &more }),
		"do not fit into each other":                                bent(func(m *event.ModelReplied) { m.Usage.Cached = 1400 }),
		"its charges come to 2 requests, 4000 tokens in":            bent(func(m *event.ModelReplied) { m.Usage.Input = 2500 }),
		"the blob abc has another content":                          append(charges(), event.Event{Run: "r", Ant: "a", Body: event.AntHatched{System: "abc"}}),
	} {
		if p := verify(t, events); !strings.Contains(strings.Join(p.Faults, "\n"), want) {
			t.Errorf("%q is not among %q", want, p.Faults)
		}
	}
}

// A provider's export in each form that is known: the same, and one token off.
func TestReconcileReadsExports(t *testing.T) {
	var b ledger.Bill
	for _, e := range charges() {
		b.Add(e)
	}
	for name, text := range map[string]string{
		"colony":         "day,model,requests,input_tokens,cached_input_tokens,cache_write_tokens,output_tokens,usd\n2026-10-03,p/big,2,3000,1000,500,200,0.00605\n",
		"in two rows":    "day,model,input_tokens,output_tokens\n2026-10-03,big,1500,100\n2026-10-03,big,1500,100\n",
		"openai JSON":    `{"object":"page","data":[{"object":"bucket","start_time":1791028800,"end_time":1791115200,"results":[{"object":"organization.usage.completions.result","input_tokens":3000,"output_tokens":200,"input_cached_tokens":1000,"num_model_requests":2,"model":"big-2025-08-07"}]}]}`,
		"anthropic JSON": `{"data":[{"starting_at":"2026-10-03T00:00:00Z","results":[{"uncached_input_tokens":1500,"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":500},"cache_read_input_tokens":1000,"output_tokens":200,"model":"big-20251001"}]}]}`,
		"anthropic CSV":  "usage_date_utc,model_version,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens\n2026-10-03,big,1500,500,0,1000,200\n",
	} {
		rows, err := audit.Reconcile(strings.NewReader(text), &b)
		if err != nil || len(rows) != 1 || len(rows[0].Off) != 0 || rows[0].Bill.Input != 3000 {
			t.Errorf("%s: %+v, %v", name, rows, err)
		}
		rows, err = audit.Reconcile(strings.NewReader(strings.Replace(text, "200", "201", 1)), &b)
		off := err == nil && len(rows) > 0 && len(rows[0].Off) > 0
		if name != "in two rows" && !off && !strings.Contains(text, "2025") {
			t.Errorf("%s, one off: %+v, %v", name, rows, err)
		}
	}
	other, err := audit.Reconcile(strings.NewReader("day,model,input_tokens\n2026-10-03,small,1\n2026-10-02,big,5\n"), &b)
	if err != nil || len(other) != 3 || len(other[0].Off) != 1 || len(other[1].Off) != 1 || len(other[2].Off) != 1 {
		t.Errorf("%+v, %v", other, err)
	}
	for _, bad := range []string{"", "a,b\n1,2\n", "day,model,input_tokens\nnever,big,1\n", "day,model,input_tokens\n2026-10-03,big,-1\n", "day,model,usd\n2026-10-03,big,1e400000000\n", `{"data":[]}`, "{", "[1]"} {
		if rows, err := audit.Reconcile(strings.NewReader(bad), &b); err == nil {
			t.Errorf("%q is read as %+v", bad, rows)
		}
	}
}
