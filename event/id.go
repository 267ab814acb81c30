package event

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

// ids makes ids whose text sorts in the order they were made, also where the clock stands or goes back.
// The first six bytes are milliseconds since 1970, the other ten are random.
type ids struct{ last [16]byte }

func (g *ids) next(now time.Time) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(now.UnixMilli())<<16)
	if string(id[:6]) <= string(g.last[:6]) {
		id = g.last
		for i := len(id) - 1; i >= 0; i-- {
			if id[i]++; id[i] != 0 {
				break
			}
		}
	} else {
		rand.Read(id[6:]) // never an error
		id[6] &= 0x7f     // room to count up
	}
	g.last = id
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(id[:]))
}
