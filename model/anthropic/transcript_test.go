package anthropic_test

import (
	"net/http"
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"colony/model"
	"colony/model/anthropic"
	"colony/model/modeltest"
)

func TestTranscript(t *testing.T) {
	modeltest.Transcript(t, func(url string, transport http.RoundTripper) (model.Provider, error) {
		return anthropic.New(anthropic.Parts{BaseURL: url, FirstByte: time.Minute, Idle: time.Minute, Transport: transport})
	}, modeltest.Sources{Request: sdk.MessageNewParams{}, Event: sdk.MessageStreamEventUnion{}, Docs: map[string]string{
		"request stream": "https://platform.claude.com/docs/en/build-with-claude/streaming",
	}})
}
