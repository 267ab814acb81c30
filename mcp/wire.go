package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server may write: bytes of one message, of one line that is none and is passed over, and lines that are no
// message.
const (
	maxMessage = 8 << 20
	maxLine    = 256 << 20
	maxGarbage = 1000
)

// wire speaks to a server over its standard streams, one message a line. What is no message is passed over and told, and a
// message that is too long is answered with an error in its place.
type wire struct {
	stream io.ReadWriteCloser
	told   func(string) // a line that is no message
	lines  *bufio.Reader
	queue  []jsonrpc.Message // of a batch; Read alone uses it
	bad    int

	writing chan struct{} // held by the one that writes
	closing sync.Once
	closed  error
	ended   chan struct{} // closed when the server writes no more
	once    sync.Once
}

// Connect is the connection itself: it is made of a process that has started.
func (w *wire) Connect(context.Context) (sdk.Connection, error) { return w, nil }

func newWire(stream io.ReadWriteCloser, told func(string)) *wire {
	return &wire{stream: stream, told: told, lines: bufio.NewReaderSize(stream, 64<<10), writing: make(chan struct{}, 1), ended: make(chan struct{})}
}

// SessionID is none.
func (w *wire) SessionID() string { return "" }

// Read is the server's next message. It returns when the stream is closed.
func (w *wire) Read(context.Context) (jsonrpc.Message, error) {
	m, err := w.next()
	if err != nil {
		w.once.Do(func() { close(w.ended) })
	}
	return m, err
}

func (w *wire) next() (jsonrpc.Message, error) {
	for len(w.queue) == 0 {
		line, err := w.line()
		if over := new(overlong); errors.As(err, &over) {
			if m, ok := over.answer(); ok {
				return m, nil
			}
			err = w.skip("a line of more than 8 MiB, which answers no call")
		} else if err == nil {
			err = w.take(bytes.TrimSpace(line))
		}
		if err != nil {
			return nil, err
		}
	}
	m := w.queue[0]
	w.queue = w.queue[1:]
	return m, nil
}

// take puts the messages of a line into the queue.
func (w *wire) take(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	batch := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &batch) != nil {
		return w.skip(string(line))
	}
	for _, one := range batch {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return w.skip(string(line))
		}
		w.queue = append(w.queue, m)
	}
	return nil
}

// skip passes over what is no message, a bounded number of times.
func (w *wire) skip(line string) error {
	if w.bad++; w.bad > maxGarbage {
		return fmt.Errorf("it wrote more than %d lines that are no messages", maxGarbage)
	}
	w.told(clip(Visible(line), 200))
	return nil
}

// overlong is a line that is too long for a message: how it begins and ends.
type overlong struct{ head, tail []byte }

func (*overlong) Error() string { return "a line is too long" }

// The id of a message where it stands before or behind all else of it: one within it may be anybody's.
var (
	headID = regexp.MustCompile(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*([0-9]+)\s*,`)
	tailID = regexp.MustCompile(`,\s*"id"\s*:\s*([0-9]+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
)

// answer is an error in the place of the answer that the line is.
func (o *overlong) answer() (jsonrpc.Message, bool) {
	for _, m := range [][][]byte{headID.FindSubmatch(o.head), tailID.FindSubmatch(o.tail)} {
		if m == nil {
			continue
		}
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"the answer is larger than %d MiB and was not taken"}}`, m[1], codeTooLarge, maxMessage>>20)
		message, err := jsonrpc.DecodeMessage([]byte(text))
		return message, err == nil
	}
	return nil, false
}

// codeTooLarge is the code of the error that stands for an answer that was too large.
const codeTooLarge = -32099

// ends is how much of an overlong line is kept at each end.
const ends = 4 << 10

// line is the next line; of one that is too long the ends, as an *overlong.
func (w *wire) line() ([]byte, error) {
	var all, tail []byte
	for size := 0; ; {
		part, err := w.lines.ReadSlice('\n')
		size += len(part)
		switch {
		case size <= maxMessage:
			all = append(all, part...)
		case size > maxLine:
			return nil, fmt.Errorf("it wrote a line of more than %d MiB", maxLine>>20)
		default:
			if tail == nil {
				all = append([]byte{}, all[:min(len(all), ends)]...)
			}
			tail = append(tail, part...)
			tail = append([]byte{}, tail[max(0, len(tail)-ends):]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && (len(all) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case tail != nil:
			return nil, &overlong{all, tail}
		default:
			return all, nil
		}
	}
}

// writeGrace is how long a message may take to be written once nobody waits for its answer any more.
const writeGrace = 2 * time.Second

// writeLimit is how long a message may take to be written at most, also where somebody waits for its answer.
const writeLimit = 10 * time.Second

// Write sends a message. A server that does not take it in time is ended: of half a message nothing can follow.
func (w *wire) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	select {
	case w.writing <- struct{}{}:
		defer func() { <-w.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	limit := time.AfterFunc(writeLimit, func() { w.stream.Close() }) //nolint:errcheck // the write fails with it
	defer limit.Stop()
	written := make(chan struct{})
	defer close(written)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-written:
		case <-time.After(writeGrace):
			w.stream.Close() //nolint:errcheck // the write fails with it
		}
	})()
	_, err = w.stream.Write(append(data, '\n'))
	return err
}

// Close ends the server.
func (w *wire) Close() error {
	w.closing.Do(func() { w.closed = w.stream.Close() })
	return w.closed
}

var _ sdk.Connection = (*wire)(nil)
var _ sdk.Transport = (*wire)(nil)
