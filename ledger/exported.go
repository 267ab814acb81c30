package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"colony/event"
)

// mostCounted and mostUSD bound what is believed of one attempt that another machine tells of.
const (
	mostCounted = 1 << 40
	mostUSD     = 1_000_000 * event.Dollar
)

// sane refuses what no colony writes, and reports whether an event is a request or its reply.
func sane(e event.Event) (charge bool, err error) {
	in := func(top int64, counts ...int64) bool {
		for _, n := range counts {
			if n < 0 || n > top {
				return false
			}
		}
		return true
	}
	var usd *event.PicoUSD
	ok := true
	switch b := e.Body.(type) {
	case event.ModelRequested:
		charge, usd, ok = true, b.ReservedUSD, in(mostCounted, b.ReservedTokens, int64(b.OutputLimit))
	case event.ModelReplied:
		u := b.Usage
		charge, usd = true, b.USD
		ok = in(mostCounted, u.Requests, u.Input, u.Cached, u.CacheWrite, u.CacheWriteLong, u.Output, u.Reasoning) && u.Cached+u.CacheWrite <= u.Input && u.Reasoning <= u.Output
	case event.ToolDone:
		ok = in(mostCounted, b.Bytes)
	case event.AntTold:
		ok = in(mostCounted, b.Size)
	}
	if !ok || usd != nil && !in(int64(mostUSD), int64(*usd)) {
		return charge, fmt.Errorf("event %d counts what cannot be", e.Seq)
	}
	return charge, nil
}

// IDs are the ids of its events.
func (x Exported) IDs() []string {
	ids := make([]string, len(x.lines))
	for i, l := range x.lines {
		ids[i] = l.id
	}
	return ids
}

// Without is the run without the charges whose events are known, as a part of its own, and how many charges that has.
func (x Exported) Without(known map[string]bool) (part Exported, charges int) {
	part = Exported{head: x.head}
	for _, l := range x.lines {
		if l.charge && known[l.id] {
			continue
		}
		if l.charge {
			charges++
			if !strings.Contains(part.head.Birth, "+") {
				part.head.Birth += "+" + l.id
			}
		}
		part.lines = append(part.lines, l)
	}
	part.open()
	part.Run.Birth = part.head.Birth
	return part, charges
}

// Text is the run as an export has it.
func (x Exported) Text() []byte {
	var out bytes.Buffer
	sum := sha256.New()
	line := func(v any) {
		data, _ := json.Marshal(v) // plain texts and numbers
		out.Write(append(data, '\n'))
	}
	line(x.head)
	for _, l := range x.lines {
		sum.Write(append(bytes.Clone(l.text), '\n'))
		out.Write(l.text)
		out.WriteByte('\n')
	}
	line(closing{closingType, x.head.Run, len(x.lines), hex.EncodeToString(sum.Sum(nil))})
	return out.Bytes()
}
