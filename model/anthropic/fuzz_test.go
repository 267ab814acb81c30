package anthropic_test

import (
	"net/http"
	"testing"
	"time"

	"colony/model"
	"colony/model/anthropic"
	"colony/model/modeltest"
)

func FuzzStream(f *testing.F) {
	modeltest.Fuzz(f, true, func(url string, transport http.RoundTripper) (model.Provider, error) {
		return anthropic.New(anthropic.Parts{BaseURL: url, FirstByte: time.Minute, Idle: time.Minute, Transport: transport})
	})
}
