package builtin

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"
)

// What is kept of each stream of a command.
const (
	maxHead = 384 << 10
	maxTail = 128 << 10
)

// capture keeps the head and the tail of a stream in bounded memory. It is safe for concurrent use.
type capture struct {
	tell  func([]byte) // hears what is written, one call at a time
	mu    sync.Mutex
	head  []byte // guarded by mu, as all below
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	total int64
}

// Write never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(p))
	rest := p
	if room := maxHead - len(c.head); room > 0 {
		n := min(room, len(rest))
		c.head = append(c.head, rest[:n]...)
		rest = rest[n:]
	}
	if len(rest) > maxTail {
		rest = rest[len(rest)-maxTail:]
	}
	for len(rest) > 0 {
		n := 0
		if room := maxTail - len(c.tail); room > 0 {
			n = min(room, len(rest))
			c.tail = append(c.tail, rest[:n]...)
		} else {
			n = copy(c.tail[c.next:], rest)
			c.next = (c.next + n) % maxTail
		}
		rest = rest[n:]
	}
	c.tell(p)
	return len(p), nil
}

// kept is the head, the tail, and how many bytes between them are gone. With none gone all is in the head.
func (c *capture) kept() (head, tail []byte, gone int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail = append(bytes.Clone(c.tail[c.next:]), c.tail[:c.next]...)
	gone = c.total - int64(len(c.head)+len(tail))
	if gone == 0 {
		return append(bytes.Clone(c.head), tail...), nil, 0
	}
	return bytes.Clone(c.head), tail, gone
}

// shown is the text of a stream and what must be said about it.
func shown(head, tail []byte, gone int64) (text string, bad int) {
	if gone == 0 {
		return mark(head)
	}
	total := int64(len(head)+len(tail)) + gone
	whole := len(head)
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ { // a rune that the cut went through
		if utf8.RuneStart(head[len(head)-i]) {
			if !utf8.FullRune(head[len(head)-i:]) {
				whole = len(head) - i
			}
			break
		}
	}
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	first, b1 := mark(head[:whole])
	last, b2 := mark(tail)
	return fmt.Sprintf("%s\n[… %d of %d bytes left out …]\n%s", first, total-int64(whole+len(tail)), total, last), b1 + b2
}
