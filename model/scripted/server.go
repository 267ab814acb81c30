package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"colony/model"
)

// Parts is what a Server is made of.
type Parts struct {
	Scenarios []Scenario
	Key       string // the key that a request must carry; empty where none is wanted
	Record    bool   // keep what is received
}

// Server serves scenarios on a loopback port. The model name `NAME` or `scripted/NAME` selects one.
type Server struct {
	URL string // the base URL, with /v1

	parts     Parts
	scenarios map[string]Scenario
	http      *http.Server
	stop      context.CancelFunc
	done      chan struct{}
	book      book
	cache     cache
}

// Serve listens until ctx ends or Close is called, whichever comes first.
func Serve(ctx context.Context, p Parts) (*Server, error) {
	s := &Server{parts: p, scenarios: map[string]Scenario{}, done: make(chan struct{})}
	for _, scenario := range p.Scenarios {
		if _, ok := s.scenarios[scenario.Name]; ok {
			return nil, fmt.Errorf("serve the scripted model: two scenarios are named %q", scenario.Name)
		}
		s.scenarios[scenario.Name] = scenario
	}
	if len(s.scenarios) == 0 {
		return nil, fmt.Errorf("serve the scripted model: there is no scenario")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the scripted model: %w", err)
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.URL = "http://" + listener.Addr().String() + "/v1"
	s.http = &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go s.run(ctx, listener)
	return s, nil
}

// run serves until ctx ends; Close waits for it.
func (s *Server) run(ctx context.Context, listener net.Listener) {
	defer close(s.done)
	var served sync.WaitGroup
	served.Go(func() { _ = s.http.Serve(listener) }) // ends when the server is closed
	<-ctx.Done()
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if s.http.Shutdown(soon) != nil {
		_ = s.http.Close() // nothing more can be done for a connection that does not end
	}
	served.Wait()
}

// Close stops the server and waits until it has stopped.
func (s *Server) Close() error {
	s.stop()
	<-s.done
	return nil
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.in(chat{}))
	mux.HandleFunc("POST /v1/responses", s.in(responses{}))
	mux.HandleFunc("POST /v1/messages", s.in(messages{}))
	mux.HandleFunc("POST /api/chat", s.in(chatting{}))
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /counts", s.counts)
	mux.HandleFunc("GET /v1/counts", s.counts)
	return mux
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	list := []entry{}
	for _, scenario := range s.parts.Scenarios {
		list = append(list, entry{scenario.Name, "model"})
	}
	answer(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

func (s *Server) counts(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Counts()) }

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the reader has gone
}

// openAIRefusal is the body of a refusal of Chat Completions and of Responses.
func openAIRefusal(code, text string) any {
	return map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error", "code": code, "param": nil}}
}

// show is what Ollama says of a model.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string `json:"model"`
	}
	err := json.NewDecoder(io.LimitReader(r.Body, longestBody)).Decode(&asked)
	scenario, ok := s.scenarios[asked.Model]
	if err != nil || !ok {
		answer(w, http.StatusNotFound, chatting{}.refusal("", fmt.Sprintf("model %q not found", asked.Model)))
		return
	}
	info := map[string]any{"general.architecture": "scripted"}
	if scenario.Window > 0 {
		info["scripted.context_length"] = scenario.Window
	}
	answer(w, http.StatusOK, map[string]any{"model_info": info, "capabilities": []string{"completion", "tools"}})
}

const longestBody = 64 << 20

// wire is a format that the server speaks.
type wire interface {
	read(body []byte) (request, error) // or why a strict provider refuses it
	// tell is a reply as events, the last of which tells the reader that it has all. Half of a reply is half of the others.
	tell(r reply, counted *model.Usage) (events []string, last string, err error)
	whole(r reply, events []string, last string) any // the reply that is no stream
	refusal(code, text string) any                   // the body of a refusal
	thought(card, task string, n int) string         // the sealed thought before the nth reply; empty where the wire has none
}

// in answers the requests that come in a wire.
func (s *Server) in(format wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, format) }
}

