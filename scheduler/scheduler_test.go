package scheduler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"colony/scheduler"
	"colony/tools"
	"colony/tools/toolstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type doing = func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error)

func safe(i int, do doing) tools.Prepared { return prepared(i, toolstest.Reader("safe", do)) }

func unsafe(i int, do doing) tools.Prepared {
	return prepared(i, toolstest.Fake{Is: tools.Spec{Name: "unsafe"}, Do: do})
}

func prepared(i int, tool tools.Tool) tools.Prepared {
	return tools.Prepared{Call: tools.Call{ID: fmt.Sprint("c", i), Name: tool.Spec().Name, Args: json.RawMessage(`{}`)}, Tool: tool}
}

// stack is what an ant puts round a tool, as far as it matters here.
func stack() tools.Handler { return tools.Stack(tools.Invoke, tools.Refused(), tools.Catch()) }

// env is one without processes, so that it can be used inside a bubble.
func env() *tools.Env { return &tools.Env{Now: time.Now} }

func run(t testing.TB, ctx context.Context, width int, calls ...tools.Prepared) []tools.Result {
	t.Helper()
	results, err := scheduler.Run(ctx, env(), calls, width, stack())
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(calls) {
		t.Fatalf("%d results of %d calls", len(results), len(calls))
	}
	return results
}

func text(s string) doing {
	return func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
		return tools.Result{Text: s}, nil
	}
}

func sleep(d time.Duration) doing {
	return func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
		time.Sleep(d)
		return tools.Result{Text: "slept"}, nil
	}
}

// contract 24, SD04
func TestPartition(t *testing.T) {
	flips := new(atomic.Int64)
	kinds := map[rune]tools.Prepared{
		's': safe(0, nil),
		'u': unsafe(0, nil),
		'r': {Refused: &tools.Result{}, Tool: toolstest.Reader("safe", nil)},
		'n': {},
		'p': prepared(0, toolstest.Fake{Is: tools.Spec{Name: "p"}, Safe: func(json.RawMessage) bool { panic("classifier") }}),
		'f': prepared(0, toolstest.Fake{Is: tools.Spec{Name: "f"}, Safe: func(json.RawMessage) bool { return flips.Add(1)%2 == 1 }}),
	}
	for shape, want := range map[string]string{
		"": "", "s": "s", "sss": "sss", "ssuss": "ss u ss", "uu": "u u", "srs": "s r s", "sns": "s n s", "spps": "s p p s", "sfs": "s f s", "ussu": "u ss u",
	} {
		var calls []tools.Prepared
		for _, k := range shape {
			calls = append(calls, kinds[k])
		}
		var got []string
		rest := shape
		for _, batch := range scheduler.Partition(calls) {
			got = append(got, rest[:len(batch)])
			rest = rest[len(batch):]
		}
		if strings.Join(got, " ") != want || rest != "" {
			t.Errorf("%s: got %q, want %q", shape, got, want)
		}
	}
}

// contract 24, SD04: a call that claims to be safe and is known to write runs alone
func TestLiarRunsAlone(t *testing.T) {
	for name, touch := range map[string]func(*tools.Env, json.RawMessage) (tools.Effects, error){
		"writes": func(*tools.Env, json.RawMessage) (tools.Effects, error) {
			return tools.Effects{Known: true, Writes: []string{"/x"}}, nil
		},
		"errs":   func(*tools.Env, json.RawMessage) (tools.Effects, error) { return tools.Effects{}, errors.New("no") },
		"panics": func(*tools.Env, json.RawMessage) (tools.Effects, error) { panic("effects") },
	} {
		var running, most atomic.Int64
		liar := toolstest.Fake{Is: tools.Spec{Name: "sh"}, Safe: func(json.RawMessage) bool { return true }, Touch: touch,
			Do: func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Millisecond)
				running.Add(-1)
				return tools.Result{Text: "x"}, nil
			}}
		synctest.Test(t, func(t *testing.T) {
			run(t, t.Context(), 8, prepared(1, liar), prepared(2, liar), prepared(3, liar))
		})
		if most.Load() != 1 {
			t.Errorf("%s: %d at once", name, most.Load())
		}
	}
}

