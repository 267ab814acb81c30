package modeltest

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"colony/model"
	"colony/model/scripted"
)

// random is how many streams are tried without a fuzzer.
const random = 100

// Fuzz is a fuzz target: a stream that is cut into pieces anywhere, also inside a letter, with comments and other ends of
// lines where events allows for them, is the same reply; and one that is cut short or holds bytes of any kind is an error
// or a reply whose calls can be read, never a panic.
func Fuzz(f *testing.F, events bool, dial Dial) {
	streams := record(f, dial)
	f.Add(uint8(0), []byte{1}, []byte(nil), true, true)
	f.Add(uint8(1), []byte{3, 1, 200}, []byte(nil), false, true)
	f.Add(uint8(2), []byte{7}, []byte("data: {\"choices\":[\xff"), false, false)
	f.Add(uint8(1), []byte{255, 2}, []byte("\n\ndata: [DONE]\n\n{}\n"), true, false)
	for i := range random { // what a fuzz target tries first is tried in every test
		r := rand.New(rand.NewPCG(1, uint64(i)))
		some := func(most int) []byte {
			data := make([]byte, r.IntN(most))
			for j := range data {
				data[j] = byte(r.Uint32())
			}
			return data
		}
		f.Add(uint8(i), some(6), some(40), r.IntN(2) == 0, r.IntN(2) == 0)
	}
	f.Fuzz(func(t *testing.T, which uint8, sizes, junk []byte, comments, crlf bool) {
		s := streams[int(which)%len(streams)]
		body := s.body
		if events {
			body = dressed(body, comments, crlf)
		}
		got, err := play(t, dial, s.task, body, sizes)
		if err != nil || !reflect.DeepEqual(got.Message, s.reply.Message) || got.Finish != s.reply.Finish || got.Usage != s.reply.Usage {
			t.Errorf("got %+v, %v\nwant %+v", got, err, s.reply)
		}
		if len(sizes) == 0 {
			return
		}
		cut := len(body) * int(sizes[0]) / 255
		got, err = play(t, dial, s.task, append(bytes.Clone(body[:cut]), junk...), sizes)
		for _, c := range got.Message.Calls {
			if err != nil || !json.Valid(c.Args) {
				t.Errorf("a call of a broken reply: %+v, %v", c, err)
			}
		}
		if err == nil && got.Finish == "" {
			t.Error("a reply that did not end is no error")
		}
	})
}

// recorded is a reply as it came over the wire.
type recorded struct {
	task  string
	body  []byte
	reply model.Reply
}

// record lets a scripted server say a few replies, and keeps what it sent.
func record(f *testing.F, dial Dial) (all []recorded) {
	f.Helper()
	s, err := scripted.Parse("suite.yaml", scenario)
	if err != nil {
		f.Fatal(err)
	}
	server, err := scripted.Serve(f.Context(), scripted.Parts{Scenarios: []scripted.Scenario{s}})
	if err != nil {
		f.Fatal(err)
	}
	defer server.Close()
	for _, task := range []string{"text", "parallel", "usage"} {
		var body []byte
		inner := &http.Transport{DisableKeepAlives: true}
		p, err := dial.open(server.URL, transport(func(r *http.Request) (*http.Response, error) {
			resp, err := inner.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			defer resp.Body.Close()
			body, err = io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return resp, err
		}))
		if err != nil {
			f.Fatal(err)
		}
		reply, err := p.Complete(f.Context(), ask(task), nil)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, recorded{task, body, reply})
	}
	return all
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// play is what a provider makes of a body that comes in pieces.
func play(t *testing.T, dial Dial, task string, body, sizes []byte) (model.Reply, error) {
	t.Helper()
	p, err := dial.open("http://nobody.invalid/v1", transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
			Body: io.NopCloser(&pieces{bytes.NewReader(body), sizes, 0}),
		}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return p.Complete(t.Context(), ask(task), nil)
}

// pieces reads no more at once than the sizes say, one after the other and over again.
type pieces struct {
	inner *bytes.Reader
	sizes []byte
	next  int
}

func (r *pieces) Read(p []byte) (int, error) {
	if len(r.sizes) > 0 {
		n := max(int(r.sizes[r.next%len(r.sizes)]), 1)
		r.next++
		p = p[:min(n, len(p))]
	}
	return r.inner.Read(p)
}

// dressed is a stream of events with comments between its lines, and with other ends of lines.
func dressed(body []byte, comments, crlf bool) []byte {
	text := string(body)
	if comments {
		text = ": hello\n\n" + strings.ReplaceAll(text, "\ndata: ", "\n: ping é\ndata: ")
	}
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}
