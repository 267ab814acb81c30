package ledger

import "colony/model"

// What a wire format adds to the texts, in bytes, and what an image counts as.
const (
	requestFrame = 200
	messageFrame = 60
	callFrame    = 80
	toolFrame    = 90
	imageSize    = 6000
)

// estimate is how many tokens a request of that size has: a third of its bytes, rounded up, until a reply
// has told the ant's own ratio.
func (a *antPurse) estimate(size int64) int64 {
	if a.bytes == 0 {
		return (size + 2) / 3
	}
	return (size*a.tokens + a.bytes - 1) / a.bytes
}

// requestBytes is the size of a request as it is sent, or a little more.
func requestBytes(req model.Request) int64 {
	n := int64(requestFrame)
	for _, m := range req.Messages {
		n += messageFrame + quoted(m.Text) + int64(len(m.CallID)+len(m.Opaque)) + int64(len(m.Images))*imageSize
		for _, c := range m.Calls {
			n += callFrame + int64(len(c.ID)+len(c.Name)) + quoted(string(c.Args))
		}
	}
	for _, t := range req.Tools {
		n += toolFrame + int64(len(t.Name)+len(t.Params)) + quoted(t.Description)
	}
	return n
}

// quoted is the length of a text as a JSON string.
func quoted(s string) int64 {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r':
			n++
		case c < ' ':
			n += 5
		}
	}
	return int64(n)
}
