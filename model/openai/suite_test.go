package openai_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/openai"
	"colony/model/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	for _, wire := range wires {
		t.Run(string(wire), func(t *testing.T) {
			modeltest.Run(t, func(t *testing.T, scenario []byte, firstByte, idle time.Duration) model.Provider {
				s, err := scripted.Parse("suite.yaml", scenario)
				if err != nil {
					t.Fatal(err)
				}
				server := serve(t, scripted.Parts{Scenarios: []scripted.Scenario{s}, Key: "secret"})
				return client(t, openai.Parts{BaseURL: server.URL, Wire: wire, Key: "secret", FirstByte: firstByte, Idle: idle})
			})
		})
	}
}

var wires = []openai.Wire{openai.Chat, openai.Responses}

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

// client is a client whose connections end with the test.
func client(t *testing.T, p openai.Parts) *openai.Client {
	t.Helper()
	if p.Transport == nil {
		p.Transport = newTransport(t)
	}
	c, err := openai.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
