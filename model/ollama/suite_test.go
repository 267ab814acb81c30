package ollama_test

import (
	"testing"

	"go.uber.org/goleak"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/ollama"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(at modeltest.At) (model.Provider, error) {
	return ollama.New(ollama.Parts{BaseURL: at.URL, Key: at.Key, Window: 32768, FirstByte: at.FirstByte, Idle: at.Idle, Transport: at.Transport})
}

func TestSuite(t *testing.T) { modeltest.RunPlain(t, dial) }

func FuzzStream(f *testing.F) { modeltest.Fuzz(f, false, dial) }
