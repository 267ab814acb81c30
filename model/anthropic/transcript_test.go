package anthropic_test

import (
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"colony/model/modeltest"
)

func TestTranscript(t *testing.T) {
	modeltest.Transcript(t, dial, modeltest.Sources{Request: sdk.MessageNewParams{}, Event: sdk.MessageStreamEventUnion{}, Docs: map[string]string{
		"request stream": "https://platform.claude.com/docs/en/build-with-claude/streaming",
	}})
}
