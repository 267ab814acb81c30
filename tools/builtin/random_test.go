package builtin_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"colony/tools"
	"colony/view"
)

// editRounds is how many random edits are made in all: COLONY_EDITS, or few.
func editRounds(t *testing.T) int {
	text := os.Getenv("COLONY_EDITS")
	if text == "" {
		return 3000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("COLONY_EDITS: %v", err)
	}
	return n
}

const editShards = 4

// law 8, contract 39: random edits of random files, with every kind of line end, a byte order mark, bytes that are not UTF-8,
// tabs and no last line end, come to exactly what was asked for, or leave every byte as it was.
func TestRandomEdits(t *testing.T) {
	seed := rand.Uint64()
	for shard := range editShards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, uint64(shard)))
			made, done := 0, editRounds(t)/editShards
			for made < done && !t.Failed() {
				w := newWorld(t)
				w.put("f", randomText(random))
				w.ok("read", args{"path": "f"})
				for i := 0; i < 50 && !t.Failed() && len(w.get("f")) < 8<<10; i++ {
					made += w.randomEdit(random)
				}
				if t.Failed() {
					t.Logf("seed %d, shard %d, after %d edits", seed, shard, made)
				}
			}
		})
	}
}

var pieces = []string{"a", "b", "ab", "foo", " ", "  ", "\t", "\n", "\n", "\r\n", "\r\n", "\r", "é", "日本", "\xe9", "\xff", "\xc3", "x = 1", "{", "}", "\\1", "$&", "\u2028", "\ufeff"}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	for range r.IntN(80) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// randomEdit makes one call, and holds it to what a plain search and replacement gives. It returns the edits asked for.
func (w *world) randomEdit(r *rand.Rand) int {
	w.Helper()
	before := []byte(w.get("f"))
	want, faulty := before, false
	var edits []args
	for range 1 + r.IntN(3) {
		old, put, all := randomOld(r, want), strings.ToValidUTF8(randomText(r), "?"), r.IntN(3) == 0
		if r.IntN(2) == 0 {
			put = pieces[r.IntN(len(pieces))]
		}
		put = strings.ToValidUTF8(put, "")
		if old == "" || old == put {
			continue
		}
		edits = append(edits, args{"old": old, "new": put, "replace_all": all})
		if at := standing(want, old); len(at) == 1 || all && len(at) > 0 {
			want = bytes.ReplaceAll(want, []byte(old), []byte(put))
		} else {
			faulty = true
		}
	}
	if len(edits) == 0 {
		return 0
	}
	if faulty {
		want = before
	}
	res := w.call("edit", args{"path": "f", "edits": edits})
	if got := []byte(w.get("f")); !bytes.Equal(got, want) || (res.Fault == tools.Validation) != faulty || res.Fault != "" && !faulty {
		w.Errorf("%q with %v: %q %s\ngives %q\nwant  %q", before, edits, res.Fault, res.Text, got, want)
	}
	if len(res.Views) > 0 && r.IntN(8) == 0 {
		diff, small := res.Views[0].(view.Diff).Unified, len(before)+len(want) < 128<<10
		if (small || strings.HasPrefix(diff, "--- ")) && patched(w, string(before), diff) != string(want) {
			w.Errorf("diff %q of %q does not give %q", diff, before, want)
		}
	}
	return len(edits)
}

// randomOld is mostly a part of the text, of whole runes.
func randomOld(r *rand.Rand, text []byte) string {
	if len(text) == 0 || r.IntN(6) == 0 {
		return strings.ToValidUTF8(pieces[r.IntN(len(pieces))], "")
	}
	from := r.IntN(len(text))
	part := text[from:min(len(text), from+1+r.IntN(24))]
	for len(part) > 0 {
		if c, n := utf8.DecodeRune(part); c != utf8.RuneError || n > 1 {
			break
		}
		part = part[1:]
	}
	if i := bytes.IndexFunc(part, func(c rune) bool { return c == utf8.RuneError }); i >= 0 {
		part = part[:i]
	}
	return string(part)
}

// standing is where a text stands, also over itself.
func standing(data []byte, text string) (at []int) {
	for i := range len(data) {
		if bytes.HasPrefix(data[i:], []byte(text)) {
			at = append(at, i)
		}
	}
	return at
}
