package openai_test

import (
	"testing"

	"colony/model"
)

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

// What is kept for longer than the cache usually keeps it is told apart.
func TestLongCacheWrites(t *testing.T) {
	for details, want := range map[string]model.Usage{
		`{"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_30m_tokens":10,"ttl_12h_tokens":20}}`: {Fresh: 70, CacheWrite: 30, CacheWriteLong: 20, Output: 1},
		`{"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_12h_tokens":90}}`:                     {Fresh: 70, CacheWrite: 30, CacheWriteLong: 30, Output: 1},
		`{"cache_write_tokens":30}`: {Fresh: 70, CacheWrite: 30, Output: 1},
	} {
		got, err := respond(t, begun, textDelta(0, "hi"), `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":100,"input_tokens_details":`+details+`,"output_tokens":1}}}`)
		if err != nil || got.Usage != want {
			t.Errorf("%s: got %+v, %v", details, got.Usage, err)
		}
	}
}
