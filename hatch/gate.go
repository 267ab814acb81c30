package hatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"colony/event"
	"colony/plan"
	"colony/tools"
)

// gateOutputLimit bounds what is kept of a gate's output in memory.
const gateOutputLimit = 4 << 20

// exitKilled is the exit code of a gate that was killed, as a shell returns it. That says nothing of the tree: it runs again,
// once.
const exitKilled = 128 + 9

// exitTimeout is the exit code of a gate that ran out of time, as timeout(1) returns it.
const exitTimeout = 124

// gate runs a gate in a directory that holds a tree, in processes confined by c, and again where it is red and may be
// retried: green then is flaky. The whole output is kept as a blob.
func (c *Colony) gate(ctx context.Context, box confined, dir string, g plan.Gate) (receipt event.GateReceipt, output []byte, err error) {
	for tries := 0; tries <= g.Retry; tries++ {
		receipt, output, err = c.gateOnce(ctx, box, dir, g)
		if err == nil && receipt.Exit == exitKilled {
			if err = c.record("", event.Warned{Code: "gate_killed", Text: "the gate " + g.Title() + " was killed, which says nothing of the work, and is run again",
				Next: "if this comes back, the machine has too little memory for it"}); err == nil {
				receipt, output, err = c.gateOnce(ctx, box, dir, g)
			}
		}
		if err != nil || receipt.Exit == 0 {
			receipt.Flaky = tries > 0
			break
		}
	}
	return receipt, output, err
}

func (c *Colony) gateOnce(ctx context.Context, box confined, dir string, g plan.Gate) (event.GateReceipt, []byte, error) {
	limit := g.Timeout
	if limit == 0 {
		limit = time.Duration(c.settings.limits.Gate)
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out := &bounded{left: gateOutputLimit}
	start := c.parts.Now()
	exit, err := c.passGate(timed, box, dir, g, out)
	took := c.parts.Now().Sub(start)
	if ctx.Err() != nil {
		return event.GateReceipt{}, nil, context.Cause(ctx)
	}
	if errors.Is(timed.Err(), context.DeadlineExceeded) {
		exit, err = tools.Exit{Code: exitTimeout}, nil
		fmt.Fprintf(out, "\ncolony: the gate did not end within %s\n", limit)
	}
	if err != nil {
		return event.GateReceipt{}, nil, fmt.Errorf("gate %s: %w", g.Title(), err)
	}
	said := []byte(c.redact(out.String()))
	blob, err := c.blobs.Put("text/plain", said)
	if err != nil {
		return event.GateReceipt{}, nil, fmt.Errorf("gate %s: keep its output: %w", g.Title(), err)
	}
	return event.GateReceipt{Command: g.Run, Exit: exit.Code, Ms: took.Milliseconds(), Output: blob.SHA256}, said, nil
}

// passGate runs what the gate says: a command, or colony's own look at what language servers say.
func (c *Colony) passGate(ctx context.Context, box confined, dir string, g plan.Gate, out io.Writer) (tools.Exit, error) {
	if g.Run == diagnosticsGate {
		code, err := c.diagnose(ctx, dir, out)
		return tools.Exit{Code: code}, err
	}
	return box.exec(ctx, tools.Process{Argv: []string{"bash", "-c", g.Run}, Dir: filepath.Join(dir, g.Dir), Stdout: out, Stderr: out})
}

// bounded is a buffer that drops what comes after its limit, and says so. Both streams of a process may share it.
type bounded struct {
	bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		if b.left > 0 {
			b.Buffer.Write(p[:b.left])
			b.Buffer.WriteString("\ncolony: the rest of the output was dropped\n")
			b.left = 0
		}
		return len(p), nil
	}
	b.left -= len(p)
	return b.Buffer.Write(p)
}
