package openai_test

import "testing"

// The service that a reply came by is told on both wires; the standard one has no name.
func TestServices(t *testing.T) {
	for tier, want := range map[string]string{"priority": "priority", "flex": "flex", "default": "", "auto": ""} {
		got, err := complete(t, says(t, `{"service_tier":"`+tier+`","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`, done))
		if err != nil || got.Usage.Service != want {
			t.Errorf("chat, %s: %+v, %v", tier, got.Usage, err)
		}
		got, err = respond(t, begun, textDelta(0, "hi"), `{"type":"response.completed","response":{"status":"completed","service_tier":"`+tier+`","usage":{"input_tokens":10,"output_tokens":3}}}`)
		if err != nil || got.Usage.Service != want {
			t.Errorf("responses, %s: %+v, %v", tier, got.Usage, err)
		}
	}
}
