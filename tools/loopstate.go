package tools

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sourcegraph/conc/panics"
)

// loopGuard is what an ant's calls came to. The state of things is its marks: one for each file written, and
// one for each changing call that named no file.
type loopGuard struct {
	mu      sync.Mutex
	streaks map[string]streak // guarded by mu; by call and the state before it
	marks   map[string]mark   // guarded by mu
}

// streak is how often a call in one state gave one result in a row.
type streak struct {
	result uint64
	times  int
}

// mark is what a call left, and the digest of that call.
type mark struct {
	value uint64
	by    string
}

// maxStreaks bounds the memory of a guard; over it, old circles are forgotten.
const maxStreaks = 8192

// identity is what makes two calls the same: exactly, and but for nonces.
type identity struct {
	exact, vague string
	quiet        bool // the call changes nothing
}

func identify(env *Env, p Prepared) identity {
	var e Effects
	quiet := p.Refused != nil || p.Tool == nil
	if !quiet {
		crash := panics.Try(func() {
			found, err := p.Tool.Effects(env, p.Call.Args)
			if err == nil {
				e = found
			}
			quiet = p.Tool.Spec().ReadOnly || e.Known && e.ReadOnly
		})
		quiet = quiet && crash == nil
	}
	forgotten := fmt.Sprint(" ", env.Files.forgotten()) // what the ant no longer has is no repetition
	return identity{
		exact: p.Digest + forgotten,
		vague: fmt.Sprint(p.Call.Name, withoutNonces(string(p.Call.Args)), e.Reads, e.Hosts) + forgotten,
		quiet: quiet,
	}
}

// repeats is how often the call gave one and the same result in the state as it is.
func (g *loopGuard) repeats(id identity) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	state := g.state(id)
	return max(g.streaks[id.exact+state].times, g.streaks[id.vague+state].times)
}

// note counts a result, and then marks what the call changed.
func (g *loopGuard) note(id identity, r Result) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.streaks) > maxStreaks {
		clear(g.streaks)
	}
	state, result := g.state(id), sum(string(r.Fault), told(r))
	times := g.count(id.exact+state, result)
	if id.quiet || r.Fault != "" {
		times = max(times, g.count(id.vague+state, result))
	} else {
		delete(g.streaks, id.vague+state)
	}
	wrote := false
	for _, s := range r.Seen {
		if s.Wrote {
			g.marks["file "+s.Path] = mark{sum(s.Path, s.Hash), id.exact}
			wrote = true
		}
	}
	if !id.quiet && r.Fault == "" && !wrote {
		g.marks["call "+id.exact] = mark{sum(id.exact, told(r)), id.exact}
	}
	return times
}

// count adds a result to a streak, or begins another. The caller holds mu.
func (g *loopGuard) count(key string, result uint64) int {
	s := g.streaks[key]
	if s.result != result {
		s = streak{result: result}
	}
	s.times++
	g.streaks[key] = s
	return s.times
}

// state is all marks but the call's own, in one number. The caller holds mu.
func (g *loopGuard) state(id identity) string {
	var total uint64
	for _, m := range g.marks {
		if m.by != id.exact {
			total += m.value
		}
	}
	return fmt.Sprintf(" %x", total)
}

// withoutNonces is the text with every word that holds a digit made the same.
func withoutNonces(s string) string {
	out := make([]byte, 0, len(s))
	word, digit := 0, false // where the word began in out, and whether it holds a digit
	for i, r := range s {
		number := unicode.IsNumber(r)
		if !number && !unicode.IsLetter(r) && r != '_' && r != '-' {
			if digit {
				out = append(out[:word], '#')
			}
			out = append(out, s[i:i+runeLen(s[i:])]...)
			word, digit = len(out), false
			continue
		}
		digit = digit || number
		out = utf8.AppendRune(out, r)
	}
	if digit {
		out = append(out[:word], '#')
	}
	return string(out)
}

// runeLen is the length of the first rune, 1 where it is none.
func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// told is what a result says, to compare it with others: which part of which content, where it shows one or says that it was
// shown before; else its text without how long its command took, which no two runs share, and without what an earlier guard
// said below it.
func told(r Result) string {
	if len(r.Seen) > 0 && !slices.ContainsFunc(r.Seen, func(s Seen) bool { return s.Wrote }) {
		return fmt.Sprint(r.Seen)
	}
	text, _, _ := strings.Cut(r.Text, warning)
	if r.Exit == nil || r.Duration <= 0 {
		return text
	}
	return strings.ReplaceAll(text, r.Duration.Round(time.Millisecond).String(), "#")
}

func sum(parts ...string) uint64 {
	all := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return binary.BigEndian.Uint64(all[:])
}
