package tools

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// waiting are the visible tools that must be loaded before they can be called, ascending by name.
func (r *Registry) waiting() []*entry {
	return slices.DeleteFunc(r.entries(), func(e *entry) bool { return !r.waits(e) })
}

// Announce names the tools that wait to be loaded, in at most so many bytes: sources with few tools by the tools' names, of
// the others how many there are. It is empty where none waits.
func (r *Registry) Announce(most int) string {
	names := map[string][]string{}
	for _, e := range r.waiting() {
		names[e.source] = append(names[e.source], e.spec.Name)
	}
	sources := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(len(names[a])-len(names[b]), strings.Compare(a, b))
	})
	var out []string
	size, dropped := 0, 0
	take := func(text string) bool {
		if size+len(text)+2 > most {
			return false
		}
		out, size = append(out, text), size+len(text)+2
		return true
	}
	left := 0 // room that the sources after this one need, for their counts
	for _, source := range sources {
		left += len(counted(source, names[source])) + 2
	}
	if left > most {
		most -= len(fmt.Sprintf(moreSources, len(sources))) + 2
	}
	for _, source := range sources {
		count := counted(source, names[source])
		left -= len(count) + 2
		all := strings.Join(names[source], ", ")
		if size+len(all)+2+left <= most && take(all) || take(count) {
			continue
		}
		dropped++
	}
	if dropped > 0 {
		out = append(out, fmt.Sprintf(moreSources, dropped))
	}
	return strings.Join(out, ", ")
}

// moreSources stands for the sources that there was no room for.
const moreSources = "tools of %d more"

func counted(source string, names []string) string {
	return fmt.Sprintf("%d of %s", len(names), source)
}
