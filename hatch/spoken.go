package hatch

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"colony/guard/sandbox"

	"github.com/sourcegraph/conc"
)

// partner is a process in the sandbox that is spoken to over its standard streams.
type partner struct {
	in    *os.File
	out   *io.PipeReader
	end   context.CancelFunc
	run   conc.WaitGroup
	close sync.Once
}

// converse starts a job that runs until it ends or is closed.
func converse(box *sandbox.Sandbox, j sandbox.Job) (io.ReadWriteCloser, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout := io.Pipe()
	ctx, end := context.WithCancel(context.Background())
	p := &partner{in: in, out: out, end: end}
	j.Stdin, j.Stdout = theirs, stdout
	p.run.Go(func() {
		defer theirs.Close()
		_, err := box.Run(ctx, j)
		if err == nil || ctx.Err() != nil {
			err = io.EOF
		}
		stdout.CloseWithError(err) //nolint:errcheck // it never fails
	})
	return p, nil
}

// Read is what the process writes; an error when it has ended.
func (p *partner) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write is what the process reads.
func (p *partner) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the process, and returns when nothing of it is left.
func (p *partner) Close() (err error) {
	p.close.Do(func() {
		p.end()
		err = errors.Join(p.in.Close(), p.out.Close())
	})
	p.run.Wait()
	return err
}
