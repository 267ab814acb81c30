package ant

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"colony/event"
	"colony/model"
)

//go:embed compact.md
var compaction string

// Window is how much context the ant's model takes, and who sums a conversation up that does not fit.
type Window struct {
	Tokens  func() int      // 0 is not known
	Learn   func(int)       // told where a refusal shows that it is less
	Summing []model.Request // who is asked for a summary, one after the other: Model alone is read
	Sum     func(i int) model.Provider
}

// What a conversation keeps of results when it is shortened, in bytes, and how long a summary may be, in tokens.
const (
	oldResult   = 1024
	lastResult  = 4096
	summaryMost = 4096
	firstWindow = 128_000 // of a model that refused a request and did not say how much it takes
)

// fit makes the next request smaller than the window: old results are shortened first, then the last ones where they are
// what is too much, then a summary takes the place of what was said. The ending is that of an ant whose task does not fit.
func (a *Ant) fit(ctx context.Context) (*Ending, error) {
	window := a.parts.Window.Tokens()
	if window <= 0 {
		return nil, nil
	}
	room := int64(window-a.output()) - int64(window/50)
	for _, step := range []func(context.Context, int64) error{a.shortenOld, a.shortenLast, a.sumUp, a.cutLast} {
		if a.size() <= room*9/10 {
			return nil, nil
		}
		if err := step(ctx, room); err != nil {
			return nil, err
		}
	}
	if size := a.size(); size > room {
		text := fmt.Sprintf("about %d tokens are needed for the rules, the tools and the task alone, and the window of %d leaves %d", size, window, max(room, 0))
		return &Ending{Reason: Model, Detail: text, Cause: &model.Error{Kind: model.ContextTooLong, Text: text}}, nil
	}
	return nil, nil
}

// output is the output limit, which leaves a small window half of it for what is said before.
func (a *Ant) output() int {
	if window := a.parts.Window.Tokens(); window > 0 {
		return max(min(a.parts.OutputLimit, window/2), 1)
	}
	return a.parts.OutputLimit
}

// size is the tokens of the next request, by the ratio of the last one that was counted.
func (a *Ant) size() int64 {
	bytes := int64(a.request("").Bytes())
	if a.bytes == 0 {
		return (bytes + 2) / 3
	}
	return (bytes*a.tokens + a.bytes - 1) / a.bytes
}

func (a *Ant) shortenOld(ctx context.Context, _ int64) error {
	return a.compacted(ctx, event.AntCompacted{Results: oldResult})
}

// shortenLast shortens the last batch of results to half of the room, where that is what is too much.
func (a *Ant) shortenLast(ctx context.Context, room int64) error {
	last := a.memory.lastBytes()
	if most := room * 3 / 2; int64(last) <= most || a.memory.lastCount() == 0 {
		return nil
	}
	each := max(int(room*3/2)/a.memory.lastCount(), oldResult)
	return a.compacted(ctx, event.AntCompacted{Results: oldResult, Last: each})
}

// cutLast shortens the last batch to what little remains useful, after all else.
func (a *Ant) cutLast(ctx context.Context, _ int64) error {
	return a.compacted(ctx, event.AntCompacted{Results: oldResult, Last: lastResult})
}

// sumUp puts a summary in the place of what was said before the last reply. Where no model can make one, colony's own
// notes stand there.
func (a *Ant) sumUp(ctx context.Context, _ int64) error {
	talk := a.memory.transcript()
	if talk == "" {
		return nil
	}
	summary := ""
	for i := 0; i < len(a.parts.Window.Summing) && summary == "" && ctx.Err() == nil; i++ {
		reply, err := a.parts.Window.Sum(i).Complete(ctx, model.Request{
			ID: fmt.Sprintf("%s.%d%s", a.parts.Ant, a.memory.ask(), summaryMark), Model: a.parts.Window.Summing[i].Model,
			Messages: []model.Message{
				{Role: model.System, Text: "Card: compaction\n\n" + strings.TrimSpace(compaction)},
				{Role: model.User, Text: "Task " + a.parts.Task + ": sum up the conversation below.\n\n" + talk},
			},
			OutputLimit: min(summaryMost, a.parts.OutputLimit), Grown: true, CacheKey: "compaction",
		}, func(model.Delta) {})
		var limit *model.CapError
		if errors.As(err, &limit) {
			return err
		}
		if err == nil {
			summary = strings.TrimSpace(reply.Message.Text)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if summary == "" {
		summary = a.memory.notes()
	}
	return a.compacted(ctx, event.AntCompacted{Summary: summary})
}

// compacted records a step and takes it. What the ant had read it has to read again before it writes.
func (a *Ant) compacted(ctx context.Context, body event.AntCompacted) error {
	body.Before = a.size()
	after := a.memory.clone()
	after.compacted(body)
	if body.Summary == "" && after.bytes() == a.memory.bytes() {
		return nil
	}
	body.After = body.Before * int64(after.bytes()) / int64(max(a.memory.bytes(), 1))
	if err := a.append(ctx, body); err != nil {
		return err
	}
	a.memory.compacted(body)
	a.parts.Env.Files.Clear()
	return nil
}

var windowSaid = regexp.MustCompile(`(?i)(?:maximum context length|context (?:window|size|length)|n_ctx|maximum)\D{0,40}?([0-9][0-9,_]{3,})|> ?([0-9][0-9,_]{3,}) maximum`)

// tooLong learns from a refusal how much the model takes, and reports whether the conversation can be made smaller.
func (a *Ant) tooLong(err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.ContextTooLong || a.refused >= 3 {
		return false
	}
	a.refused++
	known, said := a.parts.Window.Tokens(), 0
	if m := windowSaid.FindStringSubmatch(e.Text); m != nil {
		said, _ = strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(m[1] + m[2])) // what is no number is 0
	}
	if said <= 0 || known > 0 && said >= known { // it counts in another way: what was sent is too much
		said = int(min(a.size()*4/5+int64(a.output()), firstWindow))
		if known > 0 {
			said = min(said, known*9/10)
		}
	}
	a.parts.Window.Learn(said)
	return true
}
