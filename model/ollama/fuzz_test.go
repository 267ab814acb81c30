package ollama_test

import (
	"net/http"
	"testing"
	"time"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/ollama"
)

func FuzzStream(f *testing.F) {
	modeltest.Fuzz(f, false, func(url string, transport http.RoundTripper) (model.Provider, error) {
		return ollama.New(ollama.Parts{BaseURL: url, FirstByte: time.Minute, Idle: time.Minute, Transport: transport})
	})
}
