package lsp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// Bounds of what a server may send.
const (
	maxBody   = 128 << 20 // bytes of one message
	maxHeader = 64 << 10  // bytes between two messages
	maxBad    = 100       // messages that cannot be read, before the server is given up
	maxQueue  = 256       // messages that wait to be written
)

// stream frames messages. A message that cannot be read is passed over; a server that reads nothing blocks nobody for longer
// than the context of who writes.
type stream struct {
	rw     io.ReadWriteCloser
	in     *bufio.Reader
	out    chan []byte
	closed chan struct{}
	once   sync.Once
	err    error
}

func newStream(rw io.ReadWriteCloser) *stream {
	return &stream{rw: rw, in: bufio.NewReaderSize(rw, 64<<10), out: make(chan []byte, maxQueue), closed: make(chan struct{})}
}

// pump writes what is queued until the stream is closed.
func (s *stream) pump() {
	for {
		select {
		case <-s.closed:
			return
		case frame := <-s.out:
			if _, err := s.rw.Write(frame); err != nil {
				s.Close()
				return
			}
		}
	}
}

// Read is the next message that can be read.
func (s *stream) Read(context.Context) (jsonrpc2.Message, int64, error) {
	for bad := 0; ; bad++ {
		body, err := s.frame()
		if err != nil {
			return nil, 0, err
		}
		m, err := jsonrpc2.DecodeMessage(body)
		if err == nil {
			return m, int64(len(body)), nil
		}
		if bad == maxBad {
			return nil, 0, fmt.Errorf("too many messages that cannot be read: %w", err)
		}
	}
}

var errLength = errors.New("no usable Content-Length")

// frame is the body of the next message. Lines that are no header, which some servers print, are passed over.
func (s *stream) frame() ([]byte, error) {
	length, read := -1, 0
	for {
		line, err := s.in.ReadSlice('\n')
		read += len(line)
		if errors.Is(err, bufio.ErrBufferFull) || read > maxHeader {
			return nil, errLength
		}
		if err != nil {
			return nil, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" && length >= 0 {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxBody {
			return nil, fmt.Errorf("%w: %q", errLength, value)
		}
	}
	var body bytes.Buffer // grows as bytes come: the length is only what the server says
	_, err := io.CopyN(&body, s.in, int64(length))
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return body.Bytes(), err
}

// Write queues a message.
func (s *stream) Write(ctx context.Context, m jsonrpc2.Message) (int64, error) {
	body, err := jsonrpc2.EncodeMessage(m)
	if err != nil {
		return 0, err
	}
	frame := append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
	select {
	case <-s.closed:
		return 0, io.ErrClosedPipe
	case s.out <- frame: // whatever the context: only a server that takes nothing fails a message
		return int64(len(frame)), nil
	default:
	}
	select {
	case <-s.closed:
		return 0, io.ErrClosedPipe
	case <-ctx.Done():
		return 0, ctx.Err()
	case s.out <- frame:
		return int64(len(frame)), nil
	}
}

// Close ends the server's processes.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.closed)
		s.err = s.rw.Close()
	})
	return s.err
}

var _ jsonrpc2.Stream = (*stream)(nil)
