package openai_test

import (
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"colony/model/modeltest"
	"colony/model/openai"
)

func TestTranscripts(t *testing.T) {
	t.Run("chat", func(t *testing.T) {
		modeltest.Transcript(t, dial(openai.Chat), modeltest.Sources{Request: sdk.ChatCompletionNewParams{}, Event: sdk.ChatCompletionChunk{}, Docs: map[string]string{
			"request stream": "https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream",
		}})
	})
	const ours = "our own: a field that no version of the client knows, which has to come back"
	t.Run("responses", func(t *testing.T) {
		modeltest.Transcript(t, dial(openai.Responses), modeltest.Sources{Request: responses.ResponseNewParams{}, Event: responses.ResponseStreamEventUnion{}, Docs: map[string]string{
			"request stream": "https://platform.openai.com/docs/api-reference/responses/create#responses-create-stream",
			"event item odd": ours, "event response output[] odd": ours, "request input[] odd": ours,
		}})
	})
}
