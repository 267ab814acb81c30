package secrets

import (
	"fmt"
	"strconv"
	"strings"
)

// Place is a line that a change adds and that holds a credential, or the marker of one. Lines count from 1.
type Place struct {
	File string
	Line int
	Kind string // one of Kinds; Lost for a marker
}

// Lost is the kind of a place where a marker would come into a file, in place of the credential that it stands for.
const Lost = "marker"

func (p Place) String() string { return fmt.Sprintf("%s:%d (%s)", p.File, p.Line, p.Kind) }

// mostPlaces bounds what Added returns: the first tell enough.
const mostPlaces = 100

// Added returns where a change, as git diff shows it, adds credentials. One that the change takes out of the same file
// too is none: its line was changed, or moved.
func (d *Detector) Added(diff string) []Place {
	var places []Place
	for file, part := range files(diff) {
		added, removed := part.lines()
		for _, block := range added {
			text := string(block.body)
			for _, f := range d.marked(text) {
				if len(places) < mostPlaces && !strings.Contains(removed, text[f.From:f.To]) {
					places = append(places, Place{file, block.line + strings.Count(text[:f.From], "\n"), f.Kind})
				}
			}
		}
	}
	return places
}

// marked is Find that finds markers too, after credentials.
func (d *Detector) marked(text string) []Finding {
	found := d.Find(text)
	if marker, ok := Marked(text); ok {
		at := strings.Index(text, marker)
		found = append(found, Finding{Lost, at, at + len(marker)})
	}
	return found
}

// change is the part of a diff that is about one file: its hunks.
type change string

// files goes through the files of a diff by their new names. What is removed has none and is left out.
func files(diff string) func(yield func(string, change) bool) {
	return func(yield func(string, change) bool) {
		for diff != "" {
			line, rest, _ := strings.Cut(diff, "\n")
			diff = rest
			name, ok := strings.CutPrefix(line, "+++ ")
			if !ok {
				continue
			}
			size := hunks(diff)
			if name = unquoted(name); strings.HasPrefix(name, "b/") && !yield(name[2:], change(diff[:size])) {
				return
			}
			diff = diff[size:]
		}
	}
}

// unquoted is a name as git writes it. A name with a blank is followed by a tab.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && name[0] == '"' {
		return plain
	}
	return strings.TrimSuffix(name, "\t")
}

// hunks is how much of text is hunks. What a hunk holds is told by its counts: lines of a file may look like a diff's.
func hunks(text string) int {
	size := 0
	for strings.HasPrefix(text[size:], "@@ ") {
		_, old, _, now := header(text[size:])
		size += length(text[size:])
		for old+now > 0 && size < len(text) {
			switch text[size] {
			case '-':
				old--
			case '+':
				now--
			case '\\':
			default:
				old, now = old-1, now-1
			}
			size += length(text[size:])
		}
		if strings.HasPrefix(text[size:], "\\") {
			size += length(text[size:])
		}
	}
	return size
}

// length is that of the first line, with its end.
func length(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// header reads the line @@ -from,old +to,now @@. A count that is not there is 1.
func header(text string) (from, old, to, now int) {
	words := strings.Fields(text[:min(length(text), 100)])
	for i, into := range [][2]*int{{&from, &old}, {&to, &now}} {
		if len(words) <= i+1 {
			return 0, 0, 0, 0
		}
		first, count, both := strings.Cut(strings.TrimLeft(words[i+1], "-+"), ",")
		*into[0], _ = strconv.Atoi(first) // git writes numbers; of what is none nothing is expected
		*into[1] = 1
		if both {
			*into[1], _ = strconv.Atoi(count)
		}
	}
	return from, max(old, 0), to, max(now, 0)
}

// block is lines that come one after the other.
type block struct {
	line int
	body []byte
}

// lines are the blocks that are added, and all that is removed.
func (c change) lines() (added []block, removed string) {
	var gone strings.Builder
	text, line, last := string(c), 0, 0
	for text != "" {
		n := length(text)
		body := text[:n]
		text = text[n:]
		switch body[0] {
		case '@':
			_, _, line, _ = header(body)
			last = 0
			continue
		case '-':
			gone.WriteString(body[1:])
			continue
		case '\\':
			continue
		case '+':
			if last == 0 || last != line {
				added = append(added, block{line: line})
			}
			b := &added[len(added)-1]
			b.body = append(b.body, body[1:]...)
			last = line + 1
		}
		line++
	}
	return added, gone.String()
}
