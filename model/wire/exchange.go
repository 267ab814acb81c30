package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"colony/model"
)

// errStalled and errTooLong end a reply from our side.
var (
	errStalled = errors.New("no answer within the time limit")
	errTooLong = errors.New("the reply is too long")
)

// Exchange looks after one HTTP exchange: its time limits, its size, its headers. Context ends with it.
type Exchange struct {
	Context context.Context

	asked     context.Context
	parts     Parts
	begun     time.Time
	end       context.CancelCauseFunc
	timer     *time.Timer
	refused   *model.Error // an answer that is no reply
	limits    model.Limits
	connected atomic.Bool // the request may have left
	firstByte time.Duration
	slow      bool // the model thinks, in silence
	once      sync.Once
}

// Begin starts the clock of an exchange. Stop is to be called in the end.
func Begin(ctx context.Context, p Parts) *Exchange {
	w := &Exchange{parts: p, asked: ctx, begun: time.Now()}
	w.Context, w.end = context.WithCancelCause(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { w.connected.Store(true) },
	}))
	w.timer = time.AfterFunc(p.FirstByte, func() { w.end(errStalled) })
	return w
}

// Stop ends the exchange.
func (w *Exchange) Stop() {
	w.timer.Stop()
	w.end(nil)
}

// sent reports whether the request may have reached the server, and no refusal came back.
func (w *Exchange) sent() bool { return w.connected.Load() && w.refused == nil }

// pace says whether the model is thinking, which takes as long as a first byte may and sends nothing. It is called by
// whoever reads the reply.
func (w *Exchange) pace(slow bool) {
	if w.slow != slow {
		w.slow = slow
		w.timer.Reset(w.limit())
	}
}

// limit is the time limit that is running.
func (w *Exchange) limit() time.Duration {
	if w.firstByte > 0 && !w.slow {
		return w.parts.Idle
	}
	return w.parts.FirstByte
}

// longestRefusal bounds what is read of a refusal.
const longestRefusal = 64 << 10

// Round carries out one request, as a middleware of the official clients. A refusal is read here, bounded, so that no
// client reads it unbounded.
func (w *Exchange) Round(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := next(req)
	if err != nil {
		return resp, err
	}
	w.limits = limitsOf(resp.Header, time.Now())
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, longestRefusal)) // a refusal with a broken body is one still
		_ = resp.Body.Close()
		w.refused = classify(resp.StatusCode, resp.Header, body, w.parts.Key)
		return nil, w.refused
	}
	w.connected.Store(true)
	if w.refused = misnamed(resp, w.parts.Key); w.refused != nil {
		return nil, w.refused
	}
	resp.Body = &watchedBody{inner: resp.Body, watch: w, left: w.parts.MaxBytes}
	return resp, nil
}

// Finish is the reply with what the exchange came to, and the error that it ended with, if any. Ended is what ended the
// stream. A call that did not arrive whole is not part of the reply.
func (w *Exchange) Finish(req model.Request, out model.Reply, got *Heard, ended error) (model.Reply, error) {
	w.forget(&out.Message)
	out.FirstByte, out.Elapsed, out.Limits = w.firstByte, time.Since(w.begun), w.limits
	if w.sent() {
		out.Usage, out.Estimated = completed(out.Usage, req, got.Bytes)
		out.Estimated = out.Estimated || got.Partly
	}
	err := w.failure(ended, got)
	switch {
	case err != nil:
	case out.Finish != model.FinishLength:
		err = w.broken(out.Message.Calls, req.Attempt)
	case !req.Grown:
		err = &model.Error{Kind: model.Cut, Sent: true, Limits: w.limits, Text: fmt.Sprintf("the reply was cut at %d tokens", req.OutputLimit)}
	}
	if err != nil {
		out.Message.Calls, out.Message.Opaque, out.Message.Thought, out.Finish = nil, nil, "", ""
		return out, err
	}
	return out, nil
}

// watchedBody feeds the time limits and bounds the size.
type watchedBody struct {
	inner io.ReadCloser
	watch *Exchange
	left  int64
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p)
	if n > 0 {
		b.watch.once.Do(func() { b.watch.firstByte = time.Since(b.watch.begun) })
		b.watch.timer.Reset(b.watch.limit())
	}
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLong
	}
	return n, err
}

func (b *watchedBody) Close() error { return b.inner.Close() }
