package openai_test

import (
	"net/http"
	"testing"
)

func newTransport(t *testing.T) http.RoundTripper {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
