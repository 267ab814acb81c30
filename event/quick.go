package event

import (
	"bytes"
	"strconv"
	"time"
)

// quick reads JSON as encode writes it: fields in order, without blanks. What is written otherwise makes it bad, and is
// read as any JSON is.
type quick struct {
	data []byte
	at   int
	bad  bool
}

// lit takes a text that must follow.
func (q *quick) lit(text string) {
	if q.bad || !bytes.HasPrefix(q.data[q.at:], []byte(text)) {
		q.bad = true
		return
	}
	q.at += len(text)
}

// has takes a text that may follow.
func (q *quick) has(text string) bool {
	if q.bad || !bytes.HasPrefix(q.data[q.at:], []byte(text)) {
		return false
	}
	q.at += len(text)
	return true
}

// str is a string without escapes.
func (q *quick) str() string {
	q.lit(`"`)
	if q.bad {
		return ""
	}
	n := bytes.IndexByte(q.data[q.at:], '"')
	if n < 0 || bytes.IndexByte(q.data[q.at:q.at+n], '\\') >= 0 {
		q.bad = true
		return ""
	}
	text := string(q.data[q.at : q.at+n])
	q.at += n + 1
	return text
}

// word is what stands up to the next comma or bracket.
func (q *quick) word() []byte {
	if q.bad {
		return nil
	}
	n := bytes.IndexAny(q.data[q.at:], ",}")
	if n <= 0 {
		q.bad = true
		return nil
	}
	word := q.data[q.at : q.at+n]
	q.at += n
	return word
}

func (q *quick) int() int64 {
	n, err := strconv.ParseInt(string(q.word()), 10, 64)
	q.bad = q.bad || err != nil
	return n
}

func (q *quick) bool() bool {
	if q.has("true") {
		return true
	}
	q.lit("false")
	return false
}

// usd is an amount or null.
func (q *quick) usd() *PicoUSD {
	if q.has("null") {
		return nil
	}
	var p PicoUSD
	word := q.word()
	if q.bad || p.UnmarshalJSON(word) != nil {
		q.bad = true
	}
	return &p
}

// skip passes over one value.
func (q *quick) skip() {
	depth, inside := 0, false
	for ; q.at < len(q.data) && !q.bad; q.at++ {
		switch c := q.data[q.at]; {
		case inside && c == '\\':
			q.at++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',') && depth == 0:
			return
		case c == '}' || c == ']':
			depth--
		}
	}
	q.bad = true
}

// quickHead is a head as headOf writes it; false where it is written otherwise.
func quickHead(data []byte) (h head, ok bool) {
	q := quick{data: data}
	q.lit(`{"id":`)
	h.ID = q.str()
	q.lit(`,"seq":`)
	h.Seq = Seq(q.int())
	q.lit(`,"time":`)
	at, err := time.Parse(time.RFC3339Nano, q.str())
	h.Time = at
	q.lit(`,"run":`)
	h.Run = q.str()
	for _, f := range []struct {
		name string
		into *string
	}{{`,"task":`, &h.Task}, {`,"ant":`, &h.Ant}, {`,"origin":`, &h.Origin}} {
		if q.has(f.name) {
			*f.into = q.str()
		}
	}
	q.lit(`,"type":`)
	h.Type = q.str()
	q.lit(`}`)
	return h, !q.bad && err == nil && q.at == len(data)
}

func quickRequested(data []byte) (m ModelRequested, ok bool) {
	q := quick{data: data}
	q.lit(`{"request":`)
	m.Request = q.str()
	q.lit(`,"attempt":`)
	m.Attempt = int(q.int())
	q.lit(`,"provider":`)
	m.Provider = q.str()
	q.lit(`,"model":`)
	m.Model = q.str()
	q.lit(`,"reserved_usd":`)
	m.ReservedUSD = q.usd()
	q.lit(`,"reserved_tokens":`)
	m.ReservedTokens = q.int()
	q.lit(`,"output_limit":`)
	m.OutputLimit = int(q.int())
	q.lit(`}`)
	return m, !q.bad && q.at == len(data)
}

// quickReplied leaves out what was said.
func quickReplied(data []byte) (m ModelReplied, ok bool) {
	q := quick{data: data}
	q.lit(`{"request":`)
	m.Request = q.str()
	q.lit(`,"attempt":`)
	m.Attempt = int(q.int())
	q.lit(`,"outcome":`)
	m.Outcome = q.str()
	q.lit(`,"finish":`)
	m.Finish = q.str()
	q.lit(`,"content":`)
	q.skip()
	q.lit(`,"usage":`)
	m.Usage = q.usage()
	q.lit(`,"usd":`)
	m.USD = q.usd()
	q.lit(`,"price":`)
	m.Price = Price(q.str())
	q.lit(`,"rate_date":`)
	m.RateDate = q.str()
	if q.has(`,"rate":`) {
		m.Rate = q.str()
	}
	if q.has(`,"service":`) {
		m.Service = q.str()
	}
	q.lit(`,"estimated":`)
	m.Estimated = q.bool()
	if q.has(`,"cache_miss":`) {
		m.CacheMiss = q.str()
	}
	if q.has(`,"cache_missed_tokens":`) {
		m.CacheMissed = q.int()
	}
	q.lit(`,"first_byte_ms":`)
	m.FirstByteMs = q.int()
	q.lit(`,"ms":`)
	m.Ms = q.int()
	q.lit(`}`)
	return m, !q.bad && q.at == len(data)
}

func (q *quick) usage() (u Usage) {
	for i, into := range []*int64{&u.Requests, &u.Input, &u.Cached, &u.CacheWrite, &u.Output, &u.Reasoning} {
		q.lit([]string{`{"requests":`, `,"input_tokens":`, `,"cached_input_tokens":`, `,"cache_write_tokens":`, `,"output_tokens":`, `,"reasoning_tokens":`}[i])
		*into = q.int()
	}
	if q.has(`,"cache_write_1h_tokens":`) {
		u.CacheWriteLong = q.int()
	}
	q.lit(`}`)
	return u
}

// quickly is the event of a verified record without what was said in a reply; false where it has to be read as any JSON.
func (r *record) quickly() (Event, bool) {
	h, ok := quickHead(r.head)
	if !ok {
		return Event{}, false
	}
	switch h.Type {
	case "model.requested":
		if b, ok := quickRequested(r.fields); ok {
			return h.event(b), true
		}
	case "model.replied":
		if b, ok := quickReplied(r.fields); ok {
			return h.event(b), true
		}
	}
	return Event{}, false
}
