// Package wire is what the adapters of all providers share: the exchange with its limits, what is gathered of a reply,
// what a refusal means, names of tools that every wire allows.
package wire

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"colony/tools"
)

// Parts is what a client is made of. Nothing is read from the environment but the proxy to use.
type Parts struct {
	BaseURL   string
	Key       string                           // empty where the server wants none
	FirstByte time.Duration                    // from sending to the reply's first byte; above 0
	Idle      time.Duration                    // between two pieces of a reply; above 0
	MaxBytes  int64                            // of one reply; 0 is 32 MiB
	Transport http.RoundTripper                // nil is one that gives up dialling after 4 s
	Blob      func(sha string) ([]byte, error) // the bytes of an image; nil where there are none
}

// Check is the parts, filled in and found to be usable.
func (p Parts) Check() (Parts, error) {
	base, err := url.Parse(p.BaseURL)
	switch {
	case err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https"):
		return p, fmt.Errorf("set up the model client: base URL %q is not like http://host/v1", p.BaseURL)
	case base.User != nil:
		return p, fmt.Errorf("set up the model client: the base URL names a user: put the key into the environment")
	case p.FirstByte <= 0 || p.Idle <= 0:
		return p, fmt.Errorf("set up the model client: both time limits must be above 0")
	case strings.ContainsAny(p.Key, "\r\n\x00"):
		return p, fmt.Errorf("set up the model client: the key holds a line break")
	}
	p.MaxBytes = cmp.Or(p.MaxBytes, 32<<20)
	if p.Transport == nil {
		p.Transport = transport()
	}
	return p, nil
}

// Client is the HTTP client of the parts. It follows no redirect.
func (p Parts) Client() *http.Client {
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: p.Transport, CheckRedirect: noRedirect}
}

func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 4 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 4 * time.Second
	t.MaxIdleConnsPerHost = 256
	return t
}

// Image is an image's kind and its bytes in base64.
func (p Parts) Image(ref tools.BlobRef) (media, data string, err error) {
	if p.Blob == nil {
		return "", "", Refuse("an image cannot be shown: its bytes are not at hand")
	}
	raw, err := p.Blob(ref.SHA256)
	if err != nil {
		return "", "", Refuse("an image cannot be shown: " + err.Error())
	}
	return ref.Media, base64.StdEncoding.EncodeToString(raw), nil
}

// DataURL is an image as a URL that holds it.
func (p Parts) DataURL(ref tools.BlobRef) (string, error) {
	media, data, err := p.Image(ref)
	return "data:" + media + ";base64," + data, err
}
