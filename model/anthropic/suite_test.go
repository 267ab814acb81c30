package anthropic_test

import (
	"testing"

	"go.uber.org/goleak"

	"colony/model"
	"colony/model/anthropic"
	"colony/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(at modeltest.At) (model.Provider, error) {
	return anthropic.New(anthropic.Parts{BaseURL: at.URL, Key: at.Key, FirstByte: at.FirstByte, Idle: at.Idle, Transport: at.Transport})
}

func TestSuite(t *testing.T) { modeltest.Run(t, dial) }

func FuzzStream(f *testing.F) { modeltest.Fuzz(f, true, dial) }
