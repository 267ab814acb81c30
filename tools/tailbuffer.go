package tools

import (
	"fmt"
	"sync"
)

// tailBuffer keeps the last bytes written since they were taken. It is safe for concurrent use.
type tailBuffer struct {
	cap     int
	mu      sync.Mutex
	data    []byte // guarded by mu
	dropped int    // guarded by mu
}

// Write never fails: what does not fit pushes the oldest bytes out.
func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	if over := len(b.data) - b.cap; over > 0 {
		b.dropped += over
		b.data = append(b.data[:0], b.data[over:]...)
	}
	return len(p), nil
}

// take empties the buffer.
func (b *tailBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := string(b.data)
	if b.dropped > 0 {
		text = fmt.Sprintf("[%d earlier bytes were dropped]\n", b.dropped) + text
	}
	b.data, b.dropped = nil, 0
	return text
}