// contract 25, SD02
func TestFailureAndPanicTouchNoSibling(t *testing.T) {
	var calls []tools.Prepared
	for i := range 27 {
		do := text(fmt.Sprint("real ", i))
		switch i {
		case 2:
			do = func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
				return tools.Refuse(tools.Missing, "no file"), nil
			}
		case 4:
			do = func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) { panic("boom") }
		}
		calls = append(calls, safe(i, do))
	}
	for i, r := range run(t, t.Context(), 10, calls...) {
		want, fault := fmt.Sprint("real ", i), tools.Fault("")
		switch i {
		case 2:
			want, fault = "no file", tools.Missing
		case 4:
			want, fault = r.Text, tools.Internal
		}
		if r.Text != want || r.Fault != fault {
			t.Errorf("%d: got %+v", i, r)
		}
	}
}

// contract 25, SD03
func TestCancelKeepsWhatIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var done, started sync.WaitGroup
	done.Add(3)
	started.Add(2)
	var ran atomic.Int64
	waits := func(ctx context.Context, _ *tools.Env, _ json.RawMessage) (tools.Result, error) {
		ran.Add(1)
		started.Done()
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}
	finishes := func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
		defer done.Done()
		ran.Add(1)
		return tools.Result{Text: "done"}, nil
	}
	never := func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
		t.Error("a call started after the cancel")
		return tools.Result{}, nil
	}
	go func() { done.Wait(); started.Wait(); cancel() }()
	results := run(t, ctx, 2, safe(0, finishes), safe(1, finishes), safe(2, finishes), safe(3, waits), safe(4, waits), safe(5, never), unsafe(6, never), safe(7, never))
	for i, r := range results {
		if i < 3 && (r.Fault != "" || r.Text != "done") || i >= 3 && r.Fault != tools.Cancelled {
			t.Errorf("%d: got %+v", i, r)
		}
		if started := strings.Contains(r.Text, "not started"); started != (i >= 5) {
			t.Errorf("%d: %q", i, r.Text)
		}
	}
	if ran.Load() != 5 {
		t.Errorf("%d ran", ran.Load())
	}
}

// contract 25: colony's own failure stops the batch, and every call still has its result
func TestOwnFailureStopsTheRest(t *testing.T) {
	broken := errors.New("the log is full")
	handler := func(ctx context.Context, _ *tools.Env, p tools.Prepared) (tools.Result, error) {
		switch p.Call.ID {
		case "c0":
			return tools.Result{Text: "done"}, nil
		case "c1":
			return tools.Result{}, broken
		}
		<-ctx.Done()
		return tools.Result{}, fmt.Errorf("append: %w", context.Cause(ctx))
	}
	calls := []tools.Prepared{unsafe(0, nil), safe(1, nil), safe(2, nil), unsafe(3, nil)}
	results, err := scheduler.Run(t.Context(), env(), calls, 8, handler)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	var faults []string
	for _, r := range results {
		faults = append(faults, string(r.Fault))
	}
	if got := strings.Join(faults, " "); got != " cancelled cancelled cancelled" {
		t.Errorf("got %q", got)
	}
}

// contract 26
func TestDuplicateIdsGiveOneRunAndTypedResults(t *testing.T) {
	var ran atomic.Int64
	count := func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
		ran.Add(1)
		return tools.Result{Text: "ran"}, nil
	}
	calls := []tools.Prepared{safe(1, count), safe(1, count), unsafe(1, count), safe(2, count)}
	results := run(t, t.Context(), 8, calls...)
	for i, want := range []tools.Fault{"", tools.Validation, tools.Validation, ""} {
		if results[i].Fault != want {
			t.Errorf("%d: got %+v", i, results[i])
		}
	}
	if ran.Load() != 2 || calls[1].Refused != nil {
		t.Errorf("%d ran, the caller's call was changed: %v", ran.Load(), calls[1].Refused)
	}
}