// complete answers one request.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, format wire) {
	refuse := func(w http.ResponseWriter, status int, code, text string) {
		answer(w, status, format.refusal(code, text))
	}
	if s.parts.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.parts.Key {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
	var req request
	if err == nil {
		req, err = format.read(body)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	name := strings.TrimPrefix(req.Model, "scripted/")
	card, task := req.who()
	turns, ok := s.scenarios[name].turns(card, task)
	if _, known := s.scenarios[name]; !known {
		refuse(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("The model %q does not exist.", req.Model))
		return
	}
	if why := s.scenarios[name].refusal(req); why != "" {
		refuse(w, http.StatusBadRequest, "unsupported_value", why)
		return
	}
	if !ok {
		refuse(w, http.StatusBadRequest, "no_turns", fmt.Sprintf("Scenario %q holds nothing for card %q, task %q.", name, card, task))
		return
	}
	follows := script{turns, s.scenarios[name].Heedless}
	at := follows.placeOf(req.Messages)
	v := visit{key: key{name, card, task}, place: at, body: body}
	attempt := s.book.arrive(&v, s.parts.Record)
	defer s.book.leave(&v)
	if err := s.play(w, r, &v, req, follows.said(at), attempt, format); err != nil && !errors.Is(err, context.Canceled) {
		refuse(w, http.StatusInternalServerError, "scenario", err.Error())
	}
}

// play carries out a turn, or the fault that this attempt at it comes to.
func (s *Server) play(w http.ResponseWriter, r *http.Request, v *visit, req request, t Turn, attempt int, format wire) error {
	said, err := compose(req, t, len(v.body), len(exchanges(req.Messages)), format)
	if err != nil {
		return err
	}
	if err := pause(r.Context(), t.Latency); err != nil {
		return err
	}
	fault, faulty := t.fault(attempt)
	if faulty && fault.Status != 0 {
		v.outcome = refused
		if fault.RetryAfter != "" {
			w.Header().Set("Retry-After", fault.RetryAfter)
		}
		answer(w, fault.Status, format.refusal(fault.Code, fault.Text))
		return nil
	}
	switch fault.Kind {
	case kindSilent:
		<-r.Context().Done()
		return r.Context().Err()
	case kindReset:
		panic(http.ErrAbortHandler)
	}
	if req.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	counted := &said.usage
	switch {
	case fault.Kind == kindGarbage:
		_, err = io.WriteString(w, "data: {\"choices\": [\x01\n\n")
		return ignore(err)
	case fault.Kind == kindNoUsage || !req.StreamOptions.IncludeUsage:
		counted = nil
	case fault.Kind == kindZeroUsage:
		counted = &model.Usage{}
	}
	if s.scenarios[v.key.model].Cache {
		req.passAll(string(v.body))
		read := s.cache.serve(req.prompt, said.usage.Input())
		said.usage.Fresh, said.usage.Cached, said.usage.CacheWrite = read.Fresh, read.Cached, read.CacheWrite
	}
	said.spoil(fault.Kind)
	events, last, err := format.tell(said, counted)
	if err != nil {
		return err
	}
	if !req.Stream {
		body := format.whole(said, events, last)
		v.outcome, v.usage = whole, said.usage
		s.book.leave(v) // before the client can know that it has all
		answer(w, http.StatusOK, body)
		return nil
	}
	if fault.Kind == kindEarly {
		_, err := io.WriteString(w, strings.Join(events[:len(events)/2], ""))
		return ignore(err)
	}
	if fault.Kind == kindCut || fault.Kind == kindStall {
		return s.breakOff(w, r, events, fault.Kind)
	}
	if _, err := io.WriteString(w, strings.Join(events, "")); err != nil {
		return ignore(err)
	}
	v.outcome, v.usage = whole, said.usage
	s.book.leave(v) // before the client can know that it has all
	_, err = io.WriteString(w, last)
	return ignore(err)
}

// breakOff sends half a reply, and then closes the connection or keeps it open in silence.
func (s *Server) breakOff(w http.ResponseWriter, r *http.Request, events []string, kind string) error {
	if _, err := io.WriteString(w, strings.Join(events[:len(events)/2], "")); err != nil {
		return ignore(err)
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return ignore(err)
	}
	if kind == kindCut {
		panic(http.ErrAbortHandler)
	}
	<-r.Context().Done()
	return r.Context().Err()
}

// ignore drops the error of a reply whose reader has gone: the outcome of the visit says so.
func ignore(error) error { return nil }

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
