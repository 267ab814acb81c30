package builtin

import (
	"context"
	"errors"
	"fmt"

	"colony/tools"
	"colony/view"
)

// startJob begins a line that goes on beside the ant's other calls, until it ends, is killed, or the ant ends.
func startJob(env *tools.Env, a shArgs) (tools.Result, error) {
	dir, note := startDir(env)
	id, err := env.Jobs.Start(tools.Process{Argv: plain(a.Command), Dir: dir, Env: quiet()})
	if err != nil {
		return tools.Refuse(tools.Transient, err.Error()), nil
	}
	r := report{dir: dir, notes: note, out: fmt.Sprintf("started %s: use sh with job %q and action read, wait or kill", id, id)}
	return tools.Result{Text: r.text()}, nil
}

// lookAfter reads what is new of a job, after waiting for its end or ending it if told to.
func lookAfter(ctx context.Context, env *tools.Env, a shArgs) (tools.Result, error) {
	limited, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	var fault tools.Fault
	var err error
	switch a.Action {
	case "wait":
		err = env.Jobs.Wait(limited, a.Job)
	case "kill":
		err = env.Jobs.Kill(a.Job)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		fault = tools.Timeout
	case ctx.Err() != nil:
		fault = tools.Cancelled
	case err != nil:
		return invalid(err)
	}
	text, done, exit, err := env.Jobs.Read(a.Job)
	if arg, ok := errors.AsType[*tools.ArgError](err); ok {
		return tools.Refuse(tools.Validation, arg.Error()), nil
	}
	return jobResult(a, fault, text, done, exit, err), nil
}

func jobResult(a shArgs, fault tools.Fault, text string, done bool, exit tools.Exit, err error) tools.Result {
	var r report
	var bad int
	if r.out, bad = mark([]byte(text)); bad > 0 {
		r.note("%s not UTF-8 text, shown as \\xNN", plural(bad, "byte is", "bytes are"))
	}
	res := tools.Result{Fault: fault}
	switch {
	case !done && fault == tools.Timeout:
		r.note("%s still runs after %s; wait again, read or kill it", a.Job, a.limit)
	case !done:
		r.note("%s runs", a.Job)
	case err != nil && a.Action != "kill":
		r.note("%s could not run: %v", a.Job, err)
		res.Fault = tools.Internal
	default:
		res.Fault = ""
		res.Exit, res.Duration = &exit.Code, exit.Duration
		res.Views = view.List{view.Exit{Command: a.Job, Code: exit.Code, Ms: exit.Duration.Milliseconds()}}
		how := fmt.Sprintf("exit code %d", exit.Code)
		if exit.Signal != "" {
			how = fmt.Sprintf("by %s, exit code %d", exit.Signal, exit.Code)
		}
		r.note("%s has ended: %s", a.Job, how)
	}
	res.Text = r.text()
	return res
}
