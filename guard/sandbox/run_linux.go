package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// helperName is argv[0] of colony started as the helper of a job.
const helperName = "colony: sandbox helper"

const (
	orderFD   = 3 // the order, then open for as long as colony lives
	reportFD  = 4 // a socket: that the job begins, with the listeners of its ports, and how it ended
	maxReport = 64 << 10
	pipeGrace = 2 * time.Second
)

// An order is what the helper is told: the job as it is after all decisions.
type order struct {
	Argv      []string
	Dir       string
	Env       []string
	Places    []place
	Processes int
	Memory    int64
	Joined    bool     // both streams of the job are one
	Ports     []uint16 // of the job's own loopback that colony answers at
	Grants    []grant  // for Landlock
	Group     string   // that the job enters
	Outside   []string // colony's own namespaces, where another program makes the job's
}

// A report is what the helper says. Trouble means that the job was not run.
type report struct {
	Code    int
	Signal  string
	Nanos   int64
	Trouble string
}

// confined runs a job by the sandbox's mechanism.
func (s *Sandbox) confined(ctx context.Context, j Job) (Exit, error) {
	if ctx.Err() != nil {
		return killed(), fmt.Errorf("sandbox: %w", context.Cause(ctx))
	}
	switch s.mechanism {
	case Bubblewrap:
		return s.wrapped(ctx, j)
	case Landlock:
		return s.locked(ctx, j)
	}
	told, err := json.Marshal(s.order(j))
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: write order: %w", err)
	}
	if h := s.spareFor(j); h != nil {
		exit, err := s.serve(ctx, h, j, told)
		if !errors.Is(err, errUnbegun) {
			return exit, err
		}
	}
	h, err := start(j.Stdin)
	if err != nil {
		return Exit{}, err
	}
	return s.serve(ctx, h, j, told)
}

// order is the job as a helper is told it.
func (s *Sandbox) order(j Job) order {
	o := order{
		Argv: j.Argv, Dir: j.Dir, Places: s.view(j), Processes: s.processes, Memory: s.memory, Joined: oneWriter(j.Stdout, j.Stderr),
		Env: merge(s.given(j), []string{"HOME=/tmp/home", "TMPDIR=/tmp"}, j.Env),
	}
	for _, w := range j.Ways {
		o.Ports = append(o.Ports, w.Port)
	}
	return o
}

// errUnbegun is a helper that ended before it began with the job, so that another may.
var errUnbegun = errors.New("sandbox: helper ended before the job began")

// serve gives the job to a helper, makes the next helper ready meanwhile and waits for the job.
func (s *Sandbox) serve(ctx context.Context, h *helper, j Job, told []byte) (Exit, error) {
	defer h.close()
	defer context.AfterFunc(ctx, h.kill)()
	h.out.to(j.Stdout)
	h.errs.to(j.Stderr)
	_, untold := h.order.Write(told)
	if s.mechanism == Namespaces {
		s.makeSpare()
	}
	shut := h.open(j.Ways)
	waited := h.cmd.Wait()
	if err := shut(); ctx.Err() == nil && err != nil {
		return Exit{}, err
	}
	if ctx.Err() != nil {
		return killed(), fmt.Errorf("sandbox: %w", context.Cause(ctx))
	}
	return settle(io.MultiReader(bytes.NewReader(h.first), h.report), waited, untold)
}

// settle makes an Exit of the helper's report. A helper that died after it began was killed, with all of its job: by the
// machine for want of memory, or by the job itself.
func settle(from io.Reader, waited, untold error) (Exit, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxReport))
	if err != nil {
		return Exit{}, fmt.Errorf("sandbox: read report: %w", err)
	}
	if len(text) == 0 {
		return Exit{}, fmt.Errorf("%w: %w", errUnbegun, errors.Join(waited, untold))
	}
	var r report
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
		return killed(), nil
	}
	if r.Trouble != "" {
		return Exit{}, fmt.Errorf("sandbox: %s", r.Trouble)
	}
	return Exit{Code: r.Code, Signal: r.Signal, Duration: time.Duration(r.Nanos)}, nil
}
