package hatch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"colony/guard/sandbox"

	"github.com/sourcegraph/conc"
)

// closeGrace is how long a process may take to end once its input has ended.
const closeGrace = 500 * time.Millisecond

// spoken is a process that is spoken to over its standard streams.
type spoken struct {
	in    *os.File
	out   *io.PipeReader
	end   context.CancelFunc
	done  chan struct{}
	run   conc.WaitGroup
	close sync.Once
}

// speak starts a process of others in the box, with no variables but the plainest and those that are given.
func (c confined) speak(argv, env []string, stderr io.Writer) (io.ReadWriteCloser, error) {
	j := c.job(argv, cmp.Or(c.at, c.tree))
	j.Stderr, j.Env, j.Bare = stderr, env, true
	if c.box.Level() == sandbox.Off { // nothing keeps it from what decides for a person
		j.Env = append([]string{InsideVariable + "=1"}, env...)
	}
	return c.converse(j)
}

// converse starts a job in the box that runs until it ends, or is closed.
func (c confined) converse(j sandbox.Job) (io.ReadWriteCloser, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout := io.Pipe()
	ctx, end := context.WithCancel(context.Background())
	s := &spoken{in: in, out: out, end: end, done: make(chan struct{})}
	j.Stdin, j.Stdout = theirs, stdout
	s.run.Go(func() {
		defer close(s.done)
		defer theirs.Close()
		_, err := c.run(ctx, j)
		if err == nil || ctx.Err() != nil {
			err = io.EOF
		}
		stdout.CloseWithError(err) //nolint:errcheck // it never fails
	})
	return s, nil
}

// Read is what the process writes; an error when it has ended.
func (s *spoken) Read(p []byte) (int, error) { return s.out.Read(p) }

// Write is what the process reads.
func (s *spoken) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close ends the process, and returns when nothing of it is left.
func (s *spoken) Close() error {
	var all error
	s.close.Do(func() {
		all = errors.Join(s.in.Close(), s.out.Close())
		select {
		case <-s.done:
		case <-time.After(closeGrace):
		}
		s.end()
	})
	s.run.Wait()
	return all
}
