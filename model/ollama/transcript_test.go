package ollama_test

import (
	"testing"

	"colony/model/modeltest"
)

func TestTranscript(t *testing.T) {
	const chat = "https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion"
	docs := map[string]string{"request think": "https://docs.ollama.com/capabilities/thinking"}
	for _, field := range []string{
		"request model", "request stream", "request options", "request tools", "request tools[] type", "request tools[] function", "request messages",
		"request messages[] role", "request messages[] content", "request messages[] tool_calls", "request messages[] tool_calls[]", "request messages[] tool_name",
		"event model", "event created_at", "event message", "event message role", "event message content", "event message tool_calls",
		"event done", "event done_reason", "event prompt_eval_count", "event eval_count",
	} {
		docs[field] = chat // and all that stands within it
	}
	for _, field := range []string{"request options num_predict", "request options num_ctx"} {
		docs[field] = "https://docs.ollama.com/modelfile#valid-parameters-and-values"
	}
	modeltest.Transcript(t, dial, modeltest.Sources{Docs: docs})
}
