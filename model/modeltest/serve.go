package modeltest

import (
	"net/http"
	"testing"
	"time"

	"colony/model"
	"colony/model/scripted"
)

// At is where the server of a provider under test is, and how long it may take: FirstByte until the first byte of a reply,
// Idle until a further one.
type At struct {
	URL, Key        string
	FirstByte, Idle time.Duration
	Transport       http.RoundTripper
}

// Dial makes a provider that asks a server.
type Dial func(At) (model.Provider, error)

// open is a provider that may take its time.
func (dial Dial) open(url string, transport http.RoundTripper) (model.Provider, error) {
	return dial(At{URL: url, FirstByte: time.Minute, Idle: time.Minute, Transport: transport})
}

// start serves the suite's scenario and returns a provider that talks to the server.
func (dial Dial) start(t *testing.T, firstByte, idle time.Duration) model.Provider {
	t.Helper()
	s, err := scripted.Parse("suite.yaml", scenario)
	if err != nil {
		t.Fatal(err)
	}
	server := Serve(t, scripted.Parts{Scenarios: []scripted.Scenario{s}, Key: "secret"})
	p, err := dial(At{server.URL, "secret", firstByte, idle, Transport(t)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Serve is a scripted server that ends with the test.
func Serve(t *testing.T, p scripted.Parts) *scripted.Server {
	t.Helper()
	server, err := scripted.Serve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Transport is one whose connections end with the test.
func Transport(t *testing.T) http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
