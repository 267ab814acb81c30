package ant

import (
	"context"
	"encoding/json"
	"errors"

	"colony/model"
	"colony/tools"
)

// Reason is why an ant ended.
type Reason string

// The reasons.
const (
	Done       Reason = "done"
	NoChange   Reason = "no_change"
	Blocked    Reason = "blocked"
	NoProgress Reason = "no_progress"
	Turns      Reason = "turns"
	Calls      Reason = "calls"
	Tokens     Reason = "tokens"
	USD        Reason = "usd"
	Wall       Reason = "wall"
	Cancelled  Reason = "cancelled"
	Model      Reason = "model"
	Internal   Reason = "internal"
)

// Ending is how an ant ended. Scope is run, task or ant where a cap ended it; Cause is the model's error
// where Reason is Model.
type Ending struct {
	Reason Reason
	Detail string
	Scope  string
	Cause  *model.Error
}

// EndingOf is the ending that an error of a request or of the caps stands for.
func EndingOf(ctx context.Context, err error) Ending {
	var limit *model.CapError
	if errors.As(err, &limit) || errors.As(context.Cause(ctx), &limit) {
		return Ending{Reason: Reason(limit.Cap), Detail: limit.Error(), Scope: limit.Scope}
	}
	if ctx.Err() != nil {
		return Ending{Reason: Cancelled, Detail: context.Cause(ctx).Error()}
	}
	var failed *model.Error
	if errors.As(err, &failed) && failed.Kind == model.Aborted {
		return Ending{Reason: Cancelled, Detail: failed.Text}
	}
	if failed != nil {
		return Ending{Reason: Model, Detail: failed.Error(), Cause: failed}
	}
	return Ending{Reason: Internal, Detail: err.Error()}
}

// endingOfCall is the ending that an ant declared itself.
func endingOfCall(c tools.Call) Ending {
	var args struct {
		Outcome, Summary, Tried, Missing string
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return Ending{Reason: Done}
	}
	switch Reason(args.Outcome) {
	case NoChange:
		return Ending{Reason: NoChange, Detail: args.Summary}
	case Blocked:
		return Ending{Reason: Blocked, Detail: "missing: " + args.Missing + "; tried: " + args.Tried}
	}
	return Ending{Reason: Done, Detail: args.Summary}
}
