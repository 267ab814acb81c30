package ollama_test

import (
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/ollama"
	"colony/model/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	modeltest.RunPlain(t, func(t *testing.T, scenario []byte, firstByte, idle time.Duration) model.Provider {
		s, err := scripted.Parse("suite.yaml", scenario)
		if err != nil {
			t.Fatal(err)
		}
		server := serve(t, scripted.Parts{Scenarios: []scripted.Scenario{s}, Key: "secret"})
		c, err := ollama.New(ollama.Parts{BaseURL: server.URL, Key: "secret", FirstByte: firstByte, Idle: idle, Transport: newTransport(t)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

func serve(t *testing.T, p scripted.Parts) *scripted.Server {
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

// newTransport is one whose connections end with the test.
func newTransport(t *testing.T) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