// contract 26
func TestThousandCallsNeverPassTheWidth(t *testing.T) {
	var running, most atomic.Int64
	var calls []tools.Prepared
	for i := range 1000 {
		calls = append(calls, safe(i, func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
			now := running.Add(1)
			defer running.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			time.Sleep(time.Millisecond)
			return tools.Result{Text: fmt.Sprint(i)}, nil
		}))
	}
	synctest.Test(t, func(t *testing.T) {
		for i, r := range run(t, t.Context(), 8, calls...) {
			if r.Text != fmt.Sprint(i) {
				t.Errorf("%d: got %q", i, r.Text)
			}
		}
	})
	if most.Load() != 8 {
		t.Errorf("%d at once", most.Load())
	}
}

// contract 26: arguments that are not JSON, from Prepare to the result
func TestRefusedCallsAreResultsLikeOthers(t *testing.T) {
	e := toolstest.NewEnv(t)
	if err := e.Tools.Register(tools.BuiltIn, toolstest.Reader("look", text("seen"))); err != nil {
		t.Fatal(err)
	}
	var calls []tools.Prepared
	for i, args := range []string{`{}`, `{`, `{}`} {
		calls = append(calls, e.Tools.Prepare(tools.Call{ID: fmt.Sprint(i), Name: "look", Args: json.RawMessage(args)}))
	}
	results := run(t, t.Context(), 0, calls...)
	if results[0].Text != "seen" || results[1].Fault != tools.Validation || results[2].Text != "seen" {
		t.Errorf("got %+v", results)
	}
}

// contract 27
func TestSafeCallsOverlapAndUnsafeOnesDoNot(t *testing.T) {
	for name, c := range map[string]struct {
		make func(int, doing) tools.Prepared
		want time.Duration
	}{"safe": {safe, time.Second / 2}, "unsafe": {unsafe, 4 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			var calls []tools.Prepared
			for i := range 8 {
				calls = append(calls, c.make(i, sleep(time.Second/2)))
			}
			start := time.Now()
			run(t, t.Context(), 10, calls...)
			if took := time.Since(start); took != c.want {
				t.Errorf("%s: took %v", name, took)
			}
		})
	}
}

// law 1: one result per call id, in call order, whatever fails, panics or is cancelled
func TestLawOneResultPerCallInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		broken := errors.New("colony's own")
		var order sync.Mutex
		var barriers []int // unsafe calls as they ran
		kinds := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 30).Draw(rt, "kinds")
		ownFailure := false
		var calls []tools.Prepared
		for i, kind := range kinds {
			ownFailure = ownFailure || kind == 4
			do := func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
				order.Lock()
				barriers = append(barriers, i)
				order.Unlock()
				switch kind {
				case 1:
					panic("boom")
				case 2:
					return tools.Refuse(tools.Transient, fmt.Sprint(i)), nil
				case 3:
					cancel()
				case 4:
					return tools.Result{}, broken
				}
				return tools.Result{Text: fmt.Sprint(i)}, nil
			}
			if kind%2 == 0 {
				calls = append(calls, safe(i, do))
			} else {
				calls = append(calls, unsafe(i, do))
			}
		}
		results, err := scheduler.Run(ctx, env(), calls, rapid.IntRange(1, 4).Draw(rt, "width"), stack())
		if len(results) != len(calls) || err != nil && (!ownFailure || !errors.Is(err, broken)) {
			rt.Fatalf("%d results of %d calls, %v", len(results), len(calls), err)
		}
		for i, r := range results {
			switch r.Fault {
			case tools.Cancelled:
			case tools.Internal:
				if kinds[i] != 1 {
					rt.Fatalf("%d: %+v", i, r)
				}
			default:
				if r.Text != fmt.Sprint(i) {
					rt.Fatalf("%d: %+v", i, r)
				}
			}
		}
		last := -1
		for _, i := range barriers {
			if kinds[i]%2 == 1 && i < last {
				rt.Fatalf("an unsafe call ran out of order: %v", barriers)
			}
			last = max(last, i)
		}
	})
}
