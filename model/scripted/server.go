// Package scripted is a language model that follows a scenario.
package scripted

import (
	"context"
	"errors"
)

// Parts is what a Server is made of.
type Parts struct {
	Scenarios []Scenario
	Key       string // the key that a request must carry; empty where none is wanted
	Record    bool   // keep what was received
}

// Scenario is what the model says, read from YAML.
type Scenario struct{ Name string }

// Parse reads a scenario.
func Parse(file string, data []byte) (Scenario, error) {
	return Scenario{}, errors.New("not built yet")
}

// Server serves scenarios on loopback.
type Server struct {
	URL string // base URL, with /v1
}

// Serve listens on a free loopback port until ctx ends or Close.
func Serve(ctx context.Context, p Parts) (*Server, error) { return nil, errors.New("not built yet") }

// Close stops the server and waits for it.
func (s *Server) Close() error { return nil }
