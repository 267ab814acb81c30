//go:build failpoints

package failpoint

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Built reports whether points may do anything in this program.
const Built = true

// Hit does at the point what COLONY_FAILPOINT asks for: it ends the process, or answers an error that tells its point.
// A COLONY_FAILPOINT that cannot be read is a panic. It is safe for concurrent use.
func Hit(name string) error {
	trace(name)
	asked := os.Getenv("COLONY_FAILPOINT")
	if asked == "" {
		return nil
	}
	return hits.hit(asked, name)
}

// trace appends the name to the file that was asked for, in one write.
func trace(name string) {
	path := os.Getenv("COLONY_FAILPOINT_TRACE")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(name + "\n"); err != nil {
		panic(err)
	}
}

// hits is the one count of the process: a point is hit from everywhere, and a count handed to every room would be in
// the released program too.
var hits counter

// counter counts the hits of what is asked for.
type counter struct {
	mu    sync.Mutex // guards what follows
	asked string
	count int
}

func (c *counter) hit(asked, name string) error {
	w := parse(asked)
	if !w.names(name) {
		return nil
	}
	c.mu.Lock()
	if c.asked != asked {
		c.asked, c.count = asked, 0
	}
	c.count++
	here := w.from <= c.count && c.count <= w.to
	c.mu.Unlock()
	switch {
	case !here:
		return nil
	case w.err != nil:
		return fmt.Errorf("%s: %w", name, w.err)
	}
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// wanted is what happens, where, and at which hits.
type wanted struct {
	name     string // the beginning of names where it ends with *
	from, to int
	err      error // nil where the process ends
}

func (w wanted) names(name string) bool {
	if start, all := strings.CutSuffix(w.name, "*"); all {
		return strings.HasPrefix(name, start)
	}
	return w.name == name
}

// parse reads NAME[:FROM[-[TO]]][:kill|enospc|eio].
func parse(asked string) wanted {
	name, rest, counted := strings.Cut(asked, ":")
	w := wanted{name: name, from: 1, to: 1}
	if !counted {
		return w
	}
	span, what, _ := strings.Cut(rest, ":")
	first, last, open := strings.Cut(span, "-")
	var err error
	if w.from, err = strconv.Atoi(first); err != nil || w.from < 1 {
		panic("COLONY_FAILPOINT has no count that can be read: " + asked)
	}
	w.to = w.from
	if open {
		w.to = math.MaxInt
	}
	if last != "" {
		if w.to, err = strconv.Atoi(last); err != nil || w.to < w.from {
			panic("COLONY_FAILPOINT has no span that can be read: " + asked)
		}
	}
	errs := map[string]error{"": nil, "kill": nil, "enospc": syscall.ENOSPC, "eio": syscall.EIO}
	e, known := errs[what]
	if !known {
		panic("COLONY_FAILPOINT asks for what is not known: " + asked)
	}
	w.err = e
	return w
}
