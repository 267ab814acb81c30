package openai_test

import (
	"net/http"
	"testing"
	"time"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/openai"
)

func FuzzChat(f *testing.F) { modeltest.Fuzz(f, true, dial(openai.Chat)) }

func FuzzResponses(f *testing.F) { modeltest.Fuzz(f, true, dial(openai.Responses)) }

func dial(wire openai.Wire) modeltest.Dial {
	return func(url string, transport http.RoundTripper) (model.Provider, error) {
		return openai.New(openai.Parts{BaseURL: url, Wire: wire, FirstByte: time.Minute, Idle: time.Minute, Transport: transport})
	}
}
