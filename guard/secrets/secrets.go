// Package secrets finds credentials in text by how they look, and replaces each by a marker that says what stood there.
// It is no boundary: what is written another way than usual is not found.
package secrets

import (
	"slices"
	"strings"
)

// Finding is a credential: text[From:To], and which of Kinds it is.
type Finding struct {
	Kind     string
	From, To int
}

// Detector finds credentials. It does not change and is safe for concurrent use.
type Detector struct {
	starts [256][]shape // by the byte with which they begin
}

// shape looks for one kind of credential at a place in a text, which holds its first byte. It looks no further ahead than a
// bounded way, or than what it returns.
type shape func(text string, at int) (Finding, bool)

// New returns a detector of the kinds that are known by their looks, and of these values, which are of the kind env.
func New(values ...string) *Detector {
	d := &Detector{}
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // one may begin as another does
	for _, v := range slices.Compact(values) {
		if v != "" {
			d.add(v[:1], literal(v))
		}
	}
	for _, p := range prefixes {
		d.add(p.prefix[:1], p.find)
	}
	d.add("e", jwt)
	d.add("-", privateKey)
	d.add(":", urlPassword)
	d.add("m", netrc)
	d.add("aA", authorization)
	d.add("sS", awsSecret)
	return d
}

func (d *Detector) add(first string, s shape) {
	for _, b := range []byte(first) {
		d.starts[b] = append(d.starts[b], s)
	}
}

// Find returns all credentials in text, in order, none in another. Its time is linear in the size of the text.
func (d *Detector) Find(text string) []Finding {
	var found []Finding
	for at := 0; at < len(text); at++ {
		for _, s := range d.starts[text[at]] {
			if f, ok := s(text, at); ok {
				found = append(found, f)
				at = f.To - 1
				break
			}
		}
	}
	return found
}

// Redact returns text with a marker in the place of each credential. What it returned once it leaves as it is.
func (d *Detector) Redact(text string) string {
	found := d.Find(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.From])
		b.WriteString(Marker(f.Kind))
		at = f.To
	}
	b.WriteString(text[at:])
	return b.String()
}

const (
	opening = "[redacted:"
	closing = "]"
)

// Marker stands in a text where a credential of this kind stood.
func Marker(kind string) string { return opening + kind + closing }

// Marked returns the first marker in text, of a kind that there is.
func Marked(text string) (marker string, ok bool) {
	for {
		_, rest, found := strings.Cut(text, opening)
		if !found {
			return "", false
		}
		for _, kind := range Kinds() {
			if strings.HasPrefix(rest, kind+closing) {
				return Marker(kind), true
			}
		}
		text = rest
	}
}

func literal(value string) shape {
	return func(text string, at int) (Finding, bool) {
		return Finding{Env, at, at + len(value)}, strings.HasPrefix(text[at:], value)
	}
}
