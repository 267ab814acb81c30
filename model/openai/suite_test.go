package openai_test

import (
	"testing"

	"go.uber.org/goleak"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(wire openai.Wire) modeltest.Dial {
	return func(at modeltest.At) (model.Provider, error) {
		return openai.New(openai.Parts{BaseURL: at.URL, Wire: wire, Key: at.Key, FirstByte: at.FirstByte, Idle: at.Idle, Transport: at.Transport})
	}
}

func TestSuite(t *testing.T) {
	for _, wire := range wires {
		t.Run(string(wire), func(t *testing.T) { modeltest.Run(t, dial(wire)) })
	}
}

func FuzzChat(f *testing.F) { modeltest.Fuzz(f, true, dial(openai.Chat)) }

func FuzzResponses(f *testing.F) { modeltest.Fuzz(f, true, dial(openai.Responses)) }

var wires = []openai.Wire{openai.Chat, openai.Responses}

// client is a client whose connections end with the test.
func client(t *testing.T, p openai.Parts) *openai.Client {
	t.Helper()
	if p.Transport == nil {
		p.Transport = modeltest.Transport(t)
	}
	c, err := openai.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
