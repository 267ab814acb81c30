package openai

import (
	"context"
	"errors"
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

// watcher looks after one HTTP exchange: its time limits, its size, its headers.
type watcher struct {
	ctx       context.Context
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

func watch(ctx context.Context, p Parts) *watcher {
	w := &watcher{parts: p, begun: time.Now()}
	w.ctx, w.end = context.WithCancelCause(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { w.connected.Store(true) },
	}))
	w.timer = time.AfterFunc(p.FirstByte, func() { w.end(errStalled) })
	return w
}

func (w *watcher) stop() {
	w.timer.Stop()
	w.end(nil)
}

// sent reports whether the request may have reached the server, and no refusal came back.
func (w *watcher) sent() bool { return w.connected.Load() && w.refused == nil }

// pace says whether the model is thinking, which takes as long as a first byte may and sends nothing. It is called by
// whoever reads the reply.
func (w *watcher) pace(slow bool) {
	if w.slow != slow {
		w.slow = slow
		w.timer.Reset(w.limit())
	}
}

// round is the SDK's middleware. A refusal is read here, bounded, so that the SDK does not read it unbounded.
func (w *watcher) round(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := next(req)
	if err != nil {
		return resp, err
	}
	w.limits = limitsOf(resp.Header)
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // a refusal with a broken body is one still
		_ = resp.Body.Close()
		w.refused = classify(resp.StatusCode, resp.Header, body, w.parts.Key)
		return nil, w.refused
	}
	w.connected.Store(true)
	resp.Body = &watchedBody{inner: resp.Body, watch: w, left: w.parts.MaxBytes}
	return resp, nil
}

// watchedBody feeds the time limits and bounds the size.
type watchedBody struct {
	inner io.ReadCloser
	watch *watcher
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
