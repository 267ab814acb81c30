package tools

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// What a word weighs by where it stands, and how its weight grows and how much a long text takes of it: as in BM25 over
// fields.
const (
	inName   = 6.0
	inArg    = 3.0
	inText   = 1.0
	growth   = 1.2
	longText = 0.3
	begins   = 0.5 // of a word that only begins so
)

// words are a tool as a search sees it: each of its words, ascending, and what it weighs.
type words struct {
	all     []string
	weights []float64
	size    float64
}

// wordsOf reads the words of a tool's name, of its text, and of its arguments' names and texts.
func wordsOf(s Spec, schema map[string]any) words {
	weights := map[string]float64{}
	add := func(text string, weight float64) {
		for _, w := range split(text) {
			weights[w] += weight
		}
	}
	add(s.Name, inName)
	add(s.Description, inText)
	arguments(schema, 0, func(name, text string) { add(name, inArg); add(text, inText) })
	out := words{all: slices.Sorted(maps.Keys(weights))}
	for _, w := range out.all {
		out.weights = append(out.weights, weights[w])
		out.size += weights[w]
	}
	return out
}

// deepArgument is how deep arguments are read for their names.
const deepArgument = 4

// arguments calls f with the name and the text of each argument, those of objects in objects too.
func arguments(schema map[string]any, depth int, f func(name, text string)) {
	if depth == deepArgument {
		return
	}
	for name, property := range properties(schema) {
		sub, _ := property.(map[string]any)
		text, _ := sub["description"].(string)
		f(name, text)
		arguments(sub, depth+1, f)
		if items, ok := sub["items"].(map[string]any); ok {
			arguments(items, depth+1, f)
		}
	}
}

// split is the words of a text: small letters, cut at what is no letter or digit and where a capital begins a word.
func split(text string) []string {
	var out []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, stem(b.String()))
			b.Reset()
		}
	}
	lower := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if lower && unicode.IsUpper(r) {
			end()
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	end()
	return out
}

// empty are words that say nothing of a tool.
var empty = strings.Fields("a an and any are as at be by can do for from how i in into is it me my need of on one or so some that the this to use want what which with you")

// telling are the words of a query that say something, each once; all, where none does.
func telling(asked []string) []string {
	slices.Sort(asked)
	asked = slices.Compact(asked)
	rest := slices.DeleteFunc(slices.Clone(asked), func(w string) bool { return slices.Contains(empty, w) })
	if len(rest) == 0 {
		return asked
	}
	return rest
}

// stem takes the ending of many off a word.
func stem(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

// weight is what a word of a query weighs in the tool: its own, or that of the words that begin with it.
func (w words) weight(word string) float64 {
	at, found := slices.BinarySearch(w.all, word)
	if found {
		return w.weights[at]
	}
	var sum float64
	for ; len(word) > 2 && at < len(w.all) && strings.HasPrefix(w.all[at], word); at++ {
		sum += begins * w.weights[at]
	}
	return sum
}

// rank is the specs that match the words of the query, best first; equal ones ascending by name. A query that is a name finds
// that tool alone.
func rank(among []*entry, query string) []Spec {
	if at := slices.IndexFunc(among, func(e *entry) bool { return e.spec.Name == query }); at >= 0 {
		return []Spec{among[at].spec}
	}
	asked := telling(split(query))
	weights, have, size := make([]float64, len(among)*len(asked)), make([]float64, len(asked)), 0.0
	for i, e := range among {
		w := e.words()
		size += w.size
		for j, word := range asked {
			if weight := w.weight(word); weight > 0 {
				weights[i*len(asked)+j] = weight
				have[j]++
			}
		}
	}
	type scored struct {
		at    int
		score float64
	}
	var found []scored
	for i, e := range among {
		long := 1 - longText + longText*e.words().size*float64(len(among))/max(size, 1)
		score := 0.0
		for j, w := range weights[i*len(asked) : (i+1)*len(asked)] {
			rare := math.Log(1 + (float64(len(among))-have[j]+0.5)/(have[j]+0.5))
			score += rare * w * (growth + 1) / (w + growth*long)
		}
		if score > 0 {
			found = append(found, scored{i, score})
		}
	}
	slices.SortFunc(found, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), a.at-b.at) })
	out := make([]Spec, len(found))
	for i, f := range found {
		out[i] = among[f.at].spec
	}
	return out
}
